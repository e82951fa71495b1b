/** Text that is spoken while it comes, on a fleet with real engines: one timeline, cancels, limits, refusals, kills. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { connectLive, heardIn } from "../support/live.ts"
import { faultsOfMarks, type SpeechFleet, startSpeechFleet, unmarked } from "../support/speech.ts"

let fleet: SpeechFleet

beforeAll(async () => {
  fleet = await startSpeechFleet()
})
afterAll(() => fleet.remove())

const context = (context_id: string, output_format = "pcm_24000") =>
  ({ type: "context.start", context_id, voice_id: "henry", output_format }) as const

const tokensOf = (text: string) => text.match(/\s*\S+/gu) ?? []

describe("text spoken while it comes", () => {
  it("is one audio with one timeline, and marks that are slices of the whole text", async () => {
    const text = "Good morning to you. The harbour wakes early, as Dr. Smith says; it is 3.5 miles away. And now, rest!"
    const client = await connectLive(fleet)
    client.send(context("a"))
    for (const token of tokensOf(text)) client.send({ type: "text", context_id: "a", text: token })
    client.send({ type: "end", context_id: "a" })
    const done = await client.next(({ type }) => type === "done")
    const { audio, marks } = heardIn(client, "a")
    assert.deepInclude(done, { reason: "ended", text_end: text.length, billable_characters_count: text.length })
    const durationMs = done.type === "done" ? done.audio_duration_ms : 0
    assert.closeTo(audio.length / 48, durationMs, 0.1)
    assert.deepStrictEqual(faultsOfMarks([text], marks, durationMs), [])
    assert.strictEqual(unmarked(text, marks), "")
    client.send({ type: "close" })
    assert.strictEqual((await client.closed).code, 1_000)
  })
})
