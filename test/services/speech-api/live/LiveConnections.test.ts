import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Configuration } from "#configuration"
import { Drain, type DrainReport, Metrics } from "#runtime"
import { LiveConnections } from "../../../../services/speech-api/live/LiveConnections.ts"

/** Three connections at most, two of a token; `drained`: what a drain of the process does with them. */
const world = () => {
  let drain: Effect.Effect<DrainReport> = Effect.die("nothing is registered")
  const services = Layer.mergeAll(
    Configuration.layerOf({ SpeechApi: { LiveConnectionsMax: 3, LiveConnectionsPerToken: 2 } }),
    Layer.succeed(Drain, {
      register: (_name: string, work: Effect.Effect<DrainReport>) => Effect.sync(() => void (drain = work))
    } as never)
  )
  const layer = LiveConnections.layer.pipe(Layer.provide(services), Layer.provideMerge(Metrics.layerTest))
  return { layer, drained: Effect.suspend(() => drain) }
}

/** Takes a slot until the scope is closed. */
const entered = (tokenId: string, windDown: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    const live = yield* LiveConnections
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.provide(live.enter({ tokenId, windDown } as never), scope))
    return { isIn: Exit.isSuccess(exit), leave: Scope.close(scope, Exit.void) }
  })

const statusOf = (tokenId: string) =>
  Effect.flatMap(LiveConnections, (live) =>
    Effect.match(live.check(tokenId), { onSuccess: () => 200, onFailure: ({ status }) => status })
  )

const shown = Effect.map(
  Effect.flatMap(Metrics, ({ text }) => text),
  (text) => Number(/^speech_live_connections\{.*\} (\d+)$/mu.exec(text)?.[1])
)

describe("live connections", () => {
  it.effect("are so many in a process, and fewer of one token, as long as they are open", () =>
    Effect.gen(function* () {
      const [first, second, third] = [yield* entered("a"), yield* entered("a"), yield* entered("a")]
      assert.deepStrictEqual([first.isIn, second.isIn, third.isIn], [true, true, false])
      assert.deepStrictEqual([yield* statusOf("a"), yield* statusOf("b")], [429, 200])
      const other = yield* entered("b")
      assert.isTrue(other.isIn)
      assert.deepStrictEqual([yield* statusOf("c"), yield* shown], [503, 3])
      yield* first.leave
      assert.deepStrictEqual([yield* statusOf("a"), yield* statusOf("c"), yield* shown], [200, 200, 2])
    }).pipe(Effect.provide(world().layer))
  )

  it.effect("are wound down when the process is drained, and none is taken from then on", () => {
    const { layer, drained } = world()
    return Effect.gen(function* () {
      const live = yield* LiveConnections
      let leave = Effect.void
      const quick = yield* entered(
        "a",
        Effect.suspend(() => leave)
      )
      leave = quick.leave
      const slow = yield* entered("b", Effect.never)
      assert.isTrue(slow.isIn)
      const draining = yield* Effect.forkChild(drained, { startImmediately: true })
      assert.isTrue(live.isDraining())
      assert.strictEqual(yield* statusOf("c"), 503)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* Fiber.join(draining), { finished: 1, handedBack: 1 })
    }).pipe(Effect.provide(layer))
  })
})
