/**
 * The same job gives the same samples: in every voice of espeak-ng, on every thread, after itself and after any other or
 * interrupted text.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope, Stream } from "effect"
import type { EngineVoice } from "#speech/contract"
import type { Metrics } from "#runtime"
import { clonedEngineVoice, clonedLocales } from "../../../../libs/speech/cloning/cloned-voice.ts"
import type { SpeechEngine } from "../../../../libs/speech/engine/Engine.ts"
import { embedded } from "../../../../libs/speech/engine/embedded.ts"
import { sharedVoices } from "../../../../libs/speech/voices.ts"
import { heard, jobOf, metrics, piece } from "./jobs.ts"

const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope | Metrics>) =>
  effect.pipe(Effect.scoped, Effect.provide(metrics))

/** Rolled, stopped and nasal sounds, numbers, and two sentences. */
const texts: Readonly<Record<string, string>> = {
  en: "The strong harbour is quiet at 7:30 this morning. Stop, said nobody!",
  de: "Der rote Hafen ist heute früh um 7 Uhr still. Wer spricht dort, fragte niemand?",
  es: "El perro corre por la carretera a las 7. ¡Alto, dijo el señor Torres!",
  fr: "Le port est tranquille ce matin à 7 heures. Qui parle, demanda-t-on?",
  it: "Il carro corre per la terra alle 7. Chi parla, chiese nessuno?",
  pt: "O carro corre pela terra às 7 horas. Quem fala, perguntou ninguém?",
  nl: "De rode haven is vanmorgen om 7 uur stil. Wie spreekt daar?",
  pl: "Rano o 7 port jest cichy. Kto tam, zapytał nikt?",
  sv: "Den röda hamnen är tyst klockan 7. Vem talar där?",
  cs: "Řeka je ráno v 7 tichá. Kdo tam mluví?",
  tr: "Liman bu sabah saat 7'de sessiz. Kim konuşuyor?",
  ru: "Гавань сегодня утром в 7 тиха. Кто там говорит?",
  hi: "आज सुबह 7 बजे बंदरगाह शांत है। कौन बोल रहा है?",
  zh: "今天早上7点港口很安静。谁在说话？"
}

const american = clonedEngineVoice(
  { medianPitchHz: 130, formantPercent: 92, pitchRangeSemitones: 7, syllablesPerSecond: 5.6, speechLevelDbfs: -20 },
  "en-US",
  "not_specified"
)
/** The jobs that leave the most state behind: a long clause, a very fast one, a clipped one, an interrupted one. */
const between = (engine: SpeechEngine, at: number) =>
  Effect.gen(function* () {
    const [first, second] = [sharedVoices.at(-1 - (at % 30)), sharedVoices.at(-1 - ((at * 7) % 30))].map(
      (voice) => voice?.engine ?? american
    ) as [EngineVoice, EngineVoice]
    yield* heard(engine, jobOf(first, piece("7 777 777 ".repeat(at % 4 === 0 ? 40 : 2), { volumeDb: 6 })))
    yield* heard(engine, jobOf(second, piece("Texts, stop. Carro!", { ratePercent: 100 + 100 * (at % 4) })))
    yield* Stream.runDrain(
      Stream.take(engine.synthesize(jobOf(second, piece("Nobody could say from where. ".repeat(9)))), 1 + (at % 3))
    )
  })

const same = (voices: ReadonlyArray<readonly [name: string, voice: EngineVoice, text: string]>) =>
  scoped(
    Effect.gen(function* () {
      const engine = yield* embedded.espeak.open()
      const another = yield* embedded.espeak.open({ threads: 2 })
      for (const [at, [name, voice, text]] of voices.entries()) {
        const job = jobOf(voice, piece(text.slice(0, 20)), piece(text.slice(20), { pitchPercent: 110 }))
        const first = yield* heard(engine, job)
        const again = yield* heard(engine, job)
        yield* between(engine, at)
        for (const later of [again, yield* heard(engine, job), yield* heard(another, job)]) {
          assert.deepStrictEqual(later.words, first.words, name)
          assert.isTrue(Buffer.from(later.pcm.buffer).equals(Buffer.from(first.pcm.buffer)), name)
        }
      }
    })
  )

const textOf = (locale: string) => texts[locale.slice(0, 2)] ?? ""

describe("the sound of espeak", () => {
  it.live("is the same samples each time, in every voice of the catalogue", () =>
    same(
      sharedVoices
        .filter(({ engine }) => engine.engine === "espeak")
        .map(({ id, engine, locale }) => [id, engine, textOf(locale)])
    )
  )
  it.live("is the same samples each time, in a voice adapted to a sample, in every language", () =>
    same(
      clonedLocales.flatMap((locale) =>
        [88, 145, 215].map((medianPitchHz) => {
          const traits = { formantPercent: 100, pitchRangeSemitones: 4, syllablesPerSecond: 6, speechLevelDbfs: -20 }
          const voice = clonedEngineVoice({ ...traits, medianPitchHz }, locale, "not_specified")
          return [`${medianPitchHz} Hz as ${voice.name}`, voice, textOf(locale)] as const
        })
      )
    )
  )
  it.live("is the same samples in two parts, with other texts between them", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* embedded.espeak.open()
        const job = jobOf(american, piece(textOf("en-US")), piece("And then it rained.", { pitchPercent: 110 }))
        const whole = yield* heard(engine, job)
        for (const cut of [1, 3, whole.frames.length, whole.frames.length + 1]) {
          const beginning = yield* heard(engine, { ...job, frames: { to: cut } })
          yield* between(engine, cut)
          const rest = yield* heard(engine, { ...job, frames: { from: cut } })

          assert.deepStrictEqual([...beginning.frames, ...rest.frames], whole.frames, `cut at ${cut}`)
          assert.lengthOf(beginning.frames, Math.min(cut, whole.frames.length))
        }
      })
    )
  )
  it.live("is the same samples for a clause of the maximum length", () =>
    same([["long", american, "999 777 ".repeat(90)]])
  )
})
