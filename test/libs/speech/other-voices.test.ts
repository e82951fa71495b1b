import { assert, describe, it } from "@effect/vitest"
import { otherVoices } from "../../../libs/speech/other-voices.ts"
import { engineVoice, espeakLanguages, espeakReaders, sharedVoices, voiceById } from "../../../libs/speech/voices.ts"

const speakers: Parameters<typeof otherVoices>[0] = { voices: sharedVoices, byId: voiceById, isSilent: () => false }

const turnOf = (voiceId: string, input: string) => {
  const shared = voiceById(voiceId)
  const voice = shared === undefined ? undefined : engineVoice(shared)
  if (shared === undefined || voice === undefined) throw new Error(voiceId)
  return { voiceId, voice, input, locale: shared.locale }
}
const chosen = (voiceId: string, input: string, among = speakers) =>
  otherVoices(among, turnOf(voiceId, input), 1).map(({ language, voiceId, voice, locale }) => [
    language,
    voiceId,
    voice.name,
    locale
  ])
const lang = (language: string) => `<speak><lang xml:lang='${language}'>x</lang></speak>`

describe("the voices of other languages", () => {
  it.each([
    ["nora", "Hello", []],
    ["nora", "Hello Москва", [["und-Cyrl", "nora", "ru+f2", "ru-RU"]]],
    [
      "nora",
      "Αθήνα 東京",
      [
        ["und-Grek", "nora", "el+f2", "el-GR"],
        ["und-Hani", "nora", "cmn+f2", "zh-CN"]
      ]
    ],
    ["selma", "Москва", [["und-Cyrl", "irina", "ru+f2", "ru-RU"]]],
    ["roger", "Москва", [["und-Cyrl", "dmitri", "ru", "ru-RU"]]],
    ["selma", "서울", [["und-Hang", "nora", "ko+f2", "ko-KR"]]],
    ["dmitri", "Москва", []],
    ["selma", lang("de-DE"), [["de-DE", "lena", "de+f2", "de-DE"]]],
    ["roger", lang("de"), [["de", "jonas", "de", "de-DE"]]],
    ["roger", lang("de-AT"), [["de-AT", "jonas", "de", "de-DE"]]],
    ["lena", lang("de"), [["de", "lena", "de+f2", "de-DE"]]],
    ["lena", lang("DE-de"), [["DE-de", "lena", "de+f2", "de-DE"]]],
    ["arthur", lang("en-US"), [["en-US", "arthur", "en-us+m7", "en-US"]]],
    ["arthur", lang("en-AU"), [["en-AU", "arthur", "en+m7", "en-GB"]]],
    ["selma", lang("en-GB"), [["en-GB", "emma", "en+f2", "en-GB"]]],
    ["selma", lang("el"), [["el", "nora", "el+f2", "el-GR"]]],
    ["roger", lang("pt-PT"), [["pt-PT", "rafael", "pt-br", "pt-BR"]]],
    ["henry", lang("pt-PT"), [["pt-PT", "henry", "pt", "pt-PT"]]],
    ["roger", lang("de").replaceAll(/(?<=<\/?)(?=\w)/gu, "v:"), [["de", "jonas", "de", "de-DE"]]],
    ["selma", lang("tlh"), []],
    ["selma", `text <lang xml:lang="de">`, []]
  ])("of %s in %s are %j", (voiceId, input, expected) => {
    assert.deepStrictEqual(chosen(voiceId, input), expected)
  })

  it("are never those that no engine can speak with", () => {
    const isSilent = ({ engine }: { readonly engine: { readonly name: string } }) => engine.name === "ru+f2"
    assert.deepStrictEqual(chosen("selma", "Москва", { ...speakers, isSilent }), [
      ["und-Cyrl", "dmitri", "ru", "ru-RU"]
    ])
    assert.deepStrictEqual(chosen("selma", "Москва", { ...speakers, isSilent: () => true }), [])
  })

  it("speak at the speed of the request", () => {
    const rates = (voiceId: string) =>
      otherVoices(
        speakers,
        { ...turnOf(voiceId, "Да"), voice: { ...turnOf(voiceId, "").voice, ratePercent: 150 } },
        1.5
      ).map(({ voice }) => voice.ratePercent)
    assert.deepStrictEqual([rates("selma"), rates("nora")], [[150], [150]])
  })

  it("are at most 24 of one text", () => {
    const input = `<speak>${Object.keys({ ...espeakReaders, ...espeakLanguages })
      .map((one) => `<lang xml:lang="${one}">x</lang>`)
      .join("")}</speak>`
    assert.strictEqual(chosen("selma", input).length, 24)
  })
})
