/** A bucket in memory that loses answers, and stores some writes only later, as a broker does that is slow or away. */
import { Effect, Option, Result } from "effect"
import { BusUnavailable, type Change, type KvBucket, type KvEntry, RevisionConflict } from "#bus"

/** What becomes of a write. `late`: its answer is lost, and it arrives after other operations. */
export type Fate = "stored" | "lost before" | "lost after" | "late"

type Part<A> = Pick<KvBucket<A>, "get" | "create" | "update" | "remove" | "erase">

export interface MemoryBucket<A> {
  readonly bucket: KvBucket<A>
  readonly stored: (key: string) => KvEntry<A> | undefined
  readonly writes: () => number
}

/** `fate` is asked for each write, and `turns` how many other fibers go first in each operation. */
export const memoryBucket = <A>(fate: () => Fate, turns: () => number): MemoryBucket<A> => {
  const entries = new Map<string, KvEntry<A>>()
  const late: Array<{ readonly left: number; readonly apply: () => void }> = []
  let revision = 0
  let writes = 0

  const others = Effect.gen(function* () {
    for (let left = turns(); left > 0; left -= 1) yield* Effect.yieldNow
    const due = late.splice(0).map(({ left, apply }) => ({ left: left - 1, apply }))
    for (const each of due) {
      if (each.left > 0) late.push(each)
      else each.apply()
    }
  })
  const apply = (key: string, value: A | undefined, expected: number) => {
    if ((entries.get(key)?.revision ?? 0) !== expected) return false
    revision += 1
    if (value === undefined) entries.delete(key)
    else entries.set(key, { key, value, revision })
    return true
  }
  const write = Effect.fnUntraced(function* (key: string, value: A | undefined, expected: number) {
    yield* others
    writes += 1
    const unavailable = new BusUnavailable({ operation: `write ${key}`, detail: "no answer in time" })
    const becomes = fate()
    if (becomes === "lost before") return yield* unavailable
    if (becomes === "late") {
      late.push({ left: 1 + turns(), apply: () => void apply(key, value, expected) })
      return yield* unavailable
    }
    if (!apply(key, value, expected)) {
      return yield* new RevisionConflict({ operation: `write ${key}`, detail: "another was first" })
    }
    const written = revision
    yield* others
    return becomes === "lost after" ? yield* unavailable : written
  })
  const part: Part<A> = {
    get: (key) => Effect.map(others, () => Option.fromUndefinedOr(entries.get(key))),
    create: (key, value) => write(key, value, 0),
    update: write,
    remove: (key, expected) => Effect.asVoid(write(key, undefined, expected)),
    erase: (key, expected) => Effect.asVoid(write(key, undefined, expected))
  }
  // The rest of a bucket is not used by records.
  return { bucket: part as KvBucket<A>, stored: (key) => entries.get(key), writes: () => writes }
}

/** A record for tests: what was appended, in its order. */
export type Log = ReadonlyArray<string>

/** Appends, unless the log is full; answers with the length. */
export const append =
  (id: string, lengthMax = 1_000) =>
  (before: Log = []): Result.Result<Change<Log, number>, "full"> =>
    before.length >= lengthMax
      ? Result.fail("full")
      : Result.succeed({ answer: before.length + 1, next: [...before, id] })

export const holdsAll = (found: Log, written: Log) => written.every((id, index) => found[index] === id)
