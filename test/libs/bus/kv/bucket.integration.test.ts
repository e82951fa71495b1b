import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Option, Ref, Schema, Stream } from "effect"
import { Kv, type KvBucket, Nats, Publisher, StreamReader } from "#bus"
import { lineLogger } from "#runtime"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { pause } from "../../http/api.ts"
import { Note, trial } from "../trial.ts"

const open = Effect.flatMap(Kv, (kv) => kv.open("rate-windows", Schema.Array(Schema.Int)))

describe("a key with a time to live", () => {
  it.live("expires by itself, lives on when it is written again, and can be created again afterwards", () =>
    withBus(() =>
      Effect.gen(function* () {
        const bucket = yield* open
        const isGone = (key: string) => Effect.map(bucket.get(key), Option.isNone)
        const revision = yield* bucket.create("short", [1], 3_000)
        yield* bucket.create("kept", [1], 3_000)
        const renewed = yield* bucket.create("renewed", [1], 3_000)
        const kept = Option.getOrThrow(yield* bucket.get("kept"))
        yield* bucket.update("kept", [2], kept.revision)
        yield* bucket.update("renewed", [2], renewed, 60_000)
        assert.strictEqual((yield* Effect.flip(bucket.create("short", [2], 3_000)))._tag, "RevisionConflict")
        assert.strictEqual(
          (yield* Effect.flip(bucket.update("kept", [3], kept.revision, 3_000)))._tag,
          "RevisionConflict"
        )

        // Also in the moment in which it expires a look at it does not fail.
        yield* eventually(isGone("short"))
        yield* pause(500)
        assert.deepStrictEqual([yield* isGone("kept"), yield* isGone("renewed")], [false, false])
        assert.strictEqual((yield* Effect.flip(bucket.update("short", [2], revision, 3_000)))._tag, "RevisionConflict")
        yield* bucket.create("short", [3], 60_000)
        assert.deepStrictEqual(Option.getOrThrow(yield* bucket.get("short")).value, [3])
      })
    )
  )

  it.live("can be created after a removal", () =>
    withBus(() =>
      Effect.gen(function* () {
        const bucket = yield* open
        yield* bucket.remove("a", yield* bucket.create("a", [1], 60_000))
        yield* bucket.create("a", [2], 60_000)
        assert.deepStrictEqual(Option.getOrThrow(yield* bucket.get("a")).value, [2])
      })
    )
  )
})

describe("a bucket", () => {
  it.live("changes only by compare-and-set, and reports its changes", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const bucket = yield* (yield* Kv).open("notes", Note)
          const changes = yield* Ref.make<ReadonlyArray<string>>([])
          yield* bucket.changes.pipe(
            Stream.runForEach(({ entry }) =>
              Ref.update(changes, (all) => [
                ...all,
                Option.match(entry, { onNone: () => "-", onSome: ({ value }) => value.text })
              ])
            ),
            Effect.forkScoped
          )
          const first = yield* bucket.create("a", { text: "one" })
          // A key's changes are reported from its last one on, so each is awaited before the next.
          yield* eventually(Ref.get(changes), { is: (all) => all.at(-1) === "one" })
          assert.strictEqual((yield* Effect.flip(bucket.create("a", { text: "other" })))._tag, "RevisionConflict")
          const second = yield* bucket.update("a", { text: "two" }, first)
          assert.strictEqual((yield* Effect.flip(bucket.update("a", { text: "x" }, first)))._tag, "RevisionConflict")
          assert.deepStrictEqual(Option.getOrThrow(yield* bucket.get("a")), {
            key: "a",
            value: { text: "two" },
            revision: second
          })
          yield* eventually(Ref.get(changes), { is: (all) => all.at(-1) === "two" })
          yield* bucket.remove("a", second)
          assert.isTrue(Option.isNone(yield* bucket.get("a")))
          assert.deepStrictEqual(yield* bucket.entries, [])
          yield* eventually(Ref.get(changes), { is: (all) => all.at(-1) === "-" })
          assert.deepStrictEqual(yield* Ref.get(changes), ["one", "two", "-"])
        }),
      trial
    )
  )
})

describe("a record that the broker stored as its answer", () => {
  it.live("counts as absent, however a publisher had it put there", () =>
    withBus(() =>
      Effect.gen(function* () {
        const { connection } = yield* Nats
        const bucket = yield* open
        yield* bucket.create("own", [1])
        yield* (yield* Publisher).publishRaw("events.my_team.thing", new TextEncoder().encode("[7]"))
        const ask = (subject: string, query: unknown, key: string) =>
          connection.publish(subject, JSON.stringify(query), { reply: `$KV.rate-windows.${key}` })
        ask("$JS.API.DIRECT.GET.EVENTS", { seq: 1 }, "one")
        ask("$JS.API.DIRECT.GET.EVENTS", { seq: 1, batch: 1 }, "batched")
        const reader = yield* StreamReader
        const stored = reader.countBySubject("KV_rate-windows", "$KV.rate-windows.>")
        yield* eventually(stored, {
          is: (counts) => "$KV.rate-windows.one" in counts && "$KV.rate-windows.batched" in counts
        })

        for (const key of ["one", "batched"]) assert.isTrue(Option.isNone(yield* bucket.get(key)), key)
        const seen = yield* bucket.changesInBatches(1, { messagesMax: 16, withinMs: 50 }).pipe(Stream.runHead)
        assert.deepStrictEqual(
          Option.getOrThrow(seen).flatMap(({ entry }) => Option.toArray(Option.map(entry, ({ key }) => key))),
          ["own"]
        )
      })
    )
  )
})

type Numbers = KvBucket<ReadonlyArray<number>>
const keysOf = <A extends { readonly key: string }>(read: ReadonlyArray<A>) => read.map(({ key }) => key).toSorted()
const ways: Readonly<Record<string, (bucket: Numbers) => Effect.Effect<ReadonlyArray<string>, unknown>>> = {
  entries: ({ entries }) => Effect.map(entries, keysOf),
  "a scan of all": ({ scan }) => Effect.map(Stream.runCollect(scan(">")), keysOf),
  "a scan of some": ({ scan }) => Effect.map(Stream.runCollect(scan("own.*")), keysOf),
  changes: ({ changes }) =>
    Effect.map(Stream.runCollect(Stream.take(changes, 3)), (all) =>
      keysOf(all.flatMap(({ entry }) => Option.toArray(entry)))
    )
}

describe("a record that does not fit", () => {
  for (const [way, read] of Object.entries(ways)) {
    it.live(`is left out of ${way}, and is reported once, without its value`, () =>
      withBus(() =>
        Effect.gen(function* () {
          const bucket = yield* open
          yield* bucket.create("own.a", [1])
          const data = new TextEncoder().encode('{"password":"hunter2"}')
          yield* (yield* Publisher).publishRaw("$KV.rate-windows.own.broken", data)
          yield* bucket.create("own.z", [2])

          const lines: Array<string> = []
          const reading = Effect.provide(
            way === "changes" ? read(bucket) : Effect.andThen(read(bucket), read(bucket)),
            Logger.layer([lineLogger("json", (line) => void lines.push(line))])
          )
          assert.deepStrictEqual(yield* reading, ["own.a", "own.z"])
          assert.lengthOf(lines, 1)
          const { level, message, ...more } = JSON.parse(lines[0] ?? "{}") as Readonly<Record<string, unknown>>
          assert.strictEqual(level, "WARN")
          assert.strictEqual(message, "a stored value is broken: it is left out")
          assert.include(JSON.stringify(more), '"key":"own.broken"')
          assert.notInclude(lines[0], "hunter2")
        })
      )
    )
  }

  it.live("is told from one that fits, and can be removed", () =>
    withBus(() =>
      Effect.gen(function* () {
        const bucket = yield* open
        yield* bucket.create("own", [1])
        yield* (yield* Publisher).publishRaw("$KV.rate-windows.broken", new TextEncoder().encode("{}"))
        assert.deepStrictEqual(yield* bucket.broken("own"), Option.none())
        assert.deepStrictEqual(yield* bucket.broken("absent"), Option.none())
        yield* bucket.remove("broken", Option.getOrThrow(yield* bucket.broken("broken")))
        assert.deepStrictEqual(yield* bucket.broken("broken"), Option.none())
        assert.deepStrictEqual(yield* bucket.get("broken"), Option.none())
      })
    )
  )
})
