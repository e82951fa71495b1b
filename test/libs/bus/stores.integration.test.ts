import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Ref, Stream } from "effect"
import { Kv, Leases, Objects } from "#bus"
import { eventually, withBus } from "../../support/bus.ts"
import { Note, trial } from "./trial.ts"

describe("a bucket", () => {
  it.live("changes only by compare-and-set, and tells its changes", () =>
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
          assert.strictEqual((yield* Effect.flip(bucket.create("a", { text: "other" })))._tag, "RevisionConflict")
          const second = yield* bucket.update("a", { text: "two" }, first)
          assert.strictEqual((yield* Effect.flip(bucket.update("a", { text: "x" }, first)))._tag, "RevisionConflict")
          assert.deepStrictEqual(Option.getOrThrow(yield* bucket.get("a")), {
            key: "a",
            value: { text: "two" },
            revision: second
          })
          yield* bucket.remove("a", second)
          assert.isTrue(Option.isNone(yield* bucket.get("a")))
          assert.deepStrictEqual(yield* bucket.entries, [])
          yield* eventually(Effect.map(Ref.get(changes), (all) => all.at(-1) === "-"))
          assert.includeMembers([...(yield* Ref.get(changes))], ["two", "-"])
        }),
      trial
    )
  )
})

describe("a lease", () => {
  it.live("has one holder, and passes on within seconds when the holder is gone", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const leases = yield* Leases
          const holders = yield* Ref.make<ReadonlyArray<string>>([])
          const hold = (holder: string) =>
            leases.whileHeld(
              { key: "job", holder },
              Effect.andThen(
                Ref.update(holders, (all) => [...all, holder]),
                Effect.never
              )
            )
          const first = yield* Effect.forkChild(hold("first"))
          yield* eventually(Effect.map(Ref.get(holders), (all) => all.length === 1))
          const second = yield* Effect.forkChild(hold("second"))
          yield* Effect.sleep("4 seconds")
          assert.deepStrictEqual(yield* Ref.get(holders), ["first"])
          yield* Fiber.interrupt(first)
          yield* eventually(Effect.map(Ref.get(holders), (all) => all.at(-1) === "second"))
          yield* Fiber.interrupt(second)
        }),
      trial
    )
  )
})

describe("an object store", () => {
  it.live.each<readonly [what: string, bytes: number]>([
    ["nothing", 0],
    ["a few bytes", 5],
    ["a chunk to the byte", 128 * 1_024],
    ["several chunks and a bit", 3 * 128 * 1_024 + 1]
  ])("takes %s that is in memory in one go, and gives it as any other object", ([, bytes]) =>
    withBus(
      () =>
        Effect.gen(function* () {
          const objects = yield* Objects
          const name = "an answer/with a name?"
          const content = Uint8Array.from({ length: bytes }, (_, index) => index % 251)
          const older = yield* objects.putWhole("blobs", name, Uint8Array.of(1, 2, 3))
          const stored = yield* objects.putWhole("blobs", name, content)
          assert.notStrictEqual(stored.digest, older.digest)
          assert.deepStrictEqual(Option.getOrThrow(yield* objects.info("blobs", name)), stored)
          const parts = yield* Stream.runCollect(objects.get("blobs", name))
          assert.isTrue(Buffer.concat(parts).equals(content))
        }),
      trial
    )
  )

  it.live("takes and gives large objects in pieces", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const objects = yield* Objects
          const piece = new Uint8Array(100_000).fill(7)
          const stored = yield* objects.put(
            "blobs",
            "large",
            Stream.fromIterable(Array.from({ length: 30 }, () => piece))
          )
          assert.strictEqual(stored.bytes, 3_000_000)
          const back = yield* Stream.runFold(
            objects.get("blobs", "large"),
            () => 0,
            (sum, chunk) => sum + chunk.length
          )
          assert.strictEqual(back, 3_000_000)
          yield* objects.remove("blobs", "large")
          assert.isTrue(Option.isNone(yield* objects.info("blobs", "large")))
          assert.strictEqual((yield* Effect.flip(Stream.runDrain(objects.get("blobs", "large"))))._tag, "BusNotFound")
        }),
      trial
    )
  )
})
