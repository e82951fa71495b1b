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
  ])("takes %s from memory at once, and reads it as any other object", ([, bytes]) =>
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
