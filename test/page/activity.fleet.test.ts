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
