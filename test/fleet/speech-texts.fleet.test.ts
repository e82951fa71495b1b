import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  faultsOfMarks,
  type Heard,
  type Mark,
  type SpeechFleet,
  startSpeechFleet,
  unmarked,
  wordsOf
} from "../support/speech.ts"
import { lengthMs, type Pcm, pitchOf, rms, samplesOf } from "../support/speech-audio.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet()
})
afterAll(() => fleet.remove())

interface More extends Readonly<Record<string, unknown>> {
  readonly output_format?: string
}

const hear = (input: string, more: More = {}) =>
  fleet.listen({ input, voice_id: "henry", output_format: "pcm_24000", ...more })
const values = (marks: ReadonlyArray<Mark>) => marks.map(({ value }) => value)
const pcmOf = ({ audio }: Heard, rateHz = 24_000): Pcm => ({ samples: samplesOf(audio), rateHz })
const markOf = ({ marks }: Heard, value: string) => {
  const found = marks.find((mark) => mark.value === value)
  assert.isDefined(found, `${value} among ${values(marks).join(" ")}`)
  return found as Mark
}
const durationOf = ({ start_time: start, end_time: end }: Mark) => end - start

/** Speaks it, and holds its marks against all that is promised of them. */
const heardRight = async (input: string, more: More = {}) => {
  const heard = await hear(input, more)
  const rateHz = Number(more.output_format?.split("_")[1] ?? 24_000)
  assert.deepStrictEqual(faultsOfMarks([input], heard.marks, heard.durationMs), [])
  assert.strictEqual(unmarked(input, heard.marks), "")
  assert.strictEqual(heard.billable, input.length)
  assert.isAtMost(Math.abs(lengthMs(pcmOf(heard, rateHz)) - heard.durationMs), 0.05)
  return heard
}

describe("every word has its mark, and every mark is a slice of the input", () => {
  it.each([
    ["abbreviations", "Dr. Smith, e.g. of St. Ives, met J. R. R. Tolkien vs. Mr. No. 5 at 5:30 p.m. (a Thursday)."],
    ["currency", "It was $1,234.56 or €99, i.e. £1.5m; not ¥10,000 and 50% off!"],
    ["addresses of the web", "See https://example.com/a?b=c&d=e#f or mail first.last+tag@mail.example.co.uk now."],
    ["emoji", "Party 🎉 time 👩‍👩‍👧‍👦 for 🏳️‍🌈 us 👍🏽!"],
    ["astral characters", "𝒜 𝓑𝓬 and 𠮷野家 before 𐍈 after."],
    ["composed and decomposed letters", "Na\u0308ive nai\u0308ve cafe\u0301 café Zürich."],
    ["Chinese and Japanese", "今天天气很好。我们去公园吧!東京タワーは高いです。"],
    ["right to left", "مرحبا بالعالم. שלום עולם, hello."],
    ["quotes and brackets", '"Really?" she asked; ‘no’ (he said) — [sic] … «oui».'],
    ["odd white space", "One\u00a0two\u2003three\ttab\r\nline\n\n\nparagraph\u200bzero."],
    ["a word that does not end", "a".repeat(1_000)]
  ])("%s", async (_what, input) => {
    await heardRight(input)
  })

  it("with text_normalization, which speaks other words than were written", async () => {
    const input =
      "Dr. No paid $1,234.56 for 12 kg on 2024-03-05 at 5:30 p.m.; see https://example.com/a?b=c or a.b@c.co, 50% off."
    const heard = await heardRight(input, { options: { text_normalization: true } })
    for (const value of ["$1,234.56", "50%"]) assert.isAbove(durationOf(markOf(heard, value)), 500)
  })

  it("20,000 characters: every word, on one timeline without drift", async () => {
    const sentence = "The harbour wakes before the town does, and Dr. Smith counts 42 crates. "
    const input = sentence.repeat(300).slice(0, 20_000)
    const heard = await heardRight(input, { output_format: "pcm_8000" })
    assert.isAtMost(heard.durationMs - (heard.marks.at(-1)?.end_time ?? 0), 1_000)
  })

  it.each([
    ["en-US", "nora", "The weather is fine; let us go outside, shall we?"],
    ["de-DE", "lena", "Das Wetter ist schön; wir gehen nach draußen, z. B. in den Park."],
    ["es-ES", "lucia", "¿Qué tal el tiempo, señor? ¡Vamos a la calle mañana!"],
    ["es-MX", "diego", "Órale, ¿vamos al cine el miércoles a las 8?"],
    ["fr-FR", "camille", "L'été, c'est l'été : où êtes-vous, M. Dupont ?"],
    ["it-IT", "matteo", "Perché no? L'acqua è fredda, però c'è il sole."],
    ["pt-BR", "beatriz", "Amanhã não dá; à tarde, talvez, às três."]
  ])("%s, by a voice of its own and by an English one", async (language, voice, input) => {
    const own = await heardRight(input, { voice_id: voice })
    const lent = await heardRight(input, { voice_id: "oliver", language })
    assert.deepStrictEqual(values(lent.marks), values(own.marks))
  })
})

describe("SSML", () => {
  it("keeps a prosody over sentence ends and nested elements, and marks the sent text", async () => {
    const inner = 'one two. Three <prosody pitch="x-high">four. Five</prosody> six'
    const plain = await heardRight(`<speak>Start ${inner.replaceAll(/<[^>]*>/gu, "")}. End.</speak>`)
    const styled = await heardRight(`<speak>Start <prosody rate="50%">${inner}.</prosody> End.</speak>`)
    assert.deepStrictEqual(values(styled.marks), values(plain.marks))
    for (const value of ["Three", "Five", "six."]) {
      assert.isAbove(durationOf(markOf(styled, value)), 1.4 * durationOf(markOf(plain, value)), value)
    }
    assert.isBelow(durationOf(markOf(styled, "End.")), 1.2 * durationOf(markOf(plain, "End.")))
  })

  it("speaks an alias and marks its word; characters and entities are marked as they were sent", async () => {
    const input =
      '<speak>The <sub alias="World Wide Web Consortium">W3C</sub> says <say-as interpret-as="characters">ABC</say-as> ' +
      "&amp; more than &lt;that&gt; &#x1F600;.</speak>"
    const heard = await heardRight(input)
    assert.deepStrictEqual(values(heard.marks).slice(0, 8), [
      "The",
      "W3C",
      "says",
      "ABC",
      "&amp;",
      "more",
      "than",
      "&lt;that&gt;"
    ])
    assert.isAbove(durationOf(markOf(heard, "W3C")), 1_000)
  })

  it("is silent for the length of a break, without a mark in it", async () => {
    const heard = await heardRight('<speak>One<break time="2s"/> two <break time="750ms"/>three.</speak>')
    const [one, two, three] = heard.marks as [Mark, Mark, Mark]
    assert.isAtLeast(two.start_time - one.end_time, 1_950)
    assert.isAtLeast(three.start_time - two.end_time, 700)
    const { samples } = pcmOf(heard)
    const within = samples.subarray((one.end_time + 50) * 24, (two.start_time - 50) * 24)
    assert.isBelow(rms(within), 5)
  })

  it("has 13 emotions, and any two of them sound different", async () => {
    const emotions =
      "angry cheerful sad terrified relaxed fearful surprised calm assertive energetic warm direct bright"
    const sounds: Array<{ emotion: string; ms: number; decibels: number; hz: number; spread: number }> = []
    for (const emotion of emotions.split(" ")) {
      const text = "Nobody knows where we are going, and I am glad about it."
      const heard = await hear(`<speak><speechify:style emotion="${emotion}">${text}</speechify:style></speak>`)
      const pcm = pcmOf(heard)
      sounds.push({ emotion, ms: heard.durationMs, decibels: 20 * Math.log10(rms(pcm.samples)), ...pitchOf(pcm) })
    }
    assert.strictEqual(sounds.length, 13)
    for (const [index, one] of sounds.entries()) {
      for (const other of sounds.slice(index + 1)) {
        const isOther =
          Math.abs(one.ms / other.ms - 1) > 0.04 ||
          Math.abs(one.decibels - other.decibels) > 1 ||
          Math.abs(one.hz / other.hz - 1) > 0.05 ||
          Math.abs(one.spread / other.spread - 1) > 0.1
        assert.isTrue(isOther, `${JSON.stringify(one)} sounds like ${JSON.stringify(other)}`)
      }
    }
  })
})

describe("a dialogue", () => {
  it("is spoken turn by turn, and marks carry their turn", async () => {
    const inputs = [
      "Hello there. How are you?",
      "Gut, danke! <Und> dir?",
      "<speak>Fine, <sub alias='thank you'>thx</sub>.</speak>"
    ]
    const voices = ["henry", "lena", "selma"]
    const turns = inputs.map((input, index) => ({ input, voice_id: voices[index] }))
    const answer = await fleet.speak({ turns, output_format: "pcm_24000" }, "/v1/audio/dialogue")
    const words = wordsOf(answer)
    assert.deepStrictEqual(faultsOfMarks(inputs, words, answer.audio_duration_ms), [])
    assert.deepStrictEqual([...new Set(words.map(({ turn }) => turn))], [0, 1, 2])
    assert.deepStrictEqual(
      answer.speech_marks.chunks.map(({ turn, value }) => [turn, value.slice(0, 4)]),
      [
        [0, "Hell"],
        [0, "How "],
        [1, "Gut,"],
        [1, "<Und"],
        [2, "Fine"]
      ]
    )
    for (const sentence of answer.speech_marks.chunks) {
      assert.isTrue(sentence.chunks.every(({ turn }) => turn === sentence.turn))
    }
    assert.strictEqual(answer.billable_characters_count, inputs.join("").length)
  })
})
