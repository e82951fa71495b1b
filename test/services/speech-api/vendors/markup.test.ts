import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readInput } from "#speech"
import { cartesiaTags, elevenLabsTags, markedInput } from "../../../../services/speech-api/vendors/markup.ts"

const word = (value: string, input: string) => {
  const start = input.indexOf(value)
  return { type: "word", value, start, end: start + value.length, start_time: 0, end_time: 0 } as const
}

describe("a vendor's tags", () => {
  it.each([
    ["ElevenLabs", elevenLabsTags, 'Well. <break time="1.5s" /> R&D', 'Well. <break time="1.5s"/> R&amp;D'],
    ["ElevenLabs", elevenLabsTags, "<break time='1s'>Yes, a<b.", '<break time="1s"/>Yes, a&lt;b.'],
    [
      "ElevenLabs",
      elevenLabsTags,
      '<phoneme alphabet="ipa" ph="təˈmeɪtoʊ">tomato</phoneme>',
      '<phoneme alphabet="ipa" ph="təˈmeɪtoʊ">tomato</phoneme>'
    ],
    ["ElevenLabs", elevenLabsTags, '<phoneme alphabet="cmu-arpabet" ph="T AH0">to</phoneme>', "to"],
    ["ElevenLabs", elevenLabsTags, '<phoneme ph="tu">to', '<phoneme alphabet="ipa" ph="tu">to</phoneme>'],
    [
      "Cartesia",
      cartesiaTags,
      'A <spell>B<speed ratio="2"/>C</spell> <emotion value="sad"/>D',
      'A <say-as interpret-as="characters">BC</say-as> D'
    ],
    [
      "Cartesia",
      cartesiaTags,
      'A <speed ratio="1.5"/>B <volume ratio="0.5"/>C <speed ratio="0"/>D',
      'A <prosody rate="150%">B </prosody><prosody rate="150%" volume="50%">C D</prosody>'
    ]
  ])("of %s are SSML that we read", (_, tags, text, ssml) => {
    const { input } = markedInput(text, tags)
    assert.strictEqual(input, `<speak>${ssml}</speak>`)
    assert.isTrue(Result.isSuccess(readInput(input, { locale: "en-US", textNormalization: true })))
  })

  it("leave a text without them, and a document, as it is", () => {
    for (const text of ["5 < 6 & <i>so</i> on", '<speak>Well. <break time="1s"/></speak>']) {
      assert.strictEqual(markedInput(text, elevenLabsTags).input, text)
    }
  })

  it("move no mark from its place in the text that was sent", () => {
    const text = '<break time="1s"/>R&D <spell>A&B</spell>, <speed ratio="2"/>all. 1<2'
    const { input, sent } = markedInput(text, cartesiaTags)
    const marks = sent(["R&amp;D", "A&amp;B", "all.", "1&lt;2"].map((value) => word(value, input)))
    const values = ["R&D", "A&B", "all.", "1<2"]
    assert.deepStrictEqual(
      marks.map(({ end, start, value }) => [value, text.slice(start, end)]),
      values.map((value) => [value, value])
    )
  })
})
