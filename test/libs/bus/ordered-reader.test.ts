import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import type { BusError } from "#bus"
import { takeBatch } from "../../../libs/bus/ordered-reader.ts"

const run = { messagesMax: 4, withinMs: 20 }

/** A run that is being taken of a queue; `later`: what comes within its moment. */
const taken = Effect.fnUntraced(function* (first: ReadonlyArray<number>, later: ReadonlyArray<number> = []) {
  const queue = yield* Queue.unbounded<number, BusError>()
  yield* Queue.offerAll(queue, first)
  const taking = yield* Effect.forkChild(takeBatch(queue, run), { startImmediately: true })
  yield* TestClock.adjust(run.withinMs - 1)
  const isEarly = taking.pollUnsafe() !== undefined
  yield* Queue.offerAll(queue, later)
  yield* TestClock.adjust(1)
  const batch = yield* Fiber.join(taking)
  return { batch, isEarly, left: Queue.sizeUnsafe(queue) }
})

describe("a run of messages", () => {
  it.effect("waits a moment for others, and is no longer than it may be", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* taken([1]), { batch: [1], isEarly: false, left: 0 })
      assert.deepStrictEqual(yield* taken([1], [2]), { batch: [1, 2], isEarly: false, left: 0 })
      assert.deepStrictEqual(yield* taken([1], [2, 3, 4]), { batch: [1, 2, 3, 4], isEarly: false, left: 0 })
      assert.deepStrictEqual(yield* taken([1], [2, 3, 4, 5, 6]), { batch: [1, 2, 3, 4], isEarly: false, left: 2 })
    })
  )

  it.effect("waits for no others when it is full", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* taken([1, 2, 3, 4, 5]), { batch: [1, 2, 3, 4], isEarly: true, left: 1 })
      assert.deepStrictEqual(yield* taken([1, 2, 3, 4]), { batch: [1, 2, 3, 4], isEarly: true, left: 0 })
    })
  )
})
