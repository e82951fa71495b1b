/** Histories of a record at random: writers that race, crash, remember what they read, and lose answers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Random, Result } from "effect"
import { deleted, type KvEntry, records } from "#bus"
import type { RecordsOptions } from "../../../../libs/bus/kv/record.ts"
import { append, type Fate, holdsAll, type Log, memoryBucket } from "../../../support/memory-bucket.ts"

const randomOf = (seed: number) => {
  let state = seed >>> 0
  return (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

/** What each change of three writers came to. */
const race = (seed: number, options: RecordsOptions<Log>, canTell: boolean) =>
  Effect.gen(function* () {
    const below = randomOf(seed)
    const fates: ReadonlyArray<Fate> = ["stored", "stored", "stored", "lost before", "lost after", "late"]
    const { bucket, stored } = memoryBucket<Log>(
      () => fates[below(fates.length)] ?? "stored",
      () => below(4)
    )
    const lengthMax = 12
    const ends = new Map<string, string | number>()
    const writer = (name: string) =>
      Effect.gen(function* () {
        const { change } = records(bucket, canTell ? { ...options, isOurs: holdsAll } : options)
        let known: Option.Option<KvEntry<Log>> = Option.none()
        const one = (id: string) =>
          Effect.gen(function* () {
            const remembers = below(2) === 0 ? { known } : {}
            const made = yield* Effect.result(change("k", append(id, lengthMax), remembers))
            if (Result.isFailure(made))
              return void ends.set(id, typeof made.failure === "string" ? made.failure : made.failure._tag)
            const { answer, value = [], revision } = made.success
            ends.set(id, answer)
            known = Option.some({ key: "k", value, revision })
          })
        const ids = Array.from({ length: 6 }, (_, index) => `${name}${index}`)
        yield* Effect.forEach(ids, one, { concurrency: 1 + below(3), discard: true })
      })
    const fibers = yield* Effect.forEach(["a", "b", "c"], (name) => Effect.forkChild(writer(name)))
    const [crashing] = fibers
    for (let left = below(60); left > 0; left -= 1) yield* Effect.yieldNow
    if (crashing !== undefined) yield* Fiber.interrupt(crashing)
    for (const fiber of fibers) yield* Fiber.await(fiber)
    return { log: stored("k")?.value ?? [], ends, lengthMax }
  })

describe("writers that race, crash, remember records and lose answers", () => {
  const seeds = 400
  it.live.each([
    { of: "each alone, and blind to lost answers", options: {}, canTell: false },
    { of: "each alone, who can tell their own writes", options: {}, canTell: true },
    { of: "together, and blind to lost answers", options: { together: true }, canTell: false },
    { of: "together, who can tell their own writes", options: { together: true }, canTell: true }
  ])("store each change once or not at all, and say which: $of", ({ options, canTell }) =>
    Effect.gen(function* () {
      const seed = yield* Random.nextIntBetween(0, 1_000_000)
      const seen = new Set<string>()
      for (let nth = seed; nth < seed + seeds; nth += 1) {
        const { log, ends, lengthMax } = yield* race(nth, options, canTell)
        assert.strictEqual(new Set(log).size, log.length, `seed ${nth}: one was stored twice`)
        for (const [id, end] of ends) {
          seen.add(typeof end === "number" ? "stored" : end)
          if (typeof end === "number") assert.strictEqual(log[end - 1], id, `seed ${nth}: ${id} is not where it says`)
          if (end !== "full") continue
          assert.notInclude(log, id, `seed ${nth}`)
          assert.strictEqual(log.length, lengthMax, `seed ${nth}: refused by a record that was not full`)
        }
      }
      assert.deepStrictEqual([...seen].toSorted(), ["BusUnavailable", "full", "stored"])
    })
  )
})

/** Who was given a record that several try to take away at once. */
const takers = (seed: number, together: boolean) =>
  Effect.gen(function* () {
    const below = randomOf(seed)
    const fates: ReadonlyArray<Fate> = ["stored", "stored", "lost before", "lost after", "late"]
    let isFirst = true
    const { bucket, stored } = memoryBucket<Log>(
      () => (isFirst ? "stored" : (fates[below(fates.length)] ?? "stored")),
      () => below(4)
    )
    yield* records(bucket).change("k", append("x"))
    isFirst = false
    const { change } = records(bucket, { together })
    const taken = yield* Effect.forEach(
      Array.from({ length: 4 }),
      () => Effect.result(change("k", (before) => deleted(before, "remove"))),
      { concurrency: "unbounded" }
    )
    const given = taken.filter((one) => Result.isSuccess(one) && one.success.answer !== undefined).length
    return { given, failed: taken.filter(Result.isFailure).length, left: stored("k")?.value }
  })

describe("takers of one record, who race and lose answers", () => {
  it.live.each([false, true])("are given it once at the most (together: %s)", (together) =>
    Effect.gen(function* () {
      const seed = yield* Random.nextIntBetween(0, 1_000_000)
      const seen = new Set<number>()
      for (let nth = seed; nth < seed + 400; nth += 1) {
        const { given, failed, left } = yield* takers(nth, together)
        seen.add(given)
        assert.isAtMost(given, 1, `seed ${nth}`)
        if (given === 1) assert.isUndefined(left, `seed ${nth}: given away, and still there`)
        else assert.isAbove(failed, 0, `seed ${nth}: nobody was given it, and nobody failed`)
      }
      assert.deepStrictEqual([...seen].toSorted(), [0, 1])
    })
  )
})
