import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { Kv } from "#bus"
import { ClonedVoices } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { VoiceRecord } from "../../../../services/speech-api/voices/records.ts"
import { VoiceRemoval } from "../../../../services/speech-api/voices/VoiceRemoval.ts"
import { address, completed, ids, reserved, stored, voicesMax } from "./voice-storage.ts"

describe("the voices of a workspace", () => {
  it.live("are its own: another workspace neither lists, finds nor removes them", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        yield* completed(yield* reserved("one"))
        yield* completed(yield* reserved("two", "acme.subsidiary"))
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
        assert.deepStrictEqual(yield* ids("acme.subsidiary"), ["two"])
        assert.isTrue(Option.isSome(yield* voices.find("acme", "one")))
        for (const [workspace, id] of [
          ["acme.subsidiary", "one"],
          ["acme", "two"],
          ["acme", "*"],
          [">", "one"],
          ["acme", "nobody"],
          ["acme", "\uD83D"],
          ["acme", "x".repeat(600)]
        ] as const) {
          assert.isTrue(Option.isNone(yield* voices.find(workspace, id)), `${workspace} ${id}`)
          assert.isFalse(yield* voices.retire(address(id, workspace)), `${workspace} ${id}`)
        }
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
      })
    )
  )

  it.live("are invisible before they are ready, and once they are deleted", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        const reservation = yield* reserved("one")
        assert.deepStrictEqual(yield* ids("acme"), [])
        assert.isFalse(yield* voices.retire(address("one")))
        yield* completed(reservation)
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
        assert.isTrue(yield* voices.retire(address("one")))
        assert.deepStrictEqual(yield* ids("acme"), [])
        assert.isFalse(yield* voices.retire(address("one")), "deleted twice")
        assert.strictEqual((yield* Effect.exit(reserved("one")))._tag, "Failure", "reserved while it leaves")
        yield* voices.erase(address("one"))
        yield* completed(yield* reserved("one"))
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
      })
    )
  )

  it.live("never exceed their maximum, however many are created at once", () =>
    stored(
      Effect.gen(function* () {
        const makeOne = (id: number) =>
          Effect.flatMap(reserved(`voice-${id}`), completed).pipe(
            Effect.as("made"),
            Effect.catchTag("TooManyVoices", () => Effect.succeed("too many"))
          )
        const outcomes = yield* Effect.all(
          Array.from({ length: 12 }, (_, id) => makeOne(id)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(outcomes.filter((outcome) => outcome === "made").length, voicesMax)
        const [first = ""] = yield* ids("acme")
        assert.strictEqual((yield* ids("acme")).length, voicesMax)

        yield* (yield* VoiceRemoval).remove(address(first))
        assert.strictEqual(yield* makeOne(99), "made")
        assert.strictEqual(yield* makeOne(100), "too many")
        // A refused create left nothing behind.
        const bucket = yield* (yield* Kv).open("voices", VoiceRecord)
        assert.strictEqual((yield* Stream.runCollect(bucket.scan(">"))).length, voicesMax)
      })
    )
  )

  it.live("are returned unchanged to a repeated create", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        const cutOff = yield* reserved("one")
        const again = yield* reserved("one")
        assert.strictEqual((yield* Effect.exit(completed(cutOff)))._tag, "Failure", "the first is fenced off")
        yield* (yield* VoiceRemoval).giveUp(cutOff)
        const voice = yield* completed(again)
        assert.deepStrictEqual(yield* voices.reserve(address("one")), voice)
      })
    )
  )
})
