/** What the sequencer hands to the engines of a text in several languages, heard. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { readScript } from "../../../services/speech-sequencer/playout.ts"
import { engineVoice, otherVoices, sharedVoices, voiceById } from "#speech"
import { embedded } from "../../../libs/speech/engine/embedded.ts"
import { heard, jobOf, metrics, piece } from "../../libs/speech/engine/jobs.ts"

const speakers = { voices: sharedVoices, byId: voiceById, isSilent: () => false }

const voiceOf = (id: string) => {
  const shared = voiceById(id)
  const voice = shared === undefined ? undefined : engineVoice(shared)
  if (shared === undefined || voice === undefined) throw new Error(`no voice ${id}`)
  return { voice, locale: shared.locale }
}

const linesOf = (voiceId: string, input: string) => {
  const turn = { voiceId, ...voiceOf(voiceId), input }
  const turns = [{ ...turn, otherVoices: otherVoices(speakers, turn, 1) }]
  return Result.getOrThrow(readScript({ turns, textNormalization: false })).lines
}

const same = (left: Int16Array, right: Int16Array) =>
  Buffer.from(left.buffer, left.byteOffset, left.byteLength).equals(
    Buffer.from(right.buffer, right.byteOffset, right.byteLength)
  )

describe("a text in several languages", () => {
  it.live("is heard as a native voice speaks each part, and marked at its own words", () =>
    Effect.gen(function* () {
      const input = `<speak>The word <lang xml:lang="de-DE">Straßenbahn</lang> and Москва.</speak>`
      const lines = linesOf("selma", input)
      assert.deepStrictEqual(
        lines.map(({ voiceId, locale, chunk }) => [
          voiceId,
          locale,
          ...chunk.tokens.map(({ start, end }) => input.slice(start, end))
        ]),
        [
          ["selma", "en-US", "The", "word"],
          ["lena", "de-DE", "Straßenbahn"],
          ["selma", "en-US", "and"],
          ["irina", "ru-RU", "Москва."]
        ]
      )
      const engines = { espeak: yield* embedded.espeak.open(), flite: yield* embedded.flite.open() }
      const spoken = yield* Effect.forEach(lines, ({ voice, chunk: { pieces, goesOn } }) =>
        heard(voice.engine === "flite" ? engines.flite : engines.espeak, { voice, pieces, ...(goesOn && { goesOn }) })
      )
      const [, german, , russian] = spoken
      const native = yield* heard(engines.espeak, jobOf(voiceOf("irina").voice, piece("Москва.")))
      assert.isTrue(russian !== undefined && same(russian.pcm, native.pcm))

      const alone = yield* heard(engines.espeak, jobOf(voiceOf("lena").voice, piece("Straßenbahn")))
      const { length } = german?.pcm ?? new Int16Array(0)
      // No pause ends a word within a sentence; up to there it is the same.
      assert.isBelow(length, alone.pcm.length - 2_400)
      assert.isTrue(
        german !== undefined && same(german.pcm.slice(0, length - 2_400), alone.pcm.slice(0, length - 2_400))
      )
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("is never spelled out in the names of its letters", () =>
    Effect.gen(function* () {
      const espeak = yield* embedded.espeak.open()
      for (const word of ["Москва", "Αθήνα", "тбилиси"]) {
        const [line] = linesOf("henry", word)
        if (line === undefined) throw new Error("nothing is spoken")
        const switched = yield* heard(espeak, jobOf(line.voice, piece(word)))
        const spelled = yield* heard(espeak, jobOf(voiceOf("henry").voice, piece(word)))
        assert.isBelow(switched.pcm.length, 0.6 * spelled.pcm.length, word)
        assert.isAbove(switched.pcm.length, 12_000, word)
      }
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
})
