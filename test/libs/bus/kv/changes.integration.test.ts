import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Option, Schema, Stream } from "effect"
import { Kv, Nats, topology, type Topology } from "#bus"
import { lineLogger } from "#runtime"
import { toHeaders } from "../../../../libs/bus/message.ts"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"

const Item = Schema.Struct({ name: Schema.String })

const wanted: Topology = {
  ...topology,
  buckets: [
    {
      name: "things",
      why: "A trial.",
      ttlMs: null,
      keyTtl: true,
      valueBytesMax: 1_024,
      leaderReads: true,
      writers: ["operator"],
      readers: ["operator"]
    }
  ]
}

const trial = <A, E>(test: Effect.Effect<A, E, Kv | Nats>) => withBus(() => test, wanted)
const things = Effect.flatMap(Kv, ({ open }) => open("things", Item))

const put = Effect.fnUntraced(function* (count: number, prefix: string) {
  const bucket = yield* things
  yield* Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) => bucket.create(`${prefix}.${index}`, { name: `${prefix} ${index}` }),
    { concurrency: 16, discard: true }
  )
})

const keysIn = (keys: string) =>
  Effect.gen(function* () {
    const found = yield* Stream.runCollect((yield* things).scan(keys))
    for (const { key, value } of found) assert.strictEqual(value.name, key.replace(".", " "))
    return found.map(({ key }) => key)
  })

describe("a scan", () => {
  // Few are read one by one, many through a consumer.
  it.live.each([0, 1, 5, 32, 33, 200])("finds %i entries with matching keys, once each, and no others", (count) =>
    trial(
      Effect.gen(function* () {
        yield* put(3, "other")
        yield* put(count, "own")
        const wantedKeys = Array.from({ length: count }, (_, index) => `own.${index}`)
        assert.sameMembers([...(yield* keysIn("own.>"))], wantedKeys)
        assert.strictEqual((yield* keysIn(">")).length, count + 3)
        assert.deepStrictEqual(yield* keysIn("nobody.>"), [])
      })
    )
  )

  it.live("skips removed and erased entries, and those that break the schema", () =>
    trial(
      Effect.gen(function* () {
        const bucket = yield* things
        yield* put(3, "own")
        const revisionOf = (key: string) => Effect.map(bucket.get(key), (entry) => Option.getOrThrow(entry).revision)
        yield* bucket.remove("own.0", yield* revisionOf("own.0"))
        yield* bucket.erase("own.1", yield* revisionOf("own.1"))
        const nats = yield* Nats
        yield* nats.use("break a value", ({ jetstream }) => jetstream.publish("$KV.things.own.broken", '{"name": 7}'))
        for (const keys of ["own.>", ">"]) assert.deepStrictEqual(yield* keysIn(keys), ["own.2"])
        assert.isTrue(Option.isNone(yield* bucket.get("own.1")))
        yield* bucket.create("own.1", { name: "own 1" })
        assert.sameMembers([...(yield* keysIn("own.>"))], ["own.1", "own.2"])
      })
    )
  )

  it.live("yields the thread while it continues", () =>
    trial(
      Effect.gen(function* () {
        yield* put(1_000, "own")
        let turn = 0
        const turning = Effect.forever(
          Effect.andThen(
            Effect.sync(() => (turn += 1)),
            Effect.yieldNow
          )
        )
        const turns = yield* Effect.forkChild(turning)
        const entriesOf = new Map<number, number>()
        const count = Effect.sync(() => void entriesOf.set(turn, (entriesOf.get(turn) ?? 0) + 1))
        yield* Stream.runForEach((yield* things).scan(">"), () => count)
        yield* Fiber.interrupt(turns)
        assert.strictEqual(
          [...entriesOf.values()].reduce((sum, one) => sum + one, 0),
          1_000
        )
        assert.isAtMost(Math.max(...entriesOf.values()), 64)
      })
    )
  )

  it.live("erases only entries that have not changed since they were read", () =>
    trial(
      Effect.gen(function* () {
        const bucket = yield* things
        const first = yield* bucket.create("own.0", { name: "own 0" })
        const second = yield* bucket.update("own.0", { name: "own 0" }, first)
        const refused = yield* Effect.flip(bucket.erase("own.0", first))
        assert.strictEqual(refused._tag, "RevisionConflict")
        yield* bucket.erase("own.0", second)
        assert.deepStrictEqual(yield* keysIn("own.>"), [])
      })
    )
  )
})

describe("changes in runs", () => {
  it.live("have only the last change of a key, in its place", () =>
    trial(
      Effect.gen(function* () {
        const bucket = yield* things
        const first = yield* bucket.create("own.0", { name: "first" })
        yield* bucket.create("own.1", { name: "other" })
        const last = yield* bucket.update("own.0", { name: "last" }, first)
        const names: Array<ReadonlyArray<string>> = []
        const runs = bucket.changesInBatches(first, { messagesMax: 8, withinMs: 1_000 })
        const following = Stream.runForEach(runs, (run) =>
          Effect.sync(() => names.push(run.map(({ entry }) => Option.getOrThrow(entry).value.name)))
        )
        yield* Effect.forkChild(following, { startImmediately: true })
        yield* eventually(() => names.length, { is: 1 })
        const again = yield* bucket.update("own.0", { name: "again" }, last)
        yield* bucket.update("own.0", { name: "at last" }, again)
        yield* eventually(() => names.length, { is: 2 })
        assert.deepStrictEqual(names, [["other", "last"], ["at last"]])
      })
    )
  )

  it.live("take the marker of a removed key for nothing else, also where it has bytes, as a trial's has", () =>
    trial(
      Effect.gen(function* () {
        const bucket = yield* things
        const nats = yield* Nats
        const headers = toHeaders([["KV-Operation", "DEL"]])
        yield* nats.write("try", { subject: "$KV.things.trial-operator", data: new Uint8Array(512), headers })
        yield* bucket.create("own.0", { name: "own 0" })
        const lines: Array<string> = []
        const changes = yield* bucket.changes.pipe(
          Stream.take(2),
          Stream.runCollect,
          Effect.provide(Logger.layer([lineLogger("json", (line) => void lines.push(line))]))
        )
        assert.deepStrictEqual(
          changes.map(({ key, entry }) => [key, Option.isSome(entry)]),
          [
            ["trial-operator", false],
            ["own.0", true]
          ]
        )
        assert.deepStrictEqual(lines, [])
      })
    )
  )

  it.live("come through in little time however many there are, and rest only when nothing is left", () =>
    trial(
      Effect.gen(function* () {
        const bucket = yield* things
        yield* put(2_000, "own")
        const [seen, later] = [new Set<string>(), [] as Array<string>]
        const restMs = 3_000
        const began = performance.now()
        const runs = bucket.changesInBatches(1, { messagesMax: 256, withinMs: 1, restMs })
        const following = Stream.runForEach(runs, (run) =>
          Effect.sync(() => {
            for (const { key, entry } of run) {
              const { name } = Option.getOrThrow(entry).value
              if (name === key.replace(".", " ")) seen.add(key)
              else later.push(name)
            }
          })
        )
        yield* Effect.forkChild(following, { startImmediately: true })
        yield* eventually(() => seen.size, { is: 2_000 })
        // Without a rest between the pulls: there are eight.
        assert.isBelow(performance.now() - began, 2 * restMs)
        let revision = Option.getOrThrow(yield* bucket.get("own.7")).revision
        for (let time = 1; time <= 600; time += 1)
          revision = yield* bucket.update("own.7", { name: `${time}` }, revision)
        yield* eventually(() => later.at(-1), { is: "600" })
        // Of those that were replaced during a rest none was sent.
        assert.isBelow(later.length, 600)
      })
    )
  )
})
