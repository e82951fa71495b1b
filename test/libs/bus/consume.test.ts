import { assert, describe, it } from "@effect/vitest"
import type { JsMsg } from "@nats-io/jetstream"
import { Effect, Layer } from "effect"
import { ack, type AckDecision, BusRefused, consume, Consumers, nak, Nats, Rejections } from "#bus"
import { Metrics } from "#runtime"
import { fairShare, sendBuffer } from "../../../libs/bus/connection/event-loop.ts"
import { failingAtEach, recordedRejections, type Recorder, recorder, told } from "../../support/recorder.ts"
import { consumer, note } from "./trial.ts"

/** A broker that gives out what the test says; `answered`: how each message was answered, in its order. */
const broker = ({ note: written }: Pick<Recorder, "note">) => {
  let deliver: (message: JsMsg) => void = () => assert.fail("nobody takes messages yet")
  const answered: Array<string> = []
  const answer = (name: string) => {
    answered.push(name)
    Effect.runSync(written(name))
  }
  const messages = { closed: () => new Promise<void>(() => undefined), close: () => Promise.resolve() }
  const taken = {
    consume: ({ callback }: { readonly callback: typeof deliver }) => {
      deliver = callback
      return Promise.resolve(messages)
    }
  }
  const clients = { jetstream: { consumers: { get: () => Promise.resolve(taken) } } }
  const nats = {
    use: (_: string, call: (given: unknown) => Promise<unknown>) => Effect.promise(() => call(clients)),
    lost: Effect.never,
    share: fairShare(),
    sends: sendBuffer(),
    outages: { worked: () => undefined },
    missed: () => undefined
  }
  const message = (sequence: number, text: string) =>
    ({
      subject: `work.${sequence}`,
      data: new TextEncoder().encode(text),
      headers: undefined,
      info: { streamSequence: sequence, timestampNanos: 1, deliveryCount: 1 },
      ack: () => answer(`ack ${sequence}`),
      nak: (delayMs: number) => answer(`nak ${sequence}${delayMs > 0 ? " for a while" : ""}`),
      working: () => undefined
    }) as unknown as JsMsg
  return {
    layer: Layer.mergeAll(
      Layer.succeed(Nats, nats as unknown as Nats["Service"]),
      Layer.succeed(Consumers, { ensure: () => Effect.void } as unknown as Consumers["Service"]),
      Metrics.layerTest
    ),
    answered,
    give: (sequence: number, text = JSON.stringify({ text: "a note" })) => deliver(message(sequence, text))
  }
}

/** Turns of the event loop, in which acks leave. */
const turns = Effect.promise(async () => {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
})

const taking = (handler: () => Effect.Effect<AckDecision>, unackedMax = consumer.unackedMax) =>
  Effect.tap(consume({ consumer: { ...consumer, unackedMax }, codec: note, origin: "requests", handler }), () => turns)

describe("a message that fails its schema", () => {
  it.effect("is acked once it is in REJECTED, and handed back while it cannot be stored there", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const { layer, give } = broker(record)
          yield* Effect.gen(function* () {
            yield* taking(() => Effect.succeed(ack))
            give(1, "no note")
            yield* turns
          }).pipe(
            Effect.scoped,
            Effect.provide(Layer.merge(layer, Layer.succeed(Rejections, recordedRejections(record))))
          )
        })
      )
      assert.strictEqual(runs.length, 3)
      for (const run of runs) {
        const answer = run.failedAt === undefined ? "ack 1" : "nak 1 for a while"
        assert.deepStrictEqual(run.calls, ["reject work.1", answer], told(run))
      }
    })
  )

  it.effect("is handed back as well when the broker refuses to store it", () =>
    Effect.gen(function* () {
      const { layer, give, answered } = broker(recorder())
      const refused = new BusRefused({ operation: "reject", detail: "no permission", code: 0 })
      const rejections = { reject: () => Effect.fail(refused), reportable: () => [] }
      yield* Effect.gen(function* () {
        yield* taking(() => Effect.succeed(ack))
        give(1, "no note")
        yield* turns
        assert.deepStrictEqual(answered, ["nak 1 for a while"])
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(layer, Layer.succeed(Rejections, rejections))))
    })
  )
})

describe("a message that comes again", () => {
  it.effect("is acked without being handled twice, as long as it is among the last that were acked", () =>
    Effect.gen(function* () {
      const { layer, give, answered } = broker(recorder())
      let handled = 0
      let decision: AckDecision = nak(0)
      yield* Effect.gen(function* () {
        yield* taking(() => Effect.sync(() => ((handled += 1), decision)))
        give(1)
        yield* turns
        decision = ack
        for (const sequence of [1, 1, 2]) {
          give(sequence)
          yield* turns
        }
        // One that was handed back was not handled.
        assert.deepStrictEqual(answered, ["nak 1", "ack 1", "ack 1", "ack 2"])
        assert.strictEqual(handled, 3)
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.merge(layer, Layer.succeed(Rejections, recordedRejections(recorder()))))
      )
    })
  )
})

describe("a consumer that is drained", () => {
  it.effect("hands back at once what it has in work, and what waits and was not begun", () =>
    Effect.gen(function* () {
      const { layer, give, answered } = broker(recorder())
      let begun = 0
      const handler = () =>
        Effect.andThen(
          Effect.sync(() => void (begun += 1)),
          Effect.never
        )
      yield* Effect.gen(function* () {
        const { drain } = yield* taking(handler, 100)
        const sequences = Array.from({ length: 100 }, (_, index) => index + 1)
        // In one turn of the event loop a part of them is begun.
        for (const sequence of sequences) give(sequence)
        const atOnce = begun
        assert.isBelow(atOnce, 100)
        const { finished, handedBack } = yield* drain(0)
        assert.deepStrictEqual([finished, handedBack], [0, 100])
        assert.sameMembers(
          answered,
          sequences.map((sequence) => `nak ${sequence}`)
        )
        yield* turns
        assert.strictEqual(begun, atOnce)
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.merge(layer, Layer.succeed(Rejections, recordedRejections(recorder()))))
      )
    })
  )
})
