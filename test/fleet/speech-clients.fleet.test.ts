import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"
import { childrenOf, firstBytes, openStream, residentMegabytes, type Stream } from "../support/speech-clients.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet()
})
afterAll(() => fleet.remove())

const stream = "/v1/audio/stream"
const timestamps = "/v1/audio/stream/with-timestamps"
const sentence = "The harbour wakes before the town does, and nobody minds. "
const chunksOfAll = 340
const longText = sentence.repeat(chunksOfAll).slice(0, 20_000)
const order = (changes: Readonly<Record<string, unknown>> = {}) => ({ input: longText, voice_id: "henry", ...changes })
// Its encoders share processes: one for each four of them, four at most.
const encoders = () => childrenOf(fleet.pid, "lame-program").length

const nothingRuns = async () =>
  (await fleet.metric("speech_streams_active")) === 0 &&
  (await fleet.metric("speech_sessions_active")) === 0 &&
  (await fleet.metric("http_requests_active")) === 0 &&
  (await fleet.metric("audio_encoders_running")) === 0

describe("clients that read one byte a second", () => {
  const slow: Array<Stream> = []
  const count = 12

  it("use no memory in the fleet, delay no other client, and leave nothing behind", async () => {
    // The memory that a fleet needs anyway after its first speech.
    await fleet.listen(order({ input: sentence.repeat(40), output_format: "pcm_48000" }))
    const chunksBefore = await fleet.metric("speech_chunks_asked_total")
    const waitsBefore = await fleet.metric("speech_credit_waits_total")
    const before = residentMegabytes(fleet.pid)
    for (let opened = 0; opened < count; opened++) {
      slow.push(await openStream(fleet, opened % 2 ? stream : timestamps, order({ output_format: "pcm_48000" })))
    }
    const reading = setInterval(() => slow.forEach(({ response }) => response.read(1)), 1_000)
    try {
      await until(async () => (await fleet.metric("speech_credit_waits_total")) - waitsBefore >= count)
      let asked = -1
      await until(async () => {
        const last = asked
        asked = await fleet.metric("speech_chunks_asked_total")
        return asked === last
      })
      const { audio, durationMs } = await fleet.listen({ input: sentence.repeat(20), voice_id: "nora" })
      assert.isAbove(audio.length, 50_000)
      assert.isAbove(durationMs, 30_000)
      assert.strictEqual(await fleet.metric("speech_streams_active"), count)

      const made = (await fleet.metric("speech_chunks_asked_total", 'reason="first"')) - chunksBefore
      assert.isBelow(made, (count * chunksOfAll) / 2, "chunks are made that nobody has room for")
      const grown = residentMegabytes(fleet.pid) - before
      assert.isBelow(grown, 200, `${count} slow clients cost ${grown} MB`)
    } finally {
      clearInterval(reading)
      for (const { leave } of slow) leave()
    }
    await until(nothingRuns)
  })
})

describe("departing clients", () => {
  it("hundreds, fifty at once, leave no session, no request and no encoder behind", async () => {
    // Right after the request, with the head of the answer, after its first bytes; with an encoder and without.
    const visit = async (which: number) => {
      const output_format = which % 20 < 2 ? "mp3_24000_64" : "pcm_24000"
      const body = order({ output_format, input: sentence.repeat(30) })
      const opening = openStream(fleet, which % 2 ? stream : timestamps, body, which % 4 === 0 ? 5 : undefined)
      const opened = await opening.catch(() => undefined)
      if (opened === undefined) return
      if (which % 4 === 1) await firstBytes(opened.response)
      opened.leave()
    }
    for (let wave = 0; wave < 6; wave++) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => visit(wave * 50 + index)))
    }
    await until(nothingRuns)
    await until(() => fleet.metric("audio_encoder_pool_depth"), { is: (seen) => seen <= 12 })
    assert.isAtMost(encoders(), 4)
    assert.isEmpty(childrenOf(fleet.pid, "ffmpeg"))
    assert.strictEqual(await fleet.metric("speech_streams_total", 'outcome="failed"'), 0)
    // A busy machine refuses some of them with 503 for want of capacity; nothing else went wrong.
    const refused = await Promise.all(
      ["unavailable", "encoder_start"].map((reason) => fleet.metric("speech_refusals_total", `reason="${reason}"`))
    )
    const faults = await fleet.metric("http_requests_total", 'status="5xx"')
    assert.isAtMost(faults, (refused[0] ?? 0) + (refused[1] ?? 0), fleet.log().slice(-2_000))
    const { durationMs } = await fleet.listen({ input: "Still here.", voice_id: "henry" })
    assert.isAbove(durationMs, 400)
  })
})
