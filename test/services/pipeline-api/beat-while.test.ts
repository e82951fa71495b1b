import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type BusError, BusRefused, BusUnavailable } from "#bus"
import { Health } from "#runtime"
import { beatWhile, movement } from "../../../services/pipeline-api/beat-while.ts"

const stallMs = 30_000
const operation = "look"

/** Whether a process is held for alive after some minutes in which the loop looked like that. */
const isAlive = (isWell: Effect.Effect<boolean, BusError>) =>
  Effect.gen(function* () {
    const health = yield* Health
    yield* beatWhile(yield* health.loop("trial", { stallMs }), stallMs, isWell)
    yield* TestClock.adjust("5 minutes")
    return (yield* health.live).ok
  }).pipe(Effect.scoped, Effect.provide(Health.layer))

describe("a watched loop", () => {
  it.effect("lives while it makes progress, and not because time passes", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* isAlive(Effect.succeed(true)))
      assert.isFalse(yield* isAlive(Effect.succeed(false)))
      assert.isFalse(yield* isAlive(Effect.never))
    })
  )

  it.effect("outlives an unreachable broker, and not one that denies it access", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* isAlive(new BusUnavailable({ operation, detail: "away" })))
      assert.isFalse(yield* isAlive(new BusRefused({ operation, detail: "forbidden", code: 0 })))
    })
  )

  it("has moved when any work was done since the last check", () => {
    const { moved, hasMoved } = movement()
    assert.isFalse(hasMoved())
    moved()
    moved()
    assert.deepStrictEqual([hasMoved(), hasMoved()], [true, false])
  })
})
