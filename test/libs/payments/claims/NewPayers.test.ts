import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Checkpoint, checkpointKey, openNewPayers } from "../../../../libs/payments/claims/NewPayers.ts"
import { recordedBucket, recordedKv, recorder } from "../../../support/recorder.ts"

// One process hands out a quarter of it between two sums: 100.
const terms = { newPayerMax: 0, payerMax: 0, newPayersMax: 400 }

/** A process's knowledge of new payers, and a sweep that writes its sums. */
const world = Effect.gen(function* () {
  const { layer, entries } = recordedKv(recorder())
  const newPayers = yield* Effect.provide(openNewPayers(terms), layer)
  const checkpoints = recordedBucket<typeof Checkpoint.Type>(recorder(), entries.get("authorizations"))
  let revision = 0
  const sum = (newcomers?: { readonly unpaid: number; readonly asOf: number }) =>
    Effect.gen(function* () {
      const value = { holder: "sweeper", from: 1, ...(newcomers && { newcomers }) }
      revision = yield* Effect.orDie(checkpoints.update(checkpointKey, value, revision))
      yield* TestClock.adjust("1 second")
      return revision
    })
  return { ...newPayers, sum }
})

describe("what a process gives new payers", () => {
  it.effect("counts until it is given back, or in a sum that has seen its record", () =>
    Effect.gen(function* () {
      const { take, giveBack, isWritten, look, sum } = yield* world
      assert.deepStrictEqual([take("a", 60, 0), take("b", 40, 0), take("c", 1, 0)], [true, true, false])
      assert.isTrue(take("a", 60, 0), "the same call again is the same part")
      giveBack("b")
      assert.deepStrictEqual([take("c", 41, 0), take("c", 40, 0)], [false, true])
      isWritten("a", 7)
      yield* sum({ unpaid: 0, asOf: 6 })
      yield* look
      assert.isFalse(take("d", 60, 0))
      yield* sum({ unpaid: 60, asOf: 7 })
      yield* look
      // A quarter of what the sum leaves: 85, of which 40 are given.
      assert.deepStrictEqual([take("d", 46, 0), take("d", 45, 0)], [false, true])
    })
  )

  it.effect("is not counted again by a sum that has seen less than the last one", () =>
    Effect.gen(function* () {
      const { take, look, sum } = yield* world
      yield* sum({ unpaid: 399, asOf: 9 })
      yield* look
      assert.isFalse(take("a", 2, 0))
      yield* sum({ unpaid: 0, asOf: 8 })
      yield* look
      assert.isFalse(take("a", 2, 0))
      yield* sum({ unpaid: 0, asOf: 9 })
      yield* look
      assert.isTrue(take("a", 2, 0))
    })
  )

  it.effect("counts in the sum of a sweeper of an earlier release as of that sweeper's own record", () =>
    Effect.gen(function* () {
      const { take, isWritten, look, sum } = yield* world
      assert.isTrue(take("a", 100, 0))
      isWritten("a", 1)
      assert.strictEqual(yield* sum(), 1)
      yield* look
      assert.isTrue(take("b", 100, 0))
    })
  )

  it.effect("is less by what was lost, until that is forgotten", () =>
    Effect.gen(function* () {
      const { take, look, lost } = yield* world
      yield* lost(200)
      yield* lost(200)
      yield* look
      assert.isFalse(take("a", 1, 0))
      assert.isTrue(take("a", 1, 86_400_000))
    })
  )

  it.effect("is for 4,096 calls at most", () =>
    Effect.gen(function* () {
      const { take } = yield* world
      for (let index = 0; index < 4_096; index += 1) assert.isTrue(take(`${index}`, 0, 0))
      assert.isFalse(take("one more", 0, 0))
      assert.isTrue(take("0", 0, 0), "one of them again is none more")
    })
  )
})
