import { setTimeout as pause } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Refusal, type SpeechFleet, startSpeechFleet } from "../support/speech.ts"
import { childrenOf, firstBytes, openStream } from "../support/speech-clients.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet({
    SPEECH_API_CONCURRENCY_PER_WORKSPACE: "2",
    SPEECH_API_BEGINNINGS_AT_ONCE: "2",
    SPEECH_API_FIRST_SOUND_SECONDS_MAX: "0.5"
  })
})
afterAll(() => fleet.remove())

const stream = "/v1/audio/stream"
const timestamps = "/v1/audio/stream/with-timestamps"
// More than fits between the fleet and a client that does not read.
const input = "The harbour wakes before the town does, and nobody minds. ".repeat(50)
const order = { input, voice_id: "henry", output_format: "pcm_24000" }

describe("a workspace with a limit of two answers at once", () => {
  it("gets a refusal for the third while another workspace is served, and has room again when one has ended", async () => {
    const long = { ...order, input: input.repeat(6) }
    const [first, second] = [await openStream(fleet, stream, long), await openStream(fleet, stream, long)]
    for (const path of ["/v1/audio/speech", stream, timestamps]) {
      const third = await fleet.post(path, { ...order, input: "Hello." })
      assert.strictEqual(third.status, 429)
      assert.strictEqual(((await third.json()) as Refusal).error.code, "concurrency_limit_reached")
      assert.isAtLeast(Number(third.headers.get("retry-after")), 1)
      assert.strictEqual(third.headers.get("ratelimit-remaining-calls"), "0")
    }
    const other = await fleet.tokenOf("--workspace", "other", "--role", "member")
    const served = await fleet.post(stream, { ...order, input: "Hello." }, { authorization: `Bearer ${other}` })
    assert.strictEqual(served.status, 200)
    await served.bytes()
    assert.strictEqual((await fleet.post(stream, { ...order, voice_id: "nobody" })).status, 404)

    first.leave()
    await until(() => fleet.metric("speech_streams_active"), { is: 1 })
    const { marks } = await fleet.listen({ ...order, input: "Hello." })
    assert.strictEqual(marks.length, 1)
    second.leave()
    await until(() => fleet.metric("speech_streams_active"), { is: 0 })
  })
})

describe("departing clients", () => {
  it("stop the synthesis within 100 ms", async () => {
    const active = () => fleet.metric("speech_sessions_active")
    const stillThere: Array<number> = []
    for (let time = 0; time < 9; time++) {
      const { response, leave } = await openStream(fleet, stream, { ...order, input: input.repeat(6) })
      await firstBytes(response)
      assert.strictEqual(await active(), 1)
      leave()
      // One look, and none before it: a look is work for the very process that has to stop.
      await pause(100)
      stillThere.push(await active())
      await until(() => active(), { is: 0 })
    }
    assert.isAtMost(stillThere.filter((count) => count > 0).length, 4, stillThere.join(", "))
  })
})

describe("a fleet that cannot speak in time", () => {
  it("refuses at once the calls that it cannot begin, and serves those that it took", async () => {
    const short = { ...order, input: "All is well, and has been since noon." }
    const headers = { authorization: `Bearer ${await fleet.tokenOf("--workspace", "other", "--role", "member")}` }
    const [synthesizer] = childrenOf(fleet.pid, "role speech-synthesizer")
    assert.isDefined(synthesizer)
    const signal = (name: NodeJS.Signals) => void process.kill(synthesizer?.pid ?? 0, name)
    signal("SIGSTOP")
    let answered = 0
    try {
      const taken = [stream, stream].map(async (path) => {
        const response = await fleet.post(path, short)
        answered += 1
        return { status: response.status, bytes: await response.bytes() }
      })
      await until(() => fleet.metric("speech_beginnings"), { is: 2 })
      for (const path of ["/v1/audio/speech", stream, timestamps]) {
        const refused = await fleet.post(path, short, headers)
        assert.strictEqual(refused.status, 429)
        assert.strictEqual(((await refused.json()) as Refusal).error.code, "rate_limited")
        assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
      }
      assert.strictEqual(answered, 0, "nobody had heard anything when the others were refused")

      signal("SIGCONT")
      for (const one of taken) {
        const { status, bytes } = await one
        assert.strictEqual(status, 200)
        // More than a second of PCM.
        assert.isAbove(bytes.length, 48_000)
      }
      // A fleet waits for the figures of a role that is stopped.
      assert.strictEqual(await fleet.metric("speech_refusals_total", 'reason="beginnings"'), 3)
      await until(() => fleet.metric("speech_beginnings"), { is: 0 })
      const served = await fleet.post(stream, short, headers)
      assert.strictEqual(served.status, 200)
      // What nobody reads would hold up the fleet's end until its last moment.
      await served.bytes()
    } finally {
      signal("SIGCONT")
    }
  })
})
