import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Browser } from "playwright-core"
import type { WordMark } from "#contracts"
import { type Home, modelVoice, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { hasBrowser, openBrowser, signedIn } from "../support/page.ts"

describe.skipIf(!hasBrowser)("speech on the page", () => {
  let home: Home
  let fleet: RunningFleet
  let browser: Browser
  beforeAll(async () => {
    home = newHome(modelVoice)
    fleet = await startFleet(home)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await fleet.stop("SIGTERM")
    home.remove()
  })

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

  describe("the screen Speech", () => {
    it("lights up each word within 100 ms of when it sounds, tells the first byte, and lists the marks", async () => {
      const { page, complaints } = await signedIn(browser, fleet, { script })
      await page.goto(`${fleet.ready.console}/#/speech`)
      await page.getByLabel("Text").fill("The starling learns its songs from others. It forgets none of them.")
      await page.getByLabel("Text").press("Control+Enter")
      await page.locator(".sounding[data-phase=spoken]").waitFor()

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
      assert.match((await page.locator(".figures").textContent()) ?? "", /First byte\d+ ms/u)
      await page.getByText("12 marks").click()
      assert.strictEqual(await page.getByRole("region", { name: "Marks of the words" }).locator("tbody tr").count(), 12)
      assert.isEmpty(complaints())
      await page.close()
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
      await page.close()
    })

    it("finds a voice by words, and speaks a sentence by it", async () => {
      const { page, complaints } = await signedIn(browser, fleet)
      await page.goto(`${fleet.ready.console}/#/speech/voices`)
      await page.getByLabel("Look for").fill("warm scottish")
      assert.strictEqual(await page.getByRole("region", { name: "Voices" }).locator("tbody tr").count(), 1)
      const spoken = page.waitForRequest((request) => request.url().endsWith("/with-timestamps"))
      await page.getByRole("button", { name: /^Hear/u }).click()
      assert.include((await spoken).postDataJSON(), { voice_id: "alan" })
      assert.isEmpty(complaints())
      await page.close()
    })
  })
})
