import { Result } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { audioFormats } from "#audio"
import { speechModels } from "#contracts"
import { engineVoice, sharedVoices, voiceById } from "#speech"
import { speakableClone } from "../../../services/speech-api/cloned-voice-views.ts"
import { type Order, planSpeech, type SpeechPlan, type SpeechRoute } from "../../../services/speech-api/plan.ts"
import { clonedVoice } from "./voices/records.ts"

const speech = "/v1/audio/speech"
const stream = "/v1/audio/stream"
const timestamps = "/v1/audio/stream/with-timestamps"
const dialogue = "/v1/audio/dialogue"

const hello: Order = { turns: [{ input: "Hello.", voice_id: "henry" }] }

const plan = (order: Partial<Order>, route: SpeechRoute = speech, accept?: string) =>
  planSpeech({ ...hello, ...order }, route, accept, 20_000)
const planned = (...given: Parameters<typeof plan>): SpeechPlan => Result.getOrThrow(plan(...given))
const refused = (...given: Parameters<typeof plan>) => {
  const result = plan(...given)
  if (Result.isSuccess(result)) throw new Error("it was planned")
  return result.failure
}
const spokenBy = (voice_id: string): Order => ({ turns: [{ input: "Hello.", voice_id }] })

describe("the model", () => {
  it.each([
    [undefined, speech, "tts-3.0"],
    [undefined, stream, "tts-3.0"],
    [undefined, timestamps, "tts-3.0"],
    [undefined, dialogue, "tts-dialogue-1.0"],
    ["tts-3.2", timestamps, "tts-3.2"],
    ["simba-3.0", timestamps, "tts-3.0"],
    ["simba-3.2", stream, "tts-3.2"],
    ["simba-base", stream, "tts-english"],
    ["simba-turbo", speech, "tts-english"],
    ["simba-english", speech, "tts-english"],
    ["simba-multilingual", stream, "tts-multilingual"],
    ["simba-dialogue-1.0", dialogue, "tts-dialogue-1.0"]
  ] as const)("%s on %s is %s", (model, route, id) => {
    assert.strictEqual(planned(model === undefined ? {} : { model }, route).model.id, id)
  })

  it.each([
    ["tts-4.0", speech, "validation_failed"],
    ["constructor", speech, "validation_failed"],
    ["TTS-3.0", speech, "validation_failed"],
    ["tts-english", timestamps, "speech_marks_unsupported"],
    ["simba-multilingual", timestamps, "speech_marks_unsupported"],
    ["tts-dialogue-1.0", speech, "validation_failed"],
    ["tts-dialogue-1.0", timestamps, "validation_failed"],
    ["tts-3.0", dialogue, "validation_failed"]
  ] as const)("%s on %s is refused with %s", (model, route, code) => {
    const { status, code: found } = refused({ model }, route)
    assert.deepStrictEqual({ status, found }, { status: 400, found: code })
  })
})

describe("the format", () => {
  it.each([
    [undefined, "wav_24000"],
    ["wav", "wav_24000"],
    ["mp3", "mp3_24000_64"],
    ["ogg", "ogg_24000"],
    ["aac", "aac_24000"],
    ["pcm", "pcm_24000"]
  ] as const)("of a whole answer with audio_format %s is %s, whatever it accepts", (audio_format, name) => {
    const order = audio_format === undefined ? {} : { audio_format }
    assert.strictEqual(planned(order, speech, "audio/aac").format.name, name)
    assert.strictEqual(planned(order, dialogue, "image/png").format.name, name)
    assert.strictEqual(planned({ ...order, output_format: "pcm_8000" }).format.name, "pcm_8000")
  })

  it.each([
    [undefined, "mp3_24000_64"],
    ["", "mp3_24000_64"],
    ["*/*", "mp3_24000_64"],
    ["audio/*", "mp3_24000_64"],
    ["audio/mpeg", "mp3_24000_64"],
    ["AUDIO/MPEG", "mp3_24000_64"],
    ["audio/ogg", "ogg_24000"],
    ["audio/aac", "aac_24000"],
    ["audio/pcm", "pcm_24000"],
    ["audio/L16; rate=24000", "pcm_24000"],
    ["audio/basic", "ulaw_8000"],
    ["audio/wav, audio/ogg", "ogg_24000"],
    ["audio/mpeg;q=0.2, audio/aac;q=0.9", "aac_24000"],
    ["audio/ogg, audio/aac", "ogg_24000"],
    ["audio/ogg;q=0, */*;q=0.1", "mp3_24000_64"]
  ])("of a stream that accepts %s is %s", (accept, name) => {
    for (const route of [stream, timestamps] as const) {
      assert.strictEqual(planned({}, route, accept).format.name, name)
      assert.strictEqual(planned({ output_format: "ulaw_8000" }, route, accept).format.name, "ulaw_8000")
    }
  })

  it.each(["audio/wav", "application/json", "audio/mpeg;q=0", "text/event-stream"])(
    "is not found for a stream that accepts only %s",
    (accept) => {
      const { status, code } = refused({}, stream, accept)
      assert.deepStrictEqual({ status, code }, { status: 400, code: "bad_request" })
    }
  )

  it("is any in the table, on a stream any but wav", () => {
    for (const { name, isStreamable } of audioFormats) {
      assert.strictEqual(planned({ output_format: name }).format.name, name)
      const onStream = plan({ output_format: name }, stream)
      assert.strictEqual(Result.isSuccess(onStream), isStreamable, name)
    }
    assert.property(refused({ output_format: "wav_48000" }, stream).fields, "output_format")
    assert.property(refused({ output_format: "mp3" }).fields, "output_format")
  })

  it("has 160 kbit/s and more only with the models of version 3", () => {
    for (const { name, bitrateKbps } of audioFormats) {
      const isFine = (bitrateKbps ?? 0) < 160
      assert.strictEqual(Result.isSuccess(plan({ output_format: name, model: "tts-english" })), isFine, name)
      assert.isTrue(Result.isSuccess(plan({ output_format: name, model: "tts-3.2" })), name)
    }
  })
})

describe("the voice and its language", () => {
  it.each([
    ["henry", "tts-3.0", undefined, "en-US"],
    ["oliver", "tts-3.0", undefined, "en-GB"],
    ["oliver", "tts-3.2", "en", "en-GB"],
    ["henry", "tts-3.2", "en-GB", "en-GB"],
    ["henry", "tts-3.0", "de", "de-DE"],
    ["henry", "tts-3.0", "DE-de", "de-DE"],
    ["jonas", "tts-3.0", undefined, "de-DE"],
    ["jonas", "tts-multilingual", "es-MX", "es-MX"],
    ["daan", "tts-multilingual", undefined, "nl-NL"],
    ["daan", "tts-multilingual", "nl-NL", "nl-NL"],
    ["kal", "tts-3.0", "en-US", "en-US"]
  ])("%s with %s and language %s speaks %s", (voice, model, language, locale) => {
    const { turns } = planned({ ...spokenBy(voice), model, ...(language === undefined ? {} : { language }) })
    assert.deepInclude(turns[0], { voiceId: voice, input: "Hello.", locale })
    assert.strictEqual(turns.length, 1)
    const spoken = voiceById(voice)
    assert.deepStrictEqual(turns[0]?.voice, spoken && engineVoice(spoken, locale))
  })

  it.each([
    ["jonas", "tts-3.2", undefined, "voice_id"],
    ["jonas", "tts-3.2", "en-US", "voice_id"],
    ["henry", "tts-3.2", "de-DE", "language"],
    ["henry", "tts-english", "fr", "language"],
    ["henry", "tts-3.0", "ja-JP", "language"],
    ["henry", "tts-multilingual", "nl-NL", "language"],
    ["daan", "tts-3.0", undefined, "voice_id"],
    ["daan", "tts-multilingual", "en-US", "language"],
    ["kal", "tts-3.0", "de-DE", "language"]
  ])("%s with %s and language %s is refused for its %s", (voice, model, language, field) => {
    const error = refused({ ...spokenBy(voice), model, ...(language === undefined ? {} : { language }) })
    assert.strictEqual(error.status, 400)
    assert.strictEqual(error.code, "validation_failed")
    assert.deepStrictEqual(Object.keys(error.fields ?? {}), [field])
  })

  it.each(["nobody", "Henry", "v/1", "__proto__"])("%s is no voice", (voice) => {
    const { status, code } = refused(spokenBy(voice))
    assert.deepStrictEqual({ status, code }, { status: 404, code: "voice_not_found" })
  })

  it("can be asked for by every locale that a voice lists with a model", () => {
    for (const { id, models } of sharedVoices) {
      for (const { name, languages } of models) {
        const route = speechModels.find((model) => model.id === name)?.isDialogue === true ? dialogue : speech
        for (const language of languages) {
          assert.strictEqual(planned({ ...spokenBy(id), model: name, language }, route).turns[0]?.locale, language)
        }
      }
    }
  })
})

describe("the input", () => {
  const long = (units: number): Order => ({ turns: [{ input: "x".repeat(units), voice_id: "henry" }] })

  it("may be as long as the route takes, in UTF-16 units", () => {
    assert.strictEqual(Result.getOrThrow(planSpeech(long(2_000), speech, undefined, 2_000)).billableCharacters, 2_000)
    const result = planSpeech(long(2_001), speech, undefined, 2_000)
    if (Result.isSuccess(result)) throw new Error("it was planned")
    assert.strictEqual(result.failure.status, 413)
    assert.deepStrictEqual(result.failure.details, { characters: 2_001, characters_max: 2_000 })
    assert.strictEqual(planned({ turns: [{ input: "🙂", voice_id: "henry" }] }).billableCharacters, 2)
  })

  it("of a dialogue is all its turns together, each with its own voice", () => {
    const turns = [
      { input: "Good day.", voice_id: "henry" },
      { input: "Guten Tag.", voice_id: "jonas" }
    ]
    const { billableCharacters, turns: spoken } = planned({ turns }, dialogue)
    assert.strictEqual(billableCharacters, 19)
    assert.deepStrictEqual(
      spoken.map(({ locale }) => locale),
      ["en-US", "de-DE"]
    )
    const tooLong = planSpeech({ turns }, dialogue, undefined, 18)
    assert.isTrue(Result.isFailure(tooLong))
  })

  it("is left alone unless options say otherwise", () => {
    const { textNormalization, loudnessNormalization } = planned({})
    assert.deepStrictEqual(
      { textNormalization, loudnessNormalization },
      { textNormalization: false, loudnessNormalization: false }
    )
    const options = { text_normalization: true, loudness_normalization: true }
    const asked = planned({ options })
    assert.isTrue(asked.textNormalization && asked.loudnessNormalization)
  })
})

describe("a cloned voice", () => {
  const id = "5f0c6c1e-7f43-4e43-9a3c-0a8f7be1c9d2"
  const rules = { isExpressive: false, isZeroShot: false }
  const planOf = (order: Partial<Order>, voice = clonedVoice({ id }), given = rules, route: SpeechRoute = speech) => {
    const known = speakableClone(voice, given)
    const wanted = { ...spokenBy(id), ...order }
    return planSpeech(wanted, route, undefined, 20_000, (asked) => (asked === id ? known : undefined))
  }
  const refusedFor = (...given: Parameters<typeof planOf>) => {
    const result = planOf(...given)
    if (Result.isSuccess(result)) throw new Error("it was planned")
    const { status, code, fields = {} } = result.failure
    return { status, code, fields: Object.keys(fields) }
  }

  it.each([
    ["tts-3.0", undefined, "en-GB"],
    ["tts-3.0", "de-DE", "de-DE"],
    ["tts-3.0", "en-US", "en-US"],
    ["tts-multilingual", "fr", "fr-FR"],
    ["tts-english", undefined, "en-GB"]
  ])("speaks with %s and language %s %s", (model, language, locale) => {
    const plan = Result.getOrThrow(planOf({ model, ...(language === undefined ? {} : { language }) }))
    const [turn] = plan.turns
    assert.strictEqual(turn?.voiceId, id)
    assert.strictEqual(turn?.locale, locale)
    assert.strictEqual(turn?.voice.engine, "espeak")
  })

  it("speaks in a dialogue", () => {
    assert.strictEqual(planOf({}, clonedVoice({ id }), rules, dialogue)._tag, "Success")
  })

  it("speaks with tts-3.2 where that is enabled, English as everybody", () => {
    const model = "tts-3.2"
    const expressive = { ...rules, isExpressive: true }
    assert.deepStrictEqual(refusedFor({ model }), { status: 403, code: "forbidden", fields: [] })
    assert.strictEqual(planOf({ model }, clonedVoice({ id }), expressive)._tag, "Success")
    const german = clonedVoice({ id, locale: "de-DE" })
    const notEnglish = { status: 400, code: "validation_failed", fields: ["voice_id"] }
    assert.deepStrictEqual(refusedFor({ model }, german, expressive), notEnglish)
    assert.deepStrictEqual(refusedFor({ model }, german), notEnglish)
  })

  it("does not speak what a voice of its locale does not speak", () => {
    const dutch = clonedVoice({ id, locale: "nl-NL" })
    assert.strictEqual(Result.getOrThrow(planOf({ model: "tts-multilingual" }, dutch)).turns[0]?.locale, "nl-NL")
    assert.deepStrictEqual(refusedFor({ model: "tts-3.0" }, dutch).fields, ["voice_id"])
    assert.deepStrictEqual(refusedFor({ model: "tts-3.0", language: "ja-JP" }).fields, ["language"])
  })

  it("is taken from its reference where there is a zero-shot model and a reference", () => {
    const reference = { object: "acme.voice-1.reference", text: "I agree." }
    const engineWith = (isZeroShot: boolean, given: typeof reference | null) =>
      Result.getOrThrow(planOf({}, clonedVoice({ id, reference: given }), { ...rules, isZeroShot })).turns[0]?.voice
        .engine
    assert.strictEqual(engineWith(true, reference), "zero-shot")
    assert.strictEqual(engineWith(true, null), "espeak")
    assert.strictEqual(engineWith(false, reference), "espeak")
  })
})
