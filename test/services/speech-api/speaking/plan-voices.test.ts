import { Result } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { speechModels } from "#speech/contract"
import { engineVoice, sharedVoices, voiceById } from "#speech"
import { catalogueOf, usableOf } from "../../../../libs/speech/catalogue.ts"
import { type FindVoice, sharedSpeakable, speakableClone } from "../../../../services/speech-api/voices/speakable.ts"
import { type Order, planSpeech, type SpeechRoute } from "../../../../services/speech-api/speaking/plan.ts"
import { dialogue, planDelivered, planned, refused, speech, spokenBy, stream, timestamps } from "./planned-orders.ts"
import { clonedVoice } from "../voices/records.ts"

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

  it.each(["nobody", "Henry", "v/1", "__proto__"])("%s does not exist", (voice) => {
    const { status, code } = refused(spokenBy(voice))
    assert.deepStrictEqual({ status, code }, { status: 404, code: "voice_not_found" })
  })

  it("is refused for a while when no engine can speak with it", () => {
    const findVoice: FindVoice = (id) =>
      sharedSpeakable(usableOf(catalogueOf([]), new Set(id === "selma" ? ["flite"] : [])))(id)
    const options = {
      route: speech as SpeechRoute,
      accept: "*/*",
      charactersMax: 2_000,
      textNormalization: true,
      findVoice
    }
    const silent = planSpeech(spokenBy("selma"), options)
    assert.isTrue(Result.isFailure(silent))
    if (Result.isFailure(silent)) {
      assert.deepInclude(silent.failure, { status: 503, code: "service_unavailable" })
      assert.match(silent.failure.message, /the voice selma cannot speak at present/u)
    }
    assert.isTrue(Result.isSuccess(planSpeech(spokenBy("henry"), options)))
  })

  it("can be requested by every locale that a voice lists with a model", () => {
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

describe("a voice that takes longer to speak than to be heard", () => {
  it.each([
    [speech, "whole"],
    [speech, "either"],
    [dialogue, "whole"],
    [stream, "whole"],
    [stream, "either"],
    [timestamps, "whole"]
  ] as const)("speaks on %s what is taken as %s, and nobody plays it as it comes", (route, delivery) => {
    const plan = Result.getOrThrow(planDelivered(spokenBy("slow"), route, delivery))
    assert.deepInclude(plan, { isPlayed: false, isBackground: true })
    const fast = Result.getOrThrow(planDelivered(spokenBy("henry"), route, delivery))
    assert.strictEqual(fast.isPlayed, delivery === "either")
    assert.isUndefined(fast.isBackground)
  })

  it.each([speech, stream, timestamps, dialogue] as const)(
    "is refused on %s for what is played as it comes",
    (route) => {
      const { status, code, message } = Result.getOrThrow(
        Result.flip(planDelivered(spokenBy("slow"), route, "streamed"))
      )
      assert.deepStrictEqual({ status, code }, { status: 400, code: "voice_not_real_time" })
      assert.match(
        message,
        /^the voice slow .*\/v1\/audio\/speech, \/v1\/audio\/dialogue and \/v1\/audio\/captions .*\/v1\/audio\/jobs/u
      )
    }
  )

  it("is refused on the streams of our own, and on those alone", () => {
    assert.deepStrictEqual(
      ([stream, timestamps] as const).map((route) => refused(spokenBy("slow"), route, "audio/mpeg").code),
      ["voice_not_real_time", "voice_not_real_time"]
    )
    assert.isFalse(planned(spokenBy("slow"), speech).isPlayed)
    assert.isFalse(planned(spokenBy("slow"), dialogue).isPlayed)
  })

  it("has a whole dialogue wait for it", () => {
    const turns = ["henry", "slow"].map((voice_id) => ({ input: "Hello.", voice_id }))
    assert.isFalse(Result.getOrThrow(planDelivered({ turns }, dialogue, "either")).isPlayed)
  })
})

describe("a cloned voice", () => {
  const id = "5f0c6c1e-7f43-4e43-9a3c-0a8f7be1c9d2"
  const rules = { isExpressive: false, isZeroShot: false }
  const planOf = (order: Partial<Order>, voice = clonedVoice({ id }), given = rules, route: SpeechRoute = speech) => {
    const known = speakableClone(voice, given)
    const wanted = { ...spokenBy(id), ...order }
    return planSpeech(wanted, {
      route,
      accept: undefined,
      charactersMax: 20_000,
      textNormalization: true,
      findVoice: (asked) => (asked === id ? known : undefined)
    })
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

  it("speaks with tts-3.2 where that is enabled, in English like all", () => {
    const model = "tts-3.2"
    const expressive = { ...rules, isExpressive: true }
    assert.deepStrictEqual(refusedFor({ model }), { status: 403, code: "forbidden", fields: [] })
    assert.strictEqual(planOf({ model }, clonedVoice({ id }), expressive)._tag, "Success")
    const german = clonedVoice({ id, locale: "de-DE" })
    const notEnglish = { status: 400, code: "validation_failed", fields: ["voice_id"] }
    assert.deepStrictEqual(refusedFor({ model }, german, expressive), notEnglish)
    assert.deepStrictEqual(refusedFor({ model }, german), notEnglish)
  })

  it("does not speak a language outside its locale's voices", () => {
    const dutch = clonedVoice({ id, locale: "nl-NL" })
    assert.strictEqual(Result.getOrThrow(planOf({ model: "tts-multilingual" }, dutch)).turns[0]?.locale, "nl-NL")
    assert.deepStrictEqual(refusedFor({ model: "tts-3.0" }, dutch).fields, ["voice_id"])
    assert.deepStrictEqual(refusedFor({ model: "tts-3.0", language: "ja-JP" }).fields, ["language"])
  })

  it("uses its reference when a zero-shot model and a reference exist", () => {
    const reference = { object: "acme.voice-1.reference", text: "I agree." }
    const engineWith = (isZeroShot: boolean, given: typeof reference | null) =>
      Result.getOrThrow(planOf({}, clonedVoice({ id, reference: given }), { ...rules, isZeroShot })).turns[0]?.voice
        .engine
    assert.strictEqual(engineWith(true, reference), "zero-shot")
    assert.strictEqual(engineWith(true, null), "espeak")
    assert.strictEqual(engineWith(false, reference), "espeak")
  })
})
