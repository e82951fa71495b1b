/**
 * Flite's recorded people read phrases, and each recording is read back as a caller sends it; the verification is real.
 */
import { join } from "node:path"
import { Effect, Layer, Result } from "effect"
import { type Recording, RecordingIntake } from "#speech/audio"
import { type ConfigurationFile, decodeConfiguration } from "#configuration"
import { ConsentVerification, makePhrase } from "#speech/cloning"
import { anyLength, folder, metrics, speech, writeRecording } from "../../../../support/recordings.ts"

export const settings = Result.getOrThrow(decodeConfiguration({})).VoiceCloning

export const verification = (other: Partial<ConfigurationFile["VoiceCloning"]> = {}) =>
  ConsentVerification.layer({ ...settings, ...other }).pipe(Layer.provide(metrics))

const phraseAt = (start: number) => {
  let next = start
  return makePhrase((bound) => (next += 7) % bound)
}
const [requested, another] = [phraseAt(3), phraseAt(20)]

const story =
  "The harbour was quiet before sunrise. A single boat came in slowly, and the men on the pier waited with their hands in their pockets, watching the water turn from black to grey to blue. Nobody spoke until the ropes were tied."

const denial = requested.phrase.replace("I agree", "I do not agree")

const spoken = {
  phrase: ["selma", requested.phrase],
  sample: ["selma", story],
  stranger: ["roger", story],
  otherPhrase: ["selma", another.phrase],
  denial: ["selma", denial],
  noAgreement: ["selma", `It is a lovely day, and I have been asked to read. ${requested.words.join(", ")}.`],
  story: ["selma", story]
} as const

export type Recordings = Readonly<Record<keyof typeof spoken, Recording>>

export const readRecordings = Effect.gen(function* () {
  const intake = yield* RecordingIntake
  const at = yield* folder
  const names = Object.keys(spoken) as ReadonlyArray<keyof typeof spoken>
  const voices = yield* speech(names.map((name) => spoken[name]))
  const read = yield* Effect.forEach(names, (name, index) =>
    Effect.gen(function* () {
      const path = join(at, `${name}.${index % 2 === 0 ? "webm" : "m4a"}`)
      yield* writeRecording(path, voices[index] ?? new Int16Array(), index % 2 === 0 ? ["-c:a", "libopus"] : [])
      return [name, yield* intake.readRecording(path, anyLength)] as const
    })
  )
  return Object.fromEntries(read) as Recordings
}).pipe(Effect.provide(RecordingIntake.layer().pipe(Layer.provide(metrics))))

export const verify = (recording: Recording, sample: Recording) =>
  Effect.flatMap(ConsentVerification, (service) => service.verify({ words: requested.words, recording, sample }))
