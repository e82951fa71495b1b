/** Since when a condition stands is kept in KV, by the first console that sees it, for the next one. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { BusUnavailable, Kv, type KvBucket } from "#bus"
import { conditions } from "#console/conditions"
import { episodes } from "../../../services/console/episodes.ts"
import { memoryBucket } from "../../support/memory-bucket.ts"

const [condition] = conditions
const one = (sinceMs: number) => {
  assert.isDefined(condition)
  return { id: "a", condition, labels: { pod: "10.0.0.1:9400" }, value: 0, sinceMs } as Standing
}
type Standing = Parameters<Effect.Success<typeof episodes>["keep"]>[0]["standing"][number]

const looked = (atMs: number, ...standing: ReadonlyArray<Standing>) => ({
  atMs,
  standing,
  processes: [],
  again: [],
  isWhole: true
})

interface Kept {
  readonly id: string
  readonly endedAt: string | null
}

/** A bucket that several consoles share. */
const sharedBucket = () => {
  const { bucket } = memoryBucket<Kept>(
    () => "stored",
    () => 0
  )
  const keys = new Set<string>()
  const whole: KvBucket<Kept> = {
    ...bucket,
    create: (key, value) => Effect.tap(bucket.create(key, value), () => Effect.sync(() => keys.add(key))),
    scan: () =>
      Stream.fromIterable(keys).pipe(
        Stream.mapEffect((key) => bucket.get(key)),
        Stream.flatMap((entry) => Stream.fromIterable(entry._tag === "Some" ? [entry.value] : []))
      )
  }
  return whole
}

/** A console's process over that bucket; undefined: the broker is away. */
const consoleOver = (bucket: () => KvBucket<Kept> | undefined) =>
  Effect.provideService(episodes, Kv, {
    open: () =>
      Effect.suspend(() => {
        const found = bucket()
        return found === undefined
          ? Effect.fail(new BusUnavailable({ operation: "open", detail: "away" }))
          : Effect.succeed(found)
      })
  } as unknown as Kv["Service"])

describe("since when a condition stands", () => {
  it.effect("is known to a console that starts later", () =>
    Effect.gen(function* () {
      const bucket = sharedBucket()
      yield* (yield* consoleOver(() => bucket)).keep(looked(20_000, one(5_000)))
      const next = yield* consoleOver(() => bucket)
      assert.isUndefined(next.sinceOf("a"))
      yield* next.keep(looked(90_000, one(90_000)))
      assert.strictEqual(next.sinceOf("a"), 5_000)
    })
  )

  it.effect("begins anew when it has ended in between", () =>
    Effect.gen(function* () {
      const bucket = sharedBucket()
      const first = yield* consoleOver(() => bucket)
      yield* first.keep(looked(20_000, one(5_000)))
      yield* first.keep(looked(30_000))
      assert.isUndefined(first.sinceOf("a"))
      yield* first.keep(looked(60_000, one(50_000)))
      assert.strictEqual(first.sinceOf("a"), 50_000)
    })
  )

  it.effect("is told when it begins and when it ends, once by each console", () =>
    Effect.gen(function* () {
      const bucket = sharedBucket()
      const first = yield* consoleOver(() => bucket)
      const tell = (all: ReadonlyArray<{ readonly change: string; readonly at: string }>) =>
        all.map(({ change, at }) => [change, Date.parse(at)])
      assert.deepStrictEqual(tell(yield* first.keep(looked(20_000, one(5_000)))), [["begun", 5_000]])
      assert.deepStrictEqual(tell(yield* first.keep(looked(25_000, one(5_000)))), [])
      const next = yield* consoleOver(() => bucket)
      assert.deepStrictEqual(tell(yield* next.keep(looked(30_000))), [["ended", 30_000]])
      assert.deepStrictEqual(tell(yield* first.keep(looked(31_000))), [["ended", 30_000]])
    })
  )

  it.effect("has not ended for a console that sees no rates yet", () =>
    Effect.gen(function* () {
      const bucket = sharedBucket()
      yield* (yield* consoleOver(() => bucket)).keep(looked(20_000, one(5_000)))
      const next = yield* consoleOver(() => bucket)
      yield* next.keep({ ...looked(25_000), isWhole: false })
      assert.strictEqual(next.sinceOf("a"), 5_000)
      yield* next.keep(looked(50_000))
      assert.isUndefined(next.sinceOf("a"))
    })
  )

  it.effect("is kept when the broker is back", () =>
    Effect.gen(function* () {
      const bucket = sharedBucket()
      let isAway = true
      const here = yield* consoleOver(() => (isAway ? undefined : bucket))
      yield* here.keep(looked(20_000, one(5_000)))
      assert.isUndefined(here.sinceOf("a"))
      isAway = false
      yield* here.keep(looked(25_000, one(5_000)))
      assert.strictEqual(here.sinceOf("a"), 5_000)
    })
  )
})
