import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { DispatcherPresence } from "#webhooks/contract"
import { awaitActedOn } from "../../../../libs/webhooks/endpoints/store.ts"
import { recordedBucket, recorder } from "../../../support/recorder.ts"

/** Dispatchers that act on these revisions. */
const presencesAt = (revisions: Readonly<Record<string, number>>) =>
  recordedBucket(
    recorder(),
    new Map(
      Object.entries(revisions).map(([key, actsOn]) => [
        key,
        { key, revision: 1, value: { actsOn } as DispatcherPresence }
      ])
    )
  )

describe("a change of an endpoint", () => {
  it.effect("is waited for until every dispatcher acts on it", () =>
    Effect.gen(function* () {
      yield* awaitActedOn(presencesAt({}), 7)
      yield* awaitActedOn(presencesAt({ a: 7, b: 8 }), 7)
      const presences = presencesAt({ a: 7, b: 6 })
      const waiting = yield* Effect.forkChild(awaitActedOn(presences, 7), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isUndefined(waiting.pollUnsafe())
      yield* Effect.orDie(presences.update("b", { actsOn: 7 } as DispatcherPresence, 1))
      yield* TestClock.adjust(20)
      yield* Fiber.join(waiting)
    })
  )

  it.effect("is no longer waited for after ten seconds, and the dispatchers that are behind are named", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(Effect.flip(awaitActedOn(presencesAt({ a: 7, b: 6 }), 7)), {
        startImmediately: true
      })
      yield* TestClock.adjust(9_980)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust(20)
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "NotActedOn", dispatchers: ["b"], waitedMs: 10_000 })
    })
  )
})
