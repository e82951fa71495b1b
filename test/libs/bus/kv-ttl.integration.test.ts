import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { Kv } from "#bus"
import { eventually, withBus } from "../../support/bus.ts"
import { pause } from "../http/api.ts"

const open = Effect.flatMap(Kv, (kv) => kv.open("rate-windows", Schema.Array(Schema.Int)))

describe("a key with a time to live", () => {
  it.live("goes by itself, lives on when it is written again, and can be made anew afterwards", () =>
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

        yield* eventually(isGone("short"))
        yield* pause(500)
        assert.deepStrictEqual([yield* isGone("kept"), yield* isGone("renewed")], [false, false])
        assert.strictEqual((yield* Effect.flip(bucket.update("short", [2], revision, 3_000)))._tag, "RevisionConflict")
        yield* bucket.create("short", [3], 60_000)
        assert.deepStrictEqual(Option.getOrThrow(yield* bucket.get("short")).value, [3])
      })
    )
  )

  it.live("can be made where one was removed", () =>
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
