import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { BodyRoom } from "#http"
import { Metrics } from "#runtime"

const layer = BodyRoom.layer({ api: "test", bytesMax: 100_000 }).pipe(Layer.provideMerge(Metrics.layerTest))

const heldBytes = Effect.flatMap(Metrics, ({ text }) =>
  Effect.map(text, (now) => Number(/http_body_bytes_held\{[^}]*\} (\d+)/u.exec(now)?.[1]))
)

describe("the room for bodies", () => {
  it.effect("is taken by all requests together, grows with each, and comes back", () =>
    Effect.gen(function* () {
      const { held } = yield* BodyRoom
      const call = yield* Scope.make()
      const one = yield* Scope.provide(held, call)
      const other = yield* held
      assert.isTrue(one.growTo(40_000))
      assert.isTrue(one.growTo(60_000))
      assert.isFalse(other.growTo(40_001))
      assert.isTrue(other.growTo(40_000))
      assert.isFalse(one.growTo(60_001))
      assert.strictEqual(yield* heldBytes, 100_000)
      yield* Scope.close(call, Exit.void)
      assert.strictEqual(yield* heldBytes, 40_000)
      assert.isTrue(other.growTo(100_000))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is not needed by a small body, which comes in where large ones have it all", () =>
    Effect.gen(function* () {
      const { held } = yield* BodyRoom
      assert.isTrue((yield* held).growTo(100_000))
      const small = yield* held
      assert.isTrue(small.growTo(16_384))
      assert.isFalse(small.growTo(16_385))
      assert.strictEqual(yield* heldBytes, 100_000)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("comes back at the end of the call's scope", () =>
    Effect.gen(function* () {
      const { held } = yield* BodyRoom
      yield* Effect.scoped(Effect.map(held, ({ growTo }) => assert.isTrue(growTo(100_000))))
      assert.strictEqual(yield* heldBytes, 0)
    }).pipe(Effect.provide(layer))
  )
})
