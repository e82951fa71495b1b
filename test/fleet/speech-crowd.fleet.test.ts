/** Many callers at once, who read as fast as sound comes. */
import { setTimeout as pause } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { prose } from "../../load-tests/speech/texts.ts"
import { openStream } from "../support/speech-clients.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"

const callers = 16
const body = { input: prose(370), voice_id: "henry", output_format: "mp3_24000_64" }
// Some 24 s of it.
const bytesLeast = 20 * 8_000

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet({
    SPEECH_API_CONCURRENCY_PER_WORKSPACE: "1000",
    SPEECH_API_FIRST_SOUND_SECONDS_MAX: "0.5"
  })
})
afterAll(() => fleet.remove())

interface Asked {
  /** Seconds after which it is to come again; undefined for one that was heard. */
  readonly comesAgain: number | undefined
  readonly firstByteMs: number
  readonly tookMs: number
  readonly bytes: number
}

const ask = async (): Promise<Asked> => {
  const beganMs = performance.now()
  const { response } = await openStream(fleet, "/v1/audio/stream", body)
  let [firstByteMs, bytes] = [Number.NaN, 0]
  for await (const part of response as AsyncIterable<Buffer>) {
    if (bytes === 0) firstByteMs = performance.now() - beganMs
    bytes += part.length
  }
  const { statusCode, headers } = response
  assert.include([200, 429, 503], statusCode)
  const comesAgain = statusCode === 200 ? undefined : Number(headers["retry-after"])
  return { comesAgain, firstByteMs, tookMs: performance.now() - beganMs, bytes }
}

/** Comes again as often as it is told to. */
const asksUntilHeard = async () => {
  const asked = [await ask()]
  for (let last = asked[0]; last?.comesAgain !== undefined; asked.push(last)) {
    assert.isTrue(last.comesAgain >= 1 && last.comesAgain <= 60, `told ${last.comesAgain}`)
    await pause(last.comesAgain * 1_000)
    last = await ask()
  }
  return asked
}

describe("a crowd that comes at once", () => {
  it("hears its first sound before anybody has all, and whoever is refused is heard when told to retry later", async () => {
    await ask()
    const all = await Promise.all(Array.from({ length: callers }, asksUntilHeard))
    const heard = all.flatMap((asked) => asked.filter(({ comesAgain }) => comesAgain === undefined))
    assert.strictEqual(heard.length, callers)
    assert.isTrue(heard.every(({ bytes }) => bytes > bytesLeast))
    const taken = all.flatMap(([asked]) => (asked?.comesAgain === undefined && asked !== undefined ? [asked] : []))
    assert.isAbove(taken.length, 0)
    const lastHeardMs = Math.max(...taken.map(({ firstByteMs }) => firstByteMs))
    assert.isBelow(lastHeardMs, Math.min(...taken.map(({ tookMs }) => tookMs)))
  })
})
