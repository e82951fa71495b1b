import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { Objects } from "#bus"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { trial } from "./trial.ts"

describe("an object store", () => {
  it.live.each<readonly [what: string, bytes: number]>([
    ["nothing", 0],
    ["a few bytes", 5],
    ["a chunk to the byte", 128 * 1_024],
    ["several chunks and a bit", 3 * 128 * 1_024 + 1]
  ])("takes %s from memory at once, and gives back what came last", ([, bytes]) =>
    withBus(
      () =>
        Effect.gen(function* () {
          const objects = yield* Objects
          const name = "an answer/with a name?"
          const content = Uint8Array.from({ length: bytes }, (_, index) => index % 251)
          const small = Uint8Array.of(1, 2, 3)
          assert.isTrue(Option.isNone(yield* objects.getBytes("blobs", name)))
          for (const each of [small, content, small, content]) {
            yield* objects.putBytes("blobs", name, each)
            const found = Option.getOrThrow(yield* objects.getBytes("blobs", name))
            assert.isTrue(Buffer.from(found).equals(each))
          }
          yield* objects.putBytes("blobs", "another", small)
          assert.strictEqual(Option.getOrThrow(yield* objects.getBytes("blobs", name)).length, bytes)
        }),
      trial
    )
  )

  it.live("finds what an earlier release has stored whole, as an object", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const objects = yield* Objects
          yield* objects.put("blobs", "an answer", Stream.make(Uint8Array.of(1, 2), Uint8Array.of(3)))
          const found = Option.getOrThrow(yield* objects.getBytes("blobs", "an answer"))
          assert.deepStrictEqual([...found], [1, 2, 3])
        }),
      trial
    )
  )

  it.live("removes no bytes that were stored whole when it looks for unfinished ones", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const objects = yield* Objects
          yield* objects.putBytes("blobs", "kept", Uint8Array.of(1))
          assert.strictEqual(yield* objects.removeUnfinished("blobs", -1_000), 0)
          assert.isTrue(Option.isSome(yield* objects.getBytes("blobs", "kept")))
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
