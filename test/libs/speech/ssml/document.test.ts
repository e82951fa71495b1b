import { assert, describe, it } from "@effect/vitest"
import { silenceOf } from "#speech"
import { emotions, type Style } from "../../../../libs/speech/text/style.ts"
import { assertLaws, read, sentenceOf, textOf, tokensOf, wordsOf } from "../laws.ts"

const styleOf = (input: string): Style => {
  const style = read(`<speak>${input}</speak>`).chunks.at(-1)?.pieces.at(-1)
  if (style === undefined) throw new Error(`nothing spoken in ${input}`)
  return style
}

describe("SSML", () => {
  it("is spoken as text, and marked at its place in the input", () => {
    const input = `  <speak version="1.1" xml:lang="en-US">Tom &amp; <emphasis>J&#101;rry</emphasis> &#x1F600; ran</speak>\n`
    const reading = read(input)
    assert.strictEqual(textOf(reading), "Tom & Jerry 😀 ran")
    assert.deepStrictEqual(wordsOf(reading), ["Tom", "&amp;", "J&#101;rry", "&#x1F600;", "ran"])
    assertLaws(input, reading)
  })

  it("may contain comments, CDATA and marks without splitting a word", () => {
    const input = `<speak>he<!-- a - b -->llo <![CDATA[a<b & c]]> wor<mark name="m"/>ld<?no?></speak>`.replace(
      "<?no?>",
      ""
    )
    const reading = read(input)
    assert.strictEqual(textOf(reading), "hello a<b & c world")
    assert.deepStrictEqual(wordsOf(reading), ["he<!-- a - b -->llo", "a<b", "&", "c", `wor<mark name="m"/>ld`])
    assertLaws(input, reading)
  })

  it("gets one mark for a substitution", () => {
    const input = `<speak><sub alias="World Wide Web. Consortium">W3C</sub>, and <say-as interpret-as="characters"> a&amp;b </say-as>!</speak>`
    const reading = read(input)
    assert.strictEqual(textOf(reading), "World Wide Web. Consortium, and A and B!")
    assert.deepStrictEqual(wordsOf(reading), ["W3C", "and", "a&amp;b"])
    assert.strictEqual(reading.sentences.length, 1)
  })

  it("gets the mark of an empty sub at the element itself, and keeps aliases apart", () => {
    assert.deepStrictEqual(wordsOf(read(`<speak><sub alias="x"/></speak>`)), [`<sub alias="x"/>`])
    assert.strictEqual(textOf(read(`<speak><sub alias="ten">X</sub>th</speak>`)), "ten th")
  })

  it("keeps the word of a phoneme, with its mark, and says how it sounds", () => {
    const input = `<speak>I say <phoneme alphabet="x-sampa" ph='t@"mA:toU'>tomato &amp; co</phoneme>, (<phoneme ph="ˈa"> b </phoneme>) and <emphasis><phoneme ph="t͡ʃɛk">Czech</phoneme></emphasis>s.</speak>`
    const reading = read(input)
    assertLaws(input, reading)
    assert.strictEqual(textOf(reading), "I say tomato & co, (b) and Czech s.")
    assert.deepStrictEqual(wordsOf(reading), ["I", "say", "tomato &amp; co", "b", "and", "Czech", "s."])
    assert.deepStrictEqual(
      reading.chunks.flatMap(({ pieces }) =>
        pieces.flatMap(({ text, pronunciations = [] }) =>
          pronunciations.map(({ from, to, ipa }) => [text.slice(from, to), ipa])
        )
      ),
      [
        ["tomato & co", "təˈmɑːtoʊ"],
        ["b", "ˈa"],
        ["Czech", "tʃɛk"]
      ]
    )
  })

  it("ends sentences at paragraphs and marked sentences, not at pauses", () => {
    const input = `<speak>One <break time="250ms"/>two<p>three</p><s>four</s> five. Six</speak>`
    const reading = read(input)
    assert.deepStrictEqual(
      reading.sentences.map(({ start, end }) => input.slice(start, end)),
      [`One <break time="250ms"/>two`, "three", "four", "five.", "Six"]
    )
    assert.deepStrictEqual(
      reading.chunks.map((chunk) => [sentenceOf(chunk, reading), chunk.pauseAfterMs]),
      [
        [0, 250],
        [0, 0],
        [1, 0],
        [2, 0],
        [3, 0],
        [4, 0]
      ]
    )
  })

  it("keeps all silence: before, between, after, and alone", () => {
    const [first, second] = read(
      `<speak><break time="1s"/>a<break/><break strength="weak"/>b<break time="90s"/></speak>`
    ).chunks
    assert.deepStrictEqual(
      [first?.pauseBeforeMs, first?.pauseAfterMs, second?.pauseBeforeMs, second?.pauseAfterMs],
      [1_000, 750, 0, 60_000]
    )
    assert.deepStrictEqual(
      read(`<speak><break time="2s"/></speak>`).chunks.map(({ pauseBeforeMs, pieces }) => [
        pauseBeforeMs,
        pieces.length
      ]),
      [[2_000, 0]]
    )
  })

  it("has a piece for each style, with its tokens", () => {
    const [chunk] = read(`<speak>a <prosody rate="slow">b <emphasis>c</emphasis></prosody> d.</speak>`).chunks
    assert.deepStrictEqual(
      chunk?.pieces.map(({ text }) => text),
      ["a ", "b ", "c ", "d."]
    )
    assert.deepStrictEqual(
      chunk?.tokens.map(({ piece }) => piece),
      [0, 1, 2, 3]
    )
  })

  it.each([
    [`<prosody rate="slow">x</prosody>`, { ratePercent: 75 }],
    [`<prosody rate="1.5">x</prosody>`, { ratePercent: 150 }],
    [`<prosody rate="150%">x</prosody>`, { ratePercent: 150 }],
    [`<prosody rate="-20%">x</prosody>`, { ratePercent: 80 }],
    [`<prosody rate="+99999%">x</prosody>`, { ratePercent: 10_000 }],
    [`<prosody rate="1%">x</prosody>`, { ratePercent: 50 }],
    [`<prosody rate="50%"><prosody rate="300%">x</prosody></prosody>`, { ratePercent: 150 }],
    [`<prosody pitch="+12st">x</prosody>`, { pitchPercent: 200 }],
    [`<prosody pitch="-12st">x</prosody>`, { pitchPercent: 50 }],
    [`<prosody pitch="-99%">x</prosody>`, { pitchPercent: 17 }],
    [`<prosody pitch="+12Hz">x</prosody>`, { pitchPercent: 110 }],
    [`<prosody range="x-high">x</prosody>`, { rangePercent: 200 }],
    [`<prosody volume="-6dB">x</prosody>`, { volumeDb: -6 }],
    [`<prosody volume="+40dB">x</prosody>`, { volumeDb: 12 }],
    [`<prosody volume="silent">x</prosody>`, { volumeDb: -96 }],
    [`<prosody volume="50%">x</prosody>`, { volumeDb: -6.02 }],
    [`<prosody volume="-6dB"><prosody volume="-6dB">x</prosody></prosody>`, { volumeDb: -12 }],
    [`<emphasis level="strong">x</emphasis>`, { ratePercent: 86, pitchPercent: 114 }],
    [`<emphasis level="moderate">x</emphasis>`, { ratePercent: 93, pitchPercent: 107 }],
    [`<emphasis>x</emphasis>`, { ratePercent: 93, pitchPercent: 107 }],
    [`<emphasis level="none">x</emphasis>`, { ratePercent: 100, pitchPercent: 100 }],
    [`<style emotion="sad">x</style>`, { ratePercent: 80, pitchPercent: 86 }],
    [
      `<speechify:style emotion="angry"><style emotion="calm">x</style></speechify:style>`,
      { ratePercent: 93, pitchPercent: 98 }
    ],
    [`<voice xml:lang="de-DE">x</voice>`, { ratePercent: 100 }],
    [`<voice name="claire" gender="female" required="name">x</voice>`, { ratePercent: 100 }],
    [`<lang xml:lang="de-DE" onlangfailure="ignorelang">x</lang>`, { ratePercent: 100 }],
    [`<phoneme alphabet="ipa" ph="x">tomato</phoneme>`, { ratePercent: 100 }],
    [`<phoneme ph="x" type="default"/>`, { ratePercent: 100 }]
  ] as const)("%s is spoken as %o", (input, expected) => {
    const style = styleOf(input)
    for (const [name, value] of Object.entries(expected)) assert.strictEqual(style[name as keyof Style], value, name)
  })

  it("has thirteen distinguishable emotions", () => {
    const all = Object.entries(emotions)
    assert.strictEqual(all.length, 13)
    const differ = (left: number, right: number, least: number) => Math.abs(left - right) >= least
    for (const [index, [name, left]] of all.entries()) {
      for (const [other, right] of all.slice(index + 1)) {
        const isApart =
          differ(left.ratePercent, right.ratePercent, 6) ||
          differ(left.pitchPercent, right.pitchPercent, 6) ||
          differ(left.rangePercent, right.rangePercent, 20) ||
          differ(left.volumeDb, right.volumeDb, 3)
        assert.isTrue(isApart, `${name} and ${other}`)
      }
      assert.isTrue(differ(left.pitchPercent, 100, 2) && differ(left.rangePercent, 100, 5), name)
    }
  })
})

describe("an input", () => {
  it("with an XML declaration is SSML, and its words are marked where they were sent", () => {
    const input = ' <?xml version="1.0" encoding="UTF-8"?>\n<speak>Hello there</speak>'
    const reading = read(input)
    assertLaws(input, reading)
    assert.deepStrictEqual(
      tokensOf(reading).map(({ value, start }) => [value, input.indexOf(value) === start]),
      [
        ["Hello", true],
        ["there", true]
      ]
    )
  })

  it("with a byte order mark or comments before its root is SSML, too", () => {
    for (const before of ["\ufeff", "<!-- one -->", '\n<?xml version="1.0"?>\n<!-- one -->\n<!-- <two> -->\n']) {
      const input = `${before}<speak>Hello there</speak>`
      assert.deepStrictEqual(wordsOf(read(input)), ["Hello", "there"])
      assertLaws(input, read(input))
    }
  })

  it("with something like a tag further in is plain text", () => {
    for (const input of ["A <SPEAK> tag", "<!-- a note --> Hello", "<!-- <speak>", "<spoke>a</spoke>", "<b>Hi</b>"]) {
      assert.isNotEmpty(tokensOf(read(input)))
    }
  })

  it("with an XML declaration that does not end is plain text", () => {
    assert.isNotEmpty(tokensOf(read("<?xml version='1.0' <speak>Hello</speak>")))
  })
})

describe("the tokens of SSML", () => {
  it("lie in order over every kind of element", () => {
    const input = `<speak><p>Call <say-as interpret-as="telephone">555-0100</say-as> at <say-as interpret-as="time">3:05pm</say-as>.</p><p>un<emphasis>believ</emphasis>able</p></speak>`
    const reading = read(input)
    assertLaws(input, reading)
    assert.deepStrictEqual(
      tokensOf(reading).map(({ value }) => value),
      ["Call", "555-0100", "at", "3:05pm", "un", "believ", "able"]
    )
  })
})

describe("a clause without words", () => {
  it.each([
    ['<break time="1s"/>', '<speak><break time="1s"/></speak>'],
    [
      ' <break time="1s"></break>, <break strength="weak"/>... ',
      '<speak><break time="1s"/><break strength="weak"/></speak>'
    ],
    ['<s/><break time="0s"/>', undefined],
    ['<break strength="none"/>', undefined],
    [" ... <mark name='here'/>", undefined],
    // Whoever reads it says what is wrong.
    ['<break time="soon"/>', '<speak><break time="soon"/></speak>']
  ])("asks for its breaks alone: %s", (text, silence) => {
    assert.strictEqual(silenceOf({ text, start: 7 }), silence)
  })
})
