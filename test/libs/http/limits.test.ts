import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { Admission, rateWindow, takeFrom } from "#http"
import { rateTable } from "../../../libs/http/rate-table.ts"

describe("rate windows", () => {
  it("let a key have its limit, and say exactly when there is more", () => {
    const table = rateTable({ limit: 2, windowMs: 1_000, keysMax: 10 })
    assert.deepStrictEqual(table.take("a", 100), { _tag: "Taken", remaining: 1, resetAtMs: 1_100 })
    assert.deepStrictEqual(table.take("a", 200), { _tag: "Taken", remaining: 0, resetAtMs: 1_100 })
    assert.deepStrictEqual(table.take("a", 600), { _tag: "Refused", limit: 2, resetAtMs: 1_100, retryAfterMs: 500 })
    assert.strictEqual(table.take("b", 600)._tag, "Taken")
    assert.strictEqual(table.take("a", 1_100)._tag, "Taken")
  })

  it("keep a bounded number of keys and forget the window that ends first", () => {
    const table = rateTable({ limit: 1, windowMs: 1_000, keysMax: 3 })
    for (const [at, key] of ["a", "b", "c", "d"].entries()) table.take(key, at)
    assert.strictEqual(table.size(), 3)
    assert.strictEqual(table.look("a", 10)._tag, "Taken")
    assert.strictEqual(table.look("d", 10)._tag, "Refused")
  })

  it.effect("are taken together or not at all, and the longest wait is the one that is told", () =>
    Effect.gen(function* () {
      const minute = rateWindow({ source: "per_minute", limit: 2, windowMs: 60_000 })
      const day = rateWindow({ source: "per_day", limit: 3, windowMs: 86_400_000 })
      const take = Effect.result(takeFrom([minute, day], "w"))
      yield* take
      yield* take
      const refused = yield* take
      assert.isTrue(Result.isFailure(refused))
      if (Result.isSuccess(refused)) return
      assert.deepInclude(refused.failure, { status: 429, code: "rate_limited" })
      assert.deepStrictEqual(refused.failure.details, { source: "per_minute", retry_after_seconds: 60 })
      assert.strictEqual(refused.failure.headers?.["ratelimit-limit"], "2")
      assert.deepInclude(yield* day.look("w"), { _tag: "Taken", remaining: 0 })

      yield* TestClock.adjust("61 seconds")
      yield* take
      const forTheDay = yield* take
      assert.isTrue(Result.isFailure(forTheDay) && forTheDay.failure.details?.["source"] === "per_day")
    })
  )
})

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

  it.effect("refuses everybody with 503 when the process is full", () =>
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
