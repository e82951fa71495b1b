import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { Kv } from "#bus"
import { ClonedVoices } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { VoiceRecord } from "../../../../services/speech-api/voices/records.ts"
import { VoiceRemoval } from "../../../../services/speech-api/voices/VoiceRemoval.ts"
import { filled, ids, place, stored, took, voicesMax } from "./voice-storage.ts"

describe("the voices of a workspace", () => {
  it.live("are its own: another workspace neither lists, finds nor removes them", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        yield* filled(yield* took("one"))
        yield* filled(yield* took("two", "acme.subsidiary"))
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
          assert.isFalse(yield* voices.leave(place(id, workspace)), `${workspace} ${id}`)
        }
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
      })
    )
  )

  it.live("are invisible before they are ready, and once they are deleted", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        const taken = yield* took("one")
        assert.deepStrictEqual(yield* ids("acme"), [])
        assert.isFalse(yield* voices.leave(place("one")))
        yield* filled(taken)
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
        assert.isTrue(yield* voices.leave(place("one")))
        assert.deepStrictEqual(yield* ids("acme"), [])
        assert.isFalse(yield* voices.leave(place("one")), "deleted twice")
        assert.strictEqual((yield* Effect.exit(took("one")))._tag, "Failure", "taken while it leaves")
        yield* voices.forget(place("one"))
        yield* filled(yield* took("one"))
        assert.deepStrictEqual(yield* ids("acme"), ["one"])
      })
    )
  )

  it.live("never exceed their maximum, however many are created at once", () =>
    stored(
      Effect.gen(function* () {
        const makeOne = (id: number) =>
          Effect.flatMap(took(`voice-${id}`), filled).pipe(
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

        yield* (yield* VoiceRemoval).remove(place(first))
        assert.strictEqual(yield* makeOne(99), "made")
        assert.strictEqual(yield* makeOne(100), "too many")
        // A create without a place left nothing behind.
        const bucket = yield* (yield* Kv).open("voices", VoiceRecord)
        assert.strictEqual((yield* Stream.runCollect(bucket.scan(">"))).length, voicesMax)
      })
    )
  )

  it.live("are returned unchanged to a repeated create", () =>
    stored(
      Effect.gen(function* () {
        const voices = yield* ClonedVoices
        const cutOff = yield* took("one")
        const again = yield* took("one")
        assert.strictEqual((yield* Effect.exit(filled(cutOff)))._tag, "Failure", "the first is fenced off")
        yield* (yield* VoiceRemoval).giveUp(cutOff)
        const voice = yield* filled(again)
        assert.deepStrictEqual(yield* voices.take(place("one")), voice)
      })
    )
  )
})
