import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Result } from "effect"
import { Admission } from "#http"

describe("admission", () => {
  const layer = Admission.layer({ runningMax: 3, perWorkspaceMax: 2 })

  it.effect("holds a place until the call's scope ends", () =>
    Effect.gen(function* () {
      const { enter, running } = yield* Admission
      const held = yield* Effect.forkChild(Effect.scoped(Effect.andThen(enter("a"), Effect.never)), {
        startImmediately: true
      })
      yield* Effect.forkChild(Effect.scoped(Effect.andThen(enter("a"), Effect.never)), { startImmediately: true })
      const refused = yield* Effect.result(Effect.scoped(enter("a")))
      assert.isTrue(Result.isFailure(refused))
      if (Result.isFailure(refused)) {
        assert.deepInclude(refused.failure, { status: 429, code: "concurrency_limit_reached" })
        assert.strictEqual(refused.failure.headers?.["ratelimit-remaining-calls"], "0")
      }
      yield* Fiber.interrupt(held)
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.scoped(enter("a")))))
      assert.strictEqual(yield* running, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("refuses every call with 503 when the process is full", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { enter } = yield* Admission
        yield* Effect.forEach(["a", "b", "c"], enter)
        const refused = yield* Effect.result(enter("d"))
        assert.isTrue(Result.isFailure(refused) && refused.failure.status === 503)
      })
    ).pipe(Effect.provide(layer))
  )
})
