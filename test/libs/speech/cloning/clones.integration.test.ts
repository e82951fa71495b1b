/** Clones of real voices: the features that a listener would name first, measured in the engines' sound. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { EngineVoice, VoiceTraits } from "#speech/contract"
import type { SpeechEngine } from "../../../../libs/speech/engine/Engine.ts"
import { embedded } from "../../../../libs/speech/engine/embedded.ts"
import { clonedEngineVoice } from "../../../../libs/speech/cloning/cloned-voice.ts"
import { resample } from "#speech/audio"
import { measureVoice } from "../../../../libs/speech/cloning/measure/measure-voice.ts"
import { heard, jobOf, metrics, piece, voiceOf } from "../engine/jobs.ts"
import { onsets, quantile } from "../engine/signal.ts"
import { spectralPitch } from "./measure/signals.ts"
import { passages } from "./texts.ts"

/** Opened once for a suite: a start of an engine takes as long as speaking a passage. */
class Engines extends Context.Service<Engines, { readonly flite: SpeechEngine; readonly espeak: SpeechEngine }>()(
  "test/Engines"
) {
  static readonly layer = Layer.effect(
    Engines,
    Effect.all({ flite: embedded.flite.open(), espeak: embedded.espeak.open() })
  ).pipe(Layer.provide(metrics))
}

const withEngines = layer(Engines.layer, { excludeTestServices: true })

const traitsOf = (pcm: Int16Array): VoiceTraits => {
  const measured = measureVoice(resample(pcm, 24_000, 16_000), 16_000)
  if (measured.kind !== "measured") throw new Error(JSON.stringify(measured))
  return measured.traits
}
const say = (engine: SpeechEngine, voice: EngineVoice, text: string, style = {}) =>
  Effect.map(heard(engine, jobOf(voice, piece(text, style))), ({ pcm }) => pcm)

const english = passages["en-US"]
const other =
  "She had your dark suit in greasy wash water all year. Please call Stella, and ask her to bring these things with " +
  "her from the store: six spoons of fresh snow peas, five thick slabs of blue cheese, and maybe a snack for Bob."

const locales = Object.keys(passages)
const pitchesHz = [70, 95, 130, 175, 230, 290, 350]

withEngines("the clone of a recorded voice", (it) => {
  it.effect.each(["awb", "kal16", "rms", "slt"])("has a pitch of %s, in English and in every other language", (name) =>
    Effect.gen(function* () {
      const { flite, espeak } = yield* Engines
      const sample = yield* say(flite, voiceOf("flite", name), other)
      const traits = traitsOf(sample)

      // Our measure of the sample is right in the first place.
      assert.closeTo(spectralPitch(sample, 24_000) / traits.medianPitchHz, 1, 0.06)
      for (const locale of locales) {
        const voice = clonedEngineVoice(traits, locale, "not_specified")
        const clone = yield* say(espeak, voice, passages[locale as keyof typeof passages])
        const of = `${name} in ${locale}`
        assert.closeTo(traitsOf(clone).medianPitchHz / traits.medianPitchHz, 1, 0.07, of)
        assert.closeTo(spectralPitch(clone, 24_000) / traits.medianPitchHz, 1, 0.1, of)
      }
    })
  )
  it.effect("is nearer to its sample's throat and pace than the engine's own voice", () =>
    Effect.gen(function* () {
      const { flite, espeak } = yield* Engines
      const own = traitsOf(yield* say(espeak, voiceOf("espeak", "en-us"), english))
      const [rms, slt] = [
        traitsOf(yield* say(flite, voiceOf("flite", "rms"), other)),
        traitsOf(yield* say(flite, voiceOf("flite", "slt"), other))
      ]
      for (const sample of [rms, slt]) {
        const clone = traitsOf(yield* say(espeak, clonedEngineVoice(sample, "en-US", "not_specified"), english))
        const far = (one: VoiceTraits, trait: "formantPercent" | "syllablesPerSecond") =>
          Math.abs(Math.log(one[trait] / sample[trait]))
        assert.isBelow(far(clone, "formantPercent"), far(own, "formantPercent") + 0.01)
        assert.isBelow(far(clone, "formantPercent"), 0.06)
        assert.isBelow(far(clone, "syllablesPerSecond"), far(own, "syllablesPerSecond"))
      }
    })
  )
})

withEngines("a voice adapted to a pitch", (it) => {
  it.effect.each(locales)("reaches it within a tenth, from 70 to 350 Hz, by both measures: %s", (locale) =>
    Effect.gen(function* () {
      const { espeak } = yield* Engines
      for (const [at, medianPitchHz] of pitchesHz.entries()) {
        // Throats from long to short, melodies from flat to lively.
        const formantPercent = [85, 100, 118][at % 3] ?? 100
        const pitchRangeSemitones = at % 2 === 0 ? 2 : 7
        const traits = {
          medianPitchHz,
          formantPercent,
          pitchRangeSemitones,
          syllablesPerSecond: 5,
          speechLevelDbfs: -20
        }
        const voice = clonedEngineVoice(traits, locale, "not_specified")
        const clone = yield* say(espeak, voice, passages[locale as keyof typeof passages])
        const of = `${medianPitchHz} Hz as ${voice.name}, formants ${voice.formantPercent}`
        assert.closeTo(traitsOf(clone).medianPitchHz / medianPitchHz, 1, 0.1, of)
        assert.closeTo(spectralPitch(clone, 24_000) / medianPitchHz, 1, 0.1, of)
      }
    })
  )
})

const adapted = (formantPercent: number, medianPitchHz: number) =>
  clonedEngineVoice(
    { medianPitchHz, formantPercent, pitchRangeSemitones: 4, syllablesPerSecond: 4.9, speechLevelDbfs: -20 },
    "en-US",
    "not_specified"
  )
const shifted = [adapted(82, 100), adapted(122, 240)]

withEngines("an adapted voice", (it) => {
  it.effect("reports word starts as exactly as its original voice", () =>
    Effect.gen(function* () {
      const { espeak } = yield* Engines
      const list = "Apple Bridge Candle Doctor Engine Flower Garden Hammer Island Jacket Kitchen Ladder Mirror Table"
      const errorsOf = Effect.fnUntraced(function* (voice: EngineVoice) {
        const errors: Array<number> = []
        for (const between of [". ", "? ", "! "]) {
          const text = `${list.split(" ").join(between)}.`
          const { pcm, words } = yield* heard(espeak, jobOf(voice, piece(text)))
          const heardAt = onsets(pcm)
          const begun = words.filter(({ position }) => /[A-Z]/u.test(text.charAt(position)))
          assert.strictEqual(begun.length, list.split(" ").length)
          for (const { sample } of begun) errors.push(Math.min(...heardAt.map((at) => Math.abs(at - sample))) / 24)
        }
        return errors
      })
      for (const voice of shifted) {
        const errors = yield* errorsOf(voice)
        const base = yield* errorsOf(voiceOf("espeak", voice.name))
        assert.isAtMost(quantile(errors, 0.5), Math.max(14, quantile(base, 0.5) + 2))
        assert.isAtMost(quantile(errors, 0.9), Math.max(50, quantile(base, 0.9) + 2))
      }
    })
  )
  it.effect("speaks its words in order, within its samples, and no slower than requested", () =>
    Effect.gen(function* () {
      const { espeak } = yield* Engines
      for (const voice of shifted) {
        const { pcm, words } = yield* heard(espeak, jobOf(voice, piece(english)))
        const plain = yield* heard(espeak, jobOf(voiceOf("espeak", voice.name), piece(english)))
        assert.isTrue(words.every(({ sample }, at) => sample >= (words[at - 1]?.sample ?? 0) && sample < pcm.length))
        assert.deepStrictEqual(
          words.map(({ position }) => position),
          plain.words.map(({ position }) => position)
        )
        assert.closeTo(((pcm.length / plain.pcm.length) * voice.ratePercent) / 100, 1, 0.06)
      }
    })
  )
  it.effect("obeys prosody on top of its own settings", () =>
    Effect.gen(function* () {
      const { espeak } = yield* Engines
      for (const voice of shifted) {
        const plain = yield* say(espeak, voice, english)
        const pitch = traitsOf(plain).medianPitchHz
        for (const pitchPercent of [85, 120]) {
          const higher = traitsOf(yield* say(espeak, voice, english, { pitchPercent })).medianPitchHz
          assert.closeTo(higher / pitch / (pitchPercent / 100), 1, 0.07, `${voice.name} ${pitchPercent}`)
        }
        for (const ratePercent of [75, 150]) {
          const faster = yield* say(espeak, voice, english, { ratePercent })
          assert.closeTo((faster.length / plain.length) * (ratePercent / 100), 1, 0.07)
        }
      }
    })
  )
  it.effect("begins and ends every chunk as softly as a shared voice, without a step in between", () =>
    Effect.gen(function* () {
      const { espeak } = yield* Engines
      for (const voice of shifted) {
        const steps = (pcm: Int16Array) =>
          Math.max(...pcm.map((sample, at) => Math.abs(sample - (pcm[at - 1] ?? sample))))
        const { pcm, frames } = yield* heard(espeak, jobOf(voice, piece("One river runs. "), piece("It runs far.")))
        assert.isAtMost(Math.abs(pcm[0] ?? 0), 250)
        assert.isAtMost(Math.abs(pcm.at(-1) ?? 0), 250)
        // Where one frame follows another nothing jumps that does not jump inside of them.
        const largest = Math.max(...frames.map((frame) => steps(frame.pcm)))
        assert.isAtMost(steps(pcm), largest * 1.01)
      }
    })
  )
})
