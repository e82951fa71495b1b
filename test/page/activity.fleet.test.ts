import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { hasBrowser, openBrowser, signedIn } from "../support/page.ts"

describe.skipIf(!hasBrowser)("the money on the page", () => {
  let home: Home
  let fleet: RunningFleet
  let browser: Browser
  beforeAll(async () => {
    home = newHome()
    fleet = await startFleet(home)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await fleet.stop("SIGTERM")
    home.remove()
  })

  it("shows the receipt of a paid call, its way from the call to the transaction, and its sum", async () => {
    const paid = await starling(home, "pay", "--json", "Why is the sky blue?")
    assert.strictEqual(paid.code, 0, paid.error)
    const { transaction, priceUsd } = JSON.parse(paid.out) as Readonly<Record<"transaction" | "priceUsd", string>>
    const { page, complaints } = await signedIn(browser, fleet)
    await page.goto(`${fleet.ready.console}/#/activity?transaction=${transaction}`)
    await page.getByRole("region", { name: "Receipts" }).getByRole("link").click()

    const receipt = page.getByRole("region", { name: /^Receipt/u })
    await receipt.getByText(transaction).waitFor()
    assert.include(await receipt.getByRole("heading").textContent(), priceUsd.replace(/0+$/u, ""))
    await receipt.getByRole("link", { name: "SETTLED" }).click()
    await page.getByRole("region", { name: "The claim" }).getByText(transaction).waitFor()

    await page.getByRole("link", { name: "Sums" }).click()
    await page.getByRole("region", { name: "Sums by day" }).getByText(priceUsd.replace(/0+$/u, "")).waitFor()
    await page.locator(".plot canvas").waitFor()
    assert.isEmpty(complaints())
    await page.close()
  })

  it("gives a payment back, in part by the command line and the rest by a click", async () => {
    const paid = await starling(home, "pay", "--json", "--max-usd", "0.1", "Give it back")
    assert.strictEqual(paid.code, 0, paid.error)
    const { transaction } = JSON.parse(paid.out) as Readonly<Record<"transaction", string>>
    const { page, complaints } = await signedIn(browser, fleet)
    await page.goto(`${fleet.ready.console}/#/activity?transaction=${transaction}`)
    await page.getByRole("region", { name: "Receipts" }).getByRole("link").click()
    const receipt = page.getByRole("region", { name: /^Receipt/u })
    await receipt.getByText(transaction).waitFor()
    const sequence = /\d+$/u.exec((await receipt.getAttribute("aria-label")) ?? "")?.[0] ?? ""

    const refund = (...more: ReadonlyArray<string>) =>
      starling(home, "receipts", "refund", sequence, "--reason", "half of it was empty", ...more)
    const part = ["--amount", "0.0005", "--key", "ticket-1"]
    for (const ran of [await refund(...part), await refund(...part)]) {
      assert.strictEqual(ran.code, 0, ran.error)
      assert.match(ran.out, /^ticket-1 gave back 0\.000500 USDC to 0x[0-9a-fA-F]{40}, by 0x[0-9a-f]{64}\n$/u)
    }
    const tooMuch = await refund("--amount", "100")
    assert.strictEqual(tooMuch.code, 1)
    assert.match(tooMuch.error, /from 1 to \d+ units can go back of it/u)
    const fine = await refund("--amount", "0.0000001")
    assert.deepStrictEqual([fine.code, fine.out], [2, ""])
    assert.include(fine.error, "it is whole tokens, with at most 6 decimals")

    await page.getByRole("button", { name: "Give back" }).click()
    const question = page.getByRole("dialog")
    await question.getByLabel("Why").fill("the rest too")
    await question.getByRole("button", { name: "Give back" }).click()
    await receipt.getByText("the rest too").waitFor()
    await receipt.getByText("half of it was empty").waitFor()
    assert.deepStrictEqual(await receipt.locator(".badge.good", { hasText: "made" }).count(), 2)
    await page.goto(`${fleet.ready.console}/#/activity?outcome=refunded`)
    await page.getByRole("region", { name: "Receipts" }).getByText("refunded").nth(1).waitFor()
    assert.isEmpty(complaints())
    await page.close()
  })

  it("tells the price of a call before anything is paid, and streams what is free", async () => {
    const { page, complaints } = await signedIn(browser, fleet)
    await page.goto(`${fleet.ready.console}/#/models`)
    await page.getByRole("button", { name: "Try demo/echo" }).click()
    await page.getByRole("button", { name: "Get the price" }).click()
    await page.locator(".answer[data-phase=quoted]").waitFor()
    assert.match((await page.locator(".answer").textContent()) ?? "", /Price0\.\d+ USD/u)

    await page.getByRole("button", { name: "Try demo/free" }).click()
    await page.getByLabel("Prompt").fill("one two three")
    await page.getByLabel("Prompt").press("Control+Enter")
    await page.locator(".answer[data-phase=answered]").getByText("one two three").waitFor()
    assert.isEmpty(complaints())
    await page.close()
  })

  it("pays for a call with the local test key, streams the answer, and leads to its receipt", async () => {
    const { page, complaints } = await signedIn(browser, fleet)
    await page.goto(`${fleet.ready.console}/#/models`)
    await page.getByRole("button", { name: "Try demo/echo" }).click()
    await page.getByLabel("Prompt").fill("one two three")
    await page.getByRole("button", { name: "Get the price" }).click()
    await page.getByRole("button", { name: "Pay with the local test key" }).click()
    const answer = page.locator(".answer[data-phase=answered]")
    await answer.getByText("one two three").waitFor()
    assert.match((await answer.textContent()) ?? "", /0x[0-9a-f]{64}/u)

    await page.getByLabel("Chain").selectOption("solana")
    await page.getByRole("button", { name: "Get the price" }).click()
    await page.getByRole("button", { name: "Pay with the local test key" }).click()
    await page.locator(".answer[data-phase=answered]").getByText("one two three").waitFor()
    assert.isEmpty(complaints())
    await page.close()
  })
})
