import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { faultsOfMarks, listener, type SpeechFleet, startSpeechFleet, unmarked } from "../support/speech.ts"
import { childrenOf, listenSlowly, openStream } from "../support/speech-clients.ts"
import { until } from "../../dev/fixtures/starling.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet()
})
afterAll(() => fleet.remove())

const stream = "/v1/audio/stream"
const timestamps = "/v1/audio/stream/with-timestamps"
// More than fits between the fleet and a client that does not read.
const input = "The harbour wakes before the town does, and nobody minds. ".repeat(50)
const order = { input, voice_id: "henry", output_format: "pcm_24000" }

describe("a waiting client", () => {
  it("gets a comment meanwhile, and then the whole answer", async () => {
    const stopped = childrenOf(fleet.pid, "lame-program").map(({ pid }) => pid)
    assert.isNotEmpty(stopped)
    const signal = (name: NodeJS.Signals) => {
      for (const { pid } of childrenOf(fleet.pid, "lame-program")) if (stopped.includes(pid)) process.kill(pid, name)
    }
    signal("SIGSTOP")
    try {
      const { response } = await openStream(fleet, timestamps, {
        ...order,
        input: "All is well.",
        output_format: "mp3_24000_64"
      })
      assert.strictEqual(response.statusCode, 200)
      const events = listener()
      for await (const part of response as AsyncIterable<Buffer>) {
        events.take(part.toString())
        if (events.comments() > 0) signal("SIGCONT")
      }
      assert.isAtLeast(events.comments(), 1)
      const { marks, durationMs } = events.heard()
      assert.deepStrictEqual(
        marks.map(({ value }) => value),
        ["All", "is", "well."]
      )
      assert.isAbove(durationMs, 500)
    } finally {
      signal("SIGCONT")
    }
  })
})

describe("SIGTERM", () => {
  it("lets running streams be heard to their end, takes no new ones, and the fleet exits with 0", async () => {
    const running = [await listenSlowly(fleet, order, 1_200_000), await listenSlowly(fleet, order, 1_200_000)]
    await until(() => running.every(({ listener }) => listener.bytes() > 1_000_000))
    const children = childrenOf(fleet.pid).map(({ pid }) => pid)
    assert.isNotEmpty(children)
    const stopped = fleet.stop("SIGTERM")
    const isRefused = () =>
      fleet.post(stream, order).then(
        async (response) => {
          await response.body?.cancel()
          return response.status === 503
        },
        () => true
      )
    await until(isRefused)
    assert.isFalse(
      running.some(({ listener }) => listener.isDone()),
      "they ended before it could be seen"
    )

    for (const { ended } of running) {
      const { marks, audio, durationMs } = await ended
      assert.deepStrictEqual(faultsOfMarks([input], marks, durationMs), [])
      assert.strictEqual(unmarked(input, marks), "")
      assert.isAtMost(Math.abs(audio.length / 48 - durationMs), 1)
    }
    assert.strictEqual(await stopped, 0)
    for (const pid of children) assert.throws(() => process.kill(pid, 0))
  })
})
