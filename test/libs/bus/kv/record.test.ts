import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Option, Result } from "effect"
import { type BusError, deleted, kept, type KvEntry, records } from "#bus"
import type { Decide } from "../../../../libs/bus/kv/record.ts"
import { append, type Fate, holdsAll, type Log, memoryBucket } from "../../../support/memory-bucket.ts"
import { recordedBucket, recorder } from "../../../support/recorder.ts"

const never = () => "stored" as const
const noTurns = () => 0

it.effect("a record that is written only if absent is created, and one that was read is updated", () => {
  const record = recorder()
  return Effect.gen(function* () {
    const { replace } = records(recordedBucket<Log>(record))
    assert.isTrue((yield* replace("a", ["x"], 0)).answer)
    assert.isFalse((yield* replace("a", ["y"], 0)).answer)
    assert.isTrue((yield* replace("a", ["z"], 1)).answer)
    const writes = record.calls.filter((name) => !name.startsWith("get "))
    assert.deepStrictEqual(writes, ["create a", "create a", "update a"])
  })
})

describe("a change of a record", () => {
  it.effect("creates it, and stores nothing where the decision changes nothing or refuses", () =>
    Effect.gen(function* () {
      const { bucket, stored, writes } = memoryBucket<Log>(never, noTurns)
      const { change } = records(bucket)
      assert.deepStrictEqual(yield* change("a", append("x")), { answer: 1, value: ["x"], revision: 1 })
      const looked = yield* change("a", (before) => Result.succeed({ answer: before?.length }))
      assert.deepStrictEqual(looked, { answer: 1, value: ["x"], revision: 1 })
      assert.strictEqual(yield* Effect.flip(change("a", append("y", 1))), "full")
      assert.deepStrictEqual([stored("a")?.value, writes()], [["x"], 1])
    })
  )

  it.effect("is decided again on what another has written first", () =>
    Effect.gen(function* () {
      const { bucket, stored } = memoryBucket<Log>(never, noTurns)
      const { change } = records(bucket)
      let calls = 0
      const changed = yield* change("a", (before = [], { revision }) => {
        calls += 1
        if (calls === 1) writeFirst(bucket.update("a", ["other"], revision))
        return append("x")(before)
      })
      assert.deepStrictEqual([changed.answer, stored("a")?.value, calls], [2, ["other", "x"], 2])
    })
  )

  it.effect("may be allowed by a record that is remembered, and is never refused by one", () =>
    Effect.gen(function* () {
      const { bucket, stored } = memoryBucket<Log>(never, noTurns)
      const { change } = records(bucket)
      yield* change("a", append("x"))
      const full: KvEntry<Log> = { key: "a", value: ["1", "2", "3"], revision: 7 }
      const reads: Array<number> = []
      const refusing: Decide<Log, number, "full"> = (before) => {
        reads.push(before?.length ?? 0)
        return append("y", 3)(before)
      }
      assert.strictEqual((yield* change("a", refusing, { known: Option.some(full) })).answer, 2)
      assert.deepStrictEqual(
        [reads, stored("a")?.value],
        [
          [3, 1],
          ["x", "y"]
        ]
      )
      // An older one that allows it loses its write, and is decided again.
      const old: KvEntry<Log> = { key: "a", value: [], revision: 1 }
      assert.strictEqual((yield* change("a", append("z"), { known: Option.some(old) })).answer, 3)
    })
  )

  it.effect.each([
    { fate: "lost before", can: false, stored: undefined, ends: "BusUnavailable", writes: 1 },
    { fate: "lost after", can: false, stored: ["x"], ends: "BusUnavailable", writes: 1 },
    { fate: "lost before", can: true, stored: ["x"], ends: 1, writes: 2 },
    { fate: "lost after", can: true, stored: ["x"], ends: 1, writes: 1 },
    { fate: "late", can: true, stored: ["x"], ends: 1, writes: 1 }
  ] as const)("whose answer is lost ($fate) is written again only where the record can tell ($can)", (row) =>
    Effect.gen(function* () {
      const fates: Array<Fate> = [row.fate]
      const { bucket, stored, writes } = memoryBucket<Log>(() => fates.shift() ?? "stored", noTurns)
      const made = yield* Effect.result(records(bucket, row.can ? { isOurs: holdsAll } : {}).change("a", append("x")))
      assert.strictEqual(Result.isSuccess(made) ? made.success.answer : endOf(made.failure), row.ends)
      assert.deepStrictEqual([stored("a")?.value, writes()], [row.stored, row.writes])
    })
  )

  it.effect("fails as its write did where others have changed the record since, and it cannot tell", () =>
    Effect.gen(function* () {
      const fates: Array<Fate> = ["lost after"]
      const { bucket, stored, writes } = memoryBucket<Log>(() => fates.shift() ?? "stored", noTurns)
      const get = (key: string) =>
        Effect.flatMap(bucket.get(key), (found) =>
          Option.isSome(found) && found.value.value.length === 1
            ? Effect.andThen(bucket.update(key, ["other"], found.value.revision), bucket.get(key))
            : Effect.succeed(found)
        )
      const options = { isOurs: (found: Log, written: Log) => holdsAll(found, written) || undefined }
      const failed = yield* Effect.flip(records({ ...bucket, get }, options).change("a", append("x", 1)))
      assert.deepStrictEqual([endOf(failed), stored("a")?.value, writes()], ["BusUnavailable", ["other"], 2])
    })
  )

  it.effect("ends when its answer is lost a second time", () =>
    Effect.gen(function* () {
      const { bucket, writes } = memoryBucket<Log>(() => "lost before", noTurns)
      const failed = yield* Effect.flip(records(bucket, { isOurs: holdsAll }).change("a", append("x")))
      assert.deepStrictEqual([endOf(failed), writes()], ["BusUnavailable", 2])
    })
  )

  it.effect("may replace the very revision that was seen, and no other", () =>
    Effect.gen(function* () {
      const { bucket } = memoryBucket<Log>(never, noTurns)
      const { replace } = records(bucket)
      assert.deepStrictEqual(yield* replace("a", ["x"], 0), { answer: true, value: ["x"], revision: 1 })
      assert.deepStrictEqual(yield* replace("a", ["y"], 0), { answer: false, value: ["x"], revision: 1 })
      assert.deepStrictEqual(yield* replace("a", ["y"], 1), { answer: true, value: ["y"], revision: 2 })
      assert.deepStrictEqual(yield* replace("a", ["z"], 1), { answer: false, value: ["y"], revision: 2 })
    })
  )

  it.effect("may be made by the only writer of it, and fails where another came first", () =>
    Effect.gen(function* () {
      const { bucket, stored } = memoryBucket<Log>(never, noTurns)
      const { overwrite } = records(bucket)
      assert.strictEqual(yield* overwrite("a", ["x"], 0), 1)
      assert.strictEqual(yield* overwrite("a", ["y"], 1), 2)
      assert.strictEqual(endOf(yield* Effect.flip(overwrite("a", ["z"], 1))), "RevisionConflict")
      assert.deepStrictEqual(stored("a")?.value, ["y"])
    })
  )

  it.effect.each(["remove", "erase"] as const)("may take it away (%s), and does nothing where it is gone", (how) =>
    Effect.gen(function* () {
      const { bucket, stored, writes } = memoryBucket<Log>(never, noTurns)
      const { change } = records(bucket)
      yield* change("a", append("x"))
      const taken = yield* change("a", (before) => deleted(before, how))
      assert.deepStrictEqual(taken, { answer: ["x"], value: undefined, revision: 0 })
      assert.isUndefined(stored("a"))
      assert.isUndefined((yield* change("a", (before) => deleted(before, how))).answer)
      assert.strictEqual(writes(), 2)
    })
  )

  it.effect("takes away what another has written first, or leaves it, as it decides", () =>
    Effect.gen(function* () {
      const { bucket, stored } = memoryBucket<Log>(never, noTurns)
      const { change } = records(bucket)
      yield* change("a", append("x"))
      const seen: Array<number> = []
      const taken = yield* change("a", (before = [], { revision }) => {
        if (seen.push(before.length) === 1) writeFirst(bucket.update("a", ["x", "other"], revision))
        return before.length > 1 ? kept("left") : deleted("taken", "remove")
      })
      assert.deepStrictEqual([taken.answer, seen, stored("a")?.value], ["left", [1, 2], ["x", "other"]])
    })
  )

  it.effect("takes nothing away by a record that is only remembered", () =>
    Effect.gen(function* () {
      const { bucket, stored } = memoryBucket<Log>(never, noTurns)
      const { change } = records(bucket)
      yield* change("a", append("x"))
      const taken = yield* change("a", (before) => deleted(before, "remove"), { known: Option.none() })
      assert.deepStrictEqual([taken.answer, stored("a")], [["x"], undefined])
    })
  )

  it.live("ends when others are always first", () =>
    Effect.gen(function* () {
      const { bucket } = memoryBucket<Log>(never, noTurns)
      const failed = yield* Effect.flip(
        records(bucket).change("a", (before = [], { revision }) => {
          writeFirst(bucket.update("a", [], revision))
          return append("x")(before)
        })
      )
      assert.include(String(failed), "other writes came first 64 times")
    })
  )
})

/** In the middle of another's decision. */
const writeFirst = (write: Effect.Effect<number, BusError>) => void Effect.runSync(write)

const endOf = (error: "full" | BusError) => (typeof error === "string" ? error : error._tag)

describe("changes of one key that come together", () => {
  it.effect("share a write, in their order, and each has its own answer", () =>
    Effect.gen(function* () {
      const { bucket, stored, writes } = memoryBucket<Log>(never, () => 1)
      const { change } = records(bucket, { together: true })
      const ids = ["a", "b", "c", "d", "e"]
      const made = yield* Effect.forEach(ids, (id) => Effect.exit(change("k", append(id, 4))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        made.map((exit) =>
          Exit.isSuccess(exit) ? exit.value.answer : Option.getOrThrow(Cause.findErrorOption(exit.cause))
        ),
        [1, 2, 3, 4, "full"]
      )
      assert.deepStrictEqual([stored("k")?.value, writes()], [["a", "b", "c", "d"], 2])
    })
  )

  it.effect("may take the record away, and begin another", () =>
    Effect.gen(function* () {
      const { bucket, stored, writes } = memoryBucket<Log>(never, () => 1)
      const { change } = records(bucket, { together: true })
      yield* change("k", append("old"))
      const changes = [append("a"), (before: Log | undefined) => deleted(before?.length ?? 0, "remove"), append("b")]
      const made = yield* Effect.forEach(changes, (decide) => change("k", decide), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        made.map(({ answer }) => answer),
        [2, 2, 1]
      )
      assert.deepStrictEqual([stored("k")?.value, writes()], [["b"], 2])
    })
  )

  it.effect("are not made for a caller that has left before its turn, and are for those behind it", () =>
    Effect.gen(function* () {
      const { bucket, stored } = memoryBucket<Log>(never, () => 3)
      const { change } = records(bucket, { together: true })
      const first = yield* Effect.forkChild(change("k", append("a")), { startImmediately: true })
      const second = yield* Effect.forkChild(change("k", append("b")), { startImmediately: true })
      const third = yield* Effect.forkChild(change("k", append("c")), { startImmediately: true })
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      assert.strictEqual((yield* Fiber.join(third)).answer, 2)
      assert.deepStrictEqual(stored("k")?.value, ["a", "c"])
    })
  )

  it.effect("fail together with their write, and not with the next one", () =>
    Effect.gen(function* () {
      const fates: Array<Fate> = ["stored", "lost before"]
      const { bucket, stored } = memoryBucket<Log>(
        () => fates.shift() ?? "stored",
        () => 2
      )
      const { change } = records(bucket, { together: true })
      const made = yield* Effect.forEach(["a", "b", "c"], (id) => Effect.exit(change("k", append(id))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(made.map(Exit.isSuccess), [true, false, false])
      assert.strictEqual((yield* change("k", append("d"))).answer, 2)
      assert.deepStrictEqual(stored("k")?.value, ["a", "d"])
    })
  )

  it.effect("do not end with a decision that throws", () =>
    Effect.gen(function* () {
      const { bucket } = memoryBucket<Log>(never, noTurns)
      const { change } = records(bucket, { together: true })
      const died = yield* Effect.exit(
        change("k", () => {
          throw new Error("a bug")
        })
      )
      assert.isTrue(Exit.isFailure(died) && Cause.hasDies(died.cause))
      assert.strictEqual((yield* change("k", append("a"))).answer, 1)
    })
  )
})
