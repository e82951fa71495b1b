import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { Actors } from "#actors"
import { Publisher, RevisionConflict, type SourceMessage, StreamReader } from "#bus"
import { Metrics } from "#runtime"
import { lruCache } from "../../../libs/actors/actors.ts"
import { failingAtEach, recordedPublisher, type Recorder, recorder, told } from "../../support/recorder.ts"
import { jar } from "./jar.ts"

/** A log in memory, which any number of replicas share. */
const log = () => {
  const last = new Map<string, SourceMessage>()
  let sequence = 0
  const append = (subject: string, data: Uint8Array, expected: number | undefined) =>
    Effect.suspend(() => {
      if (expected !== undefined && expected !== (last.get(subject)?.sequence ?? 0))
        return Effect.fail(new RevisionConflict({ operation: "append", detail: "another was first" }))
      sequence += 1
      // Another object than the one that was written: nothing is read back from a cache.
      last.set(subject, { subject, sequence, storedAtMs: 0, data: Uint8Array.from(data), header: () => undefined })
      return Effect.succeed({ stream: "LOG", sequence, duplicate: false })
    })
  const replica = ({ call }: Recorder) => {
    const publisher = Publisher.of({
      ...recordedPublisher(recorder()),
      publishRaw: (subject, data, options) =>
        call("append", append(subject, data, options?.expectedLastSubjectSequence))
    })
    const reader = {
      last: (_: string, subject: string) =>
        call(
          "read",
          Effect.sync(() => Option.fromUndefinedOr(last.get(subject)))
        )
    } as unknown as StreamReader["Service"]
    return Layer.build(
      Layer.fresh(
        Layer.provide(
          Actors.layer,
          Layer.mergeAll(Layer.succeed(Publisher, publisher), Layer.succeed(StreamReader, reader), Metrics.layerTest)
        )
      )
    )
  }
  return { replica }
}

const open = Effect.flatMap(Actors, ({ run }) => run(jar, { id: "a", commandId: "open" }, { _tag: "Open" }))
const fill = (commandId: string) =>
  Effect.flatMap(Actors, ({ run }) => run(jar, { id: "a", commandId }, { _tag: "Fill", coins: 1 }))
const coins = Effect.map(
  Effect.flatMap(Actors, ({ read }) => read(jar, "a")),
  Option.map(({ state }) => state.coins)
)

describe("a command whose call to the broker fails", () => {
  it.effect("is carried out once when it is sent again, and the next one is decided on what is stored", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const actors = yield* log().replica(record)
          return yield* Effect.gen(function* () {
            for (const command of [open, fill("1"), fill("2"), fill("3")])
              yield* Effect.retry(command, { times: 1, while: ({ _tag }) => _tag === "BusUnavailable" })
            return yield* Effect.retry(coins, { times: 1 })
          }).pipe(Effect.provide(actors))
        }, Effect.scoped)
      )
      for (const run of runs) assert.deepStrictEqual(run.exit, Exit.succeed(Option.some(3)), told(run))
      // Each of the four appends and the read, in two ways.
      assert.isAtLeast(runs.length, 11)
    })
  )

  it.effect("has the entity read again by the next command, also by another one", () =>
    Effect.gen(function* () {
      const record = recorder(3, "the answer is lost")
      const actors = yield* log().replica(record)
      yield* Effect.gen(function* () {
        yield* open
        yield* fill("1")
        const lost = yield* Effect.flip(fill("2"))
        assert.strictEqual(lost._tag, "BusUnavailable")
        const { state, was } = yield* fill("3")
        assert.deepStrictEqual([state.coins, was], [3, "decided"])
        // The state is not assumed to be as it was: that would cost a write that is lost.
        assert.deepStrictEqual(record.calls, ["append", "append", "append", "read", "append"])
      }).pipe(Effect.provide(actors))
    }).pipe(Effect.scoped)
  )
})

describe("of two replicas at work on one entity", () => {
  it.effect("the one that remembers it reads it again after eight decisions, so that the other has its turn", () =>
    Effect.gen(function* () {
      const record = recorder()
      const actors = yield* log().replica(record)
      yield* Effect.gen(function* () {
        yield* open
        for (let n = 0; n < 24; n += 1) yield* fill(String(n))
      }).pipe(Effect.provide(actors))
      const gaps = record.calls.join(" ").split("read")
      assert.isAtLeast(gaps.length, 3)
      for (const gap of gaps) assert.isAtMost(gap.split("append").length - 1, 8)
    }).pipe(Effect.scoped)
  )
})

describe("an LRU cache", () => {
  it("keeps the entries used last, up to its bound", () => {
    const cache = lruCache<number>(2)

    cache.set("a", 1)
    cache.set("b", 2)
    assert.strictEqual(cache.get("a"), 1)
    cache.set("c", 3)

    assert.deepStrictEqual([cache.get("a"), cache.get("b"), cache.get("c")], [1, undefined, 3])
  })

  it("replaces a value by a newer one, and forgets removed entries", () => {
    const cache = lruCache<number>(2)

    cache.set("a", 1)
    cache.set("a", 2)
    assert.strictEqual(cache.get("a"), 2)
    cache.remove("a")

    assert.isUndefined(cache.get("a"))
  })
})
