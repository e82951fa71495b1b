import { Result } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readInput } from "#speech"
import { until } from "../../dev/fixtures/eventually.ts"
import { modelVoice } from "../../dev/fixtures/starling.ts"
import { asHeard, casesOf, type SaidCase } from "../libs/speech/said/cases.ts"
import { startSpeechFleet, type SpeechFleet } from "../support/speech.ts"

/** A model's voice, one of flite and one of espeak-ng. */
const voices = [...(modelVoice.STARLING_VOICES === undefined ? [] : ["heart"]), "roger", "henry"]
const locale = "en-US"

let fleet: SpeechFleet

beforeAll(async () => {
  fleet = await startSpeechFleet(modelVoice)
  // A model is opened within some seconds of a start.
  const opened = async () =>
    Promise.all(
      voices.map(async (voice_id) => (await fleet.post("/v1/audio/speech", { input: "One.", voice_id })).status)
    )
  await until(opened, { is: voices.map(() => 200) })
})
afterAll(() => fleet.remove())

/** The first case of each kind: what all voices must say alike. */
const cases: ReadonlyArray<SaidCase> = [
  ...Map.groupBy(
    casesOf("en").filter((one) => one.locale === locale && one.kind !== "unchanged"),
    ({ kind }) => kind
  ).values()
].flatMap(([first]) => (first === undefined ? [] : [first]))

const inWords = (written: string) =>
  Result.getOrThrow(readInput(written, { locale, textNormalization: true }))
    .chunks.map(({ pieces }) => pieces.map(({ text }) => text).join(""))
    .join(" ")

const soundOf = async (input: string, voice_id: string, text_normalization?: boolean) =>
  (
    await fleet.speak({
      input,
      voice_id,
      output_format: "pcm_24000",
      ...(text_normalization === undefined ? {} : { options: { text_normalization } })
    })
  ).audio_data

describe("what is written sounds as what is said, byte for byte", () => {
  it.each(voices)("on %s", async (voice) => {
    const unlike: Array<string> = []
    for (const { said, written } of cases) {
      const words = inWords(written)
      const isRight = said.some((reading) => asHeard(reading) === asHeard(words))
      const [asWritten, asSaid] = [await soundOf(written, voice), await soundOf(words, voice, false)]
      if (!isRight || asWritten !== asSaid) unlike.push(`${written} → ${words}`)
    }
    assert.deepStrictEqual(unlike, [])
  })

  it.each(voices)("and %s says a sign that is taken away differently", async (voice) => {
    const [minus, plain] = [await soundOf("It is -5 degrees.", voice), await soundOf("It is 5 degrees.", voice)]
    assert.notStrictEqual(minus, plain)
  })
})
