/** More callers than a fleet can speak for in real time, with an engine whose capacity is known. */
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { play } from "../../load-tests/speech/player.ts"
import { openStream } from "../support/speech-clients.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"

// Two programs, each of which makes six seconds of sound in a second.
const capacity = { programs: 2, pace: 6 }
const streams = capacity.programs * capacity.pace
const callers = 2 * streams
// They come over this time, and go on for as long.
const spreadMs = 10_000
const lastingMs = 35_000
const bytesPerSecond = 8_000
// A machine with other tests takes the processor from a player for as long.
const gapMsMax = 100

const engine = {
  Id: "paced",
  Command: process.execPath,
  Arguments: [join(import.meta.dirname, "../support/paced-engine.ts"), String(capacity.pace)],
  AtOnce: capacity.programs,
  Voices: [{ Id: "tone", Locale: "en-US", Gender: "female", Speaker: "tone" }]
}

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet({
    VOICES_PROCESSES: JSON.stringify([engine]),
    SPEECH_API_CONCURRENCY_PER_WORKSPACE: "1000",
    SPEECH_API_FIRST_SOUND_SECONDS_MAX: "2.5"
  })
})
afterAll(() => fleet.remove())

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, ms)))

// Some fifteen seconds of sound.
const input =
  "The harbour is quiet this morning. Two boats came in before dawn, and nobody could say from where. ".repeat(2)

interface Seen {
  underruns: number
  seconds: number
  /** How answers ended that were neither whole nor refused. */
  readonly broken: Array<string>
  readonly told: Array<number>
}

/** Plays one stream after the other in real time, and comes again when told to. */
const caller = async (nth: number, seen: Seen) => {
  const untilMs = performance.now() + lastingMs
  await pause((nth * spreadMs) / callers)
  while (performance.now() < untilMs) {
    const body = { input: `Caller ${nth} has much to say. ${input}`, voice_id: "tone", output_format: "mp3_24000_64" }
    const { response } = await openStream(fleet, "/v1/audio/stream", body)
    const { headers, statusCode = 0 } = response
    // Too late for this caller, or no room for any on a machine that stands still for a moment.
    if ((statusCode === 429 || statusCode === 503) && headers["retry-after"] !== undefined) {
      response.resume()
      const seconds = Number(headers["retry-after"])
      seen.told.push(seconds)
      await pause(Math.min(seconds * 1_000, untilMs - performance.now()))
      continue
    }
    const played = await play(response, { bytesPerSecond, untilMs })
    seen.underruns += played.stands.filter(({ tookMs }) => tookMs > gapMsMax).length
    seen.seconds += played.bytes / bytesPerSecond
    const wasLeft = performance.now() >= untilMs
    if (statusCode !== 200 || !(wasLeft || played.isWhole)) seen.broken.push(`${statusCode}, ${played.bytes} bytes`)
  }
}

describe("twice as many callers as an engine can speak for", () => {
  it("are refused with a time to come again, and nobody who was taken falls silent", async () => {
    // The first answer of all starts an encoder.
    await fleet.speak({ input: "Hello.", voice_id: "tone", output_format: "mp3_24000_64" })
    const seen: Seen = { underruns: 0, seconds: 0, broken: [], told: [] }
    await Promise.all(Array.from({ length: callers }, (_, nth) => caller(nth, seen)))
    assert.deepStrictEqual([seen.underruns, seen.broken], [0, []])
    assert.isAbove(seen.told.length, 0)
    assert.isTrue(seen.told.every((seconds) => seconds >= 1 && seconds < 60))
    // Nor is the engine idle while callers are refused.
    assert.isAbove(seen.seconds, 0.6 * streams * (lastingMs / 1_000))
  })
})
