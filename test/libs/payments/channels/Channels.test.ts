import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option } from "effect"
import { Metrics } from "#runtime"
import { Channels } from "../../../../libs/payments/channels/Channels.ts"
import { failingAtEach, recordedKv, type Recorder, recorder, told } from "../../../support/recorder.ts"
import { begin, charge, mirror, network, release } from "./channel-at-work.ts"

const name = { network, channelId: `0x${"7a".repeat(32)}` }

/** Gateways with a memory of their own, on the same records. */
const gatewaysOn = (record: Recorder, count: number) => {
  const { layer } = recordedKv(record)
  const gateway = Layer.build(Layer.fresh(Layer.provide(Channels.layer, Layer.merge(layer, Metrics.layerTest))))
  return Effect.map(
    Effect.forEach(Array.from({ length: count }), () => gateway),
    (built) => built.map((context) => Context.get(context, Channels))
  )
}

describe("a channel that a gateway remembers", () => {
  it.effect("and that another has moved on is decided on by its record, wherever the memory alone refuses", () =>
    Effect.gen(function* () {
      const [one, two] = yield* gatewaysOn(recorder(), 2)
      if (one === undefined || two === undefined) return assert.fail()
      yield* one.run(name, mirror())
      yield* one.run(name, begin(1_000))
      // The first remembers a channel that is busy, and knows no work of the second's.
      yield* two.run(name, charge(700))
      yield* one.run(name, begin(1_700, { ticket: "t2" }))
      yield* two.run(name, release("t2"))
      yield* two.run(name, begin(1_700, { ticket: "t3", holder: "gateway-2" }))
      const last = yield* one.run(name, charge(300, "t3"))
      assert.strictEqual(last.charged, "1000")
    }).pipe(Effect.scoped)
  )

  it.effect("charges each call once, whichever of its calls to the broker fails", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const [gateway] = yield* gatewaysOn(record, 1)
          if (gateway === undefined) return assert.fail()
          const again = (command: Parameters<typeof gateway.run>[1]) =>
            Effect.retry(gateway.run(name, command), { times: 1, while: ({ _tag }) => _tag === "BusUnavailable" })
          for (const command of [
            mirror(),
            begin(1_000),
            charge(700),
            begin(1_700, { ticket: "t2" }),
            charge(300, "t2")
          ])
            yield* again(command)
          const read = yield* Effect.retry(gateway.read(name), { times: 1 })
          return Option.map(read, ({ charged }) => charged)
        }, Effect.scoped)
      )
      for (const run of runs) assert.deepStrictEqual(run.exit, Exit.succeed(Option.some("1000")), told(run))
      assert.isAtLeast(runs.length, 13)
    })
  )
})
