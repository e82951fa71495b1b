/** Three jobs, each done on the page of one fleet: calls are paid for, a work item is made, and texts are spoken. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import type { WordMark } from "#speech/contract"
import { type Home, modelVoice, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { hasBrowser, openBrowser, signedIn, speakToItsEnd } from "../support/page.ts"
import { makeRepositories } from "../support/pipeline-repository.ts"

let home: Home
let fleet: RunningFleet
let browser: Browser
beforeAll(async () => {
  if (!hasBrowser) return
  home = newHome(modelVoice)
  fleet = await startFleet(home)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await fleet?.stop("SIGTERM")
  home?.remove()
})

describe.skipIf(!hasBrowser)("the money on the page", () => {
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

    await page.getByRole("link", { name: "Totals" }).click()
    await page.getByRole("region", { name: "Sums by day" }).getByText(priceUsd.replace(/0+$/u, "")).waitFor()
    await page.locator(".plot canvas").waitFor()
    assert.isEmpty(complaints())
    await page.context().close()
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

    await page.getByRole("button", { name: "Refund" }).click()
    const question = page.getByRole("dialog")
    await question.getByLabel("Why").fill("the rest too")
    await question.getByRole("button", { name: "Refund" }).click()
    await receipt.getByText("the rest too").waitFor()
    await receipt.getByText("half of it was empty").waitFor()
    assert.deepStrictEqual(await receipt.locator(".badge.good", { hasText: "made" }).count(), 2)
    await page.goto(`${fleet.ready.console}/#/activity?outcome=refunded`)
    await page.getByRole("region", { name: "Receipts" }).getByText("refunded").nth(1).waitFor()
    assert.isEmpty(complaints())
    await page.context().close()
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
    await page.context().close()
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
    await page.context().close()
  })
})

describe.skipIf(!hasBrowser)("work items on the page", () => {
  it("creates a work item in the page, answers its agent's question in place, and sees it done", async () => {
    const repositories = makeRepositories()
    const runner = spawn("./starling", ["runner", "--agent", "coder"], { env: home.environment, stdio: "ignore" })
    const { page, complaints } = await signedIn(browser, fleet)
    try {
      await page.goto(`${fleet.ready.console}/#/work-items`)
      await page.getByRole("button", { name: "New work item" }).click()
      await page.getByLabel("What is to be done").fill("Oil the gate")
      await page.getByLabel("Instructions").fill("!ask Which oil?")
      await page.getByLabel("Project").last().fill("garden")
      await page.getByLabel("Repository").fill(repositories.make("garden").url)
      await page.getByLabel("Agent").fill("coder")
      await page.getByRole("button", { name: "Create" }).click()

      const question = page.getByRole("form", { name: "A question of the agent" })
      await question.getByText("Which oil?").waitFor()
      await question.getByLabel("Your answer").fill("Linseed.")
      await question.getByLabel("Your answer").press("Control+Enter")
      await question.waitFor({ state: "detached" })

      const timeline = page.getByRole("region", { name: "What happened" })
      await timeline.getByText("Linseed.", { exact: true }).waitFor()
      await timeline.getByRole("link", { name: "work_item.done" }).waitFor()
      await page.getByRole("link", { name: "Work items" }).first().click()
      await page.getByRole("region", { name: "done" }).getByText("Oil the gate").waitFor()
      assert.isEmpty(complaints())
    } finally {
      runner.kill("SIGTERM")
      await once(runner, "exit")
      repositories.remove()
      await page.context().close()
    }
  })
})

describe.skipIf(!hasBrowser)("speech on the page", () => {
  /**
   * Notes what the API sends, what is played by which clock, and at each change which word is lit: an account of where
   * the sound is that the page has no part in.
   */
  const script = `
  const played = []
  const start = AudioBufferSourceNode.prototype.start
  AudioBufferSourceNode.prototype.start = function (when) {
    played.push({ context: this.context, when, seconds: this.buffer.duration })
    return start.call(this, when)
  }
  const fetchPlainly = window.fetch
  window.fetch = async (...call) => {
    const answer = await fetchPlainly(...call)
    if (call[0].endsWith("/with-timestamps")) answer.clone().text().then((text) => (window.sent = text))
    return answer
  }
  window.seen = []
  let last = -1
  const look = () => {
    const lit = document.querySelector(".sounding .heard")
    const word = lit === null ? -1 : Number(lit.dataset.word)
    if (word === last) return
    last = word
    if (played.length > 0 && played[0].context.state === "running") {
      const { context } = played[0]
      const now = context.currentTime - (context.outputLatency || context.baseLatency || 0)
      let before = 0
      for (const { when, seconds } of played) {
        if (now >= when && now < when + seconds) {
          window.seen.push({ atMs: (before + now - when) * 1000, word })
        }
        before += seconds
      }
    }
  }
  const options = { subtree: true, childList: true, attributeFilter: ["class"] }
  new MutationObserver(look).observe(document, options)
`

  interface Seen {
    readonly atMs: number
    readonly word: number
  }

  const toleratedMs = 100

  /** Whether that word may be lit at that moment of the sound, give or take. */
  const isRight = (marks: ReadonlyArray<WordMark>, { atMs, word }: Seen) => {
    if (word === -1) {
      const sounding = marks.some(
        ({ start_time, end_time }) => start_time <= atMs - toleratedMs && end_time >= atMs + toleratedMs
      )
      return !sounding
    }
    const { start_time, end_time } = marks[word] ?? { start_time: Infinity, end_time: 0 }
    return atMs >= start_time - toleratedMs && atMs <= end_time + toleratedMs
  }

  /** The marks as the API sent them to the page. */
  const marksIn = (events: string): ReadonlyArray<WordMark> =>
    events
      .split("\n")
      .filter((line) => line.startsWith("data: "))
      .flatMap((line) => (JSON.parse(line.slice(6)) as { readonly speech_marks?: Array<WordMark> }).speech_marks ?? [])

  it("lights up each word within 100 ms of when it sounds, tells the first byte, and lists the marks", async () => {
    const { page, complaints } = await signedIn(browser, fleet, { script })
    await page.goto(`${fleet.ready.console}/#/speech`)
    await page.getByLabel("Text").fill("The starling learns its songs from others. It forgets none of them.")
    await speakToItsEnd(page, () => page.getByLabel("Text").press("Control+Enter"))

    const marks = marksIn(await page.evaluate("window.sent"))
    const seen: ReadonlyArray<Seen> = await page.evaluate("window.seen")
    const wrong = seen.filter((each) => !isRight(marks, each))
    assert.strictEqual(marks.length, 12)
    // A busy machine leaves frames out, and with them the shortest words.
    const lit = [...new Set(seen.map(({ word }) => word))].filter((word) => word !== -1)
    assert.isAtLeast(lit.length, 6)
    assert.deepStrictEqual(
      lit,
      lit.toSorted((left, right) => left - right)
    )
    assert.isEmpty(wrong, JSON.stringify(wrong.slice(0, 5)))
    assert.match((await page.locator(".figures").textContent()) ?? "", /First byte[\d.]+ m?s/u)
    await page.getByText("12 marks").click()
    assert.strictEqual(await page.getByRole("region", { name: "Marks of the words" }).locator("tbody tr").count(), 12)
    assert.isEmpty(complaints())
    await page.context().close()
  })

  it("stops when it is told to, and gives what came as a file", async () => {
    const { page } = await signedIn(browser, fleet)
    await page.goto(`${fleet.ready.console}/#/speech`)
    await page.getByLabel("Text").fill("A long sentence that nobody hears to its end. ".repeat(40))
    await page.getByRole("button", { name: "Speak", exact: true }).click()
    await page.locator(".sounding[data-phase=speaking]").waitFor()
    await page.getByRole("button", { name: "Stop" }).click()
    await page.locator(".sounding[data-phase=stopped]").waitFor()
    const downloading = page.waitForEvent("download")
    await page.getByRole("button", { name: "Download WAV" }).click()
    assert.strictEqual((await downloading).suggestedFilename(), "speech.wav")
    await page.context().close()
  })

  it("finds a voice by words, and speaks a sentence by it", async () => {
    const { page, complaints } = await signedIn(browser, fleet)
    await page.goto(`${fleet.ready.console}/#/speech/voices`)
    await page.getByLabel("Search").fill("warm scottish")
    assert.strictEqual(await page.getByRole("region", { name: "Voices" }).locator("tbody tr").count(), 1)
    const spoken = page.waitForRequest((request) => request.url().endsWith("/with-timestamps"))
    await page.getByRole("button", { name: /^Hear/u }).click()
    assert.include((await spoken).postDataJSON(), { voice_id: "alan" })
    assert.isEmpty(complaints())
    await page.context().close()
  })
})
