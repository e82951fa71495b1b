import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { catalogueOf, sharedVoices } from "#speech"
import { planSpeech } from "../../../../services/speech-api/speaking/plan.ts"
import { voiceBody } from "../../../../services/speech-api/voices/list.ts"
import { previewOrder, previewPath } from "../../../../services/speech-api/voices/preview.ts"
import { sharedSpeakable } from "../../../../services/speech-api/voices/speakable.ts"

const options = {
  route: "/v1/audio/speech",
  accept: undefined,
  charactersMax: 256,
  textNormalization: true,
  findVoice: sharedSpeakable(catalogueOf([]))
} as const

describe("the preview of a voice", () => {
  it.each(sharedVoices.map((voice) => [voice.id, voice] as const))(
    "of %s is spoken in each of its languages",
    (id, voice) => {
      const locales = new Set(voice.models.flatMap(({ languages }) => languages))
      for (const locale of [undefined, ...locales]) {
        const order = previewOrder(voice, locale)
        assert.isDefined(order)
        const plan = Result.getOrThrow(planSpeech(order, options))
        assert.strictEqual(plan.turns[0]?.voiceId, id)
        assert.strictEqual(plan.turns[0]?.locale, locale ?? voice.locale)
      }
    }
  )

  it("has words of its own in every language of the catalogue", () => {
    const locales = new Set(sharedVoices.flatMap(({ models }) => models.flatMap(({ languages }) => languages)))
    const voices = [...locales].map((locale) => sharedVoices.find((voice) => previewOrder(voice, locale) !== undefined))
    const inputs = [...locales].map((locale, index) => {
      const voice = voices[index]
      return voice === undefined ? "" : (previewOrder(voice, locale)?.turns[0]?.input ?? "")
    })
    for (const input of inputs) assert.match(input, /\p{L}{2}/u)
    const languages = new Set([...locales].map((locale) => locale.split("-")[0]))
    assert.strictEqual(new Set(inputs).size, languages.size)
  })

  it("of a bare language is in a region of it, and of a foreign one there is none", () => {
    const henry = sharedVoices.find(({ id }) => id === "henry")
    assert.isDefined(henry)
    assert.strictEqual(previewOrder(henry, "de")?.language, "de-DE")
    assert.isUndefined(previewOrder(henry, "zh-CN"))
  })

  it("of a voice that is heard elsewhere stands in the list with that address", () => {
    const [voice] = sharedVoices
    assert.isDefined(voice)
    assert.strictEqual(voiceBody({ ...voice, preview: "https://a.example/b" }).preview_audio, "https://a.example/b")
  })

  it("stands in the list at its address", () => {
    const [voice] = sharedVoices
    assert.isDefined(voice)
    const body = voiceBody(voice)
    assert.strictEqual(body.preview_audio, previewPath(voice.id))
    for (const { languages } of body.models) {
      for (const { locale, preview_audio: address } of languages) {
        assert.strictEqual(address, `/v1/voices/${voice.id}/preview?locale=${locale}`)
      }
    }
  })
})
