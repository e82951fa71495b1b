import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { BusRefused, type BusError, BusUnavailable } from "#bus"
import { patientStart } from "../../../services/fleet/roles.ts"

const away = new BusUnavailable({ operation: "ensure consumer", detail: "JetStream system temporarily unavailable" })
const refused = new BusRefused({ operation: "ensure consumer", detail: "not permitted", code: 0 })

/** A role that holds something from the first moment of its start, and meets one of these answers at each. */
const roleMeeting = (answers: ReadonlyArray<BusError | undefined>) => {
  let [started, held] = [0, 0]
  const role = Layer.effectDiscard(
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => void (held += 1)),
        () => Effect.sync(() => void (held -= 1))
      )
      const answer = answers[Math.min(started, answers.length - 1)]
      started += 1
      if (answer !== undefined) return yield* answer
    })
  )
  return { role, started: () => started, held: () => held }
}

const startUp = Effect.fnUntraced(function* (role: Layer.Layer<never, BusError>) {
  const scope = yield* Scope.make()
  const building = yield* Effect.forkChild(Layer.buildWithScope(patientStart(role), scope))
  yield* TestClock.adjust("5 minutes")
  return { scope, built: yield* Fiber.await(building) }
})

describe("the start of a role", () => {
  it.effect("is retried while the broker is unavailable, and keeps nothing of the starts before", () =>
    Effect.gen(function* () {
      const { role, started, held } = roleMeeting([away, away, undefined])
      const { scope, built } = yield* startUp(role)

      assert.isTrue(Exit.isSuccess(built))
      assert.deepStrictEqual([started(), held()], [3, 1])
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(held(), 0)
    })
  )

  it.effect("fails at once when the broker refuses it, because a refusal lasts", () =>
    Effect.gen(function* () {
      const { role, started, held } = roleMeeting([refused])
      const { built } = yield* startUp(role)

      assert.deepStrictEqual(built, Exit.fail(refused))
      assert.deepStrictEqual([started(), held()], [1, 0])
    })
  )

  it.effect("gives up after minutes without a broker", () =>
    Effect.gen(function* () {
      const { role, started, held } = roleMeeting([away])
      const { built } = yield* startUp(role)

      assert.deepStrictEqual(built, Exit.fail(away))
      assert.deepStrictEqual([started(), held()], [60, 0])
    })
  )
})
