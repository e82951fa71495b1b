import { assert, describe, it } from "@effect/vitest"
import { parse } from "@plussub/srt-vtt-parser"
import { createRequire } from "node:module"
import type { WordMark } from "#speech/contract"
import { captionsOf } from "../../../../libs/speech/captions/captions.ts"
import { captionFiles } from "../../../../libs/speech/captions/files.ts"
import { columnsOf, lineMax } from "../../../../libs/speech/captions/units.ts"
import { read, seeded, tokensOf } from "../laws.ts"

interface Cue {
  readonly startTime: number
  readonly endTime: number
  readonly text: string
}
interface Judged {
  readonly cues: ReadonlyArray<Cue>
  readonly errors: ReadonlyArray<{ readonly message: string; readonly line: number }>
}
/** The W3C's own validator, which has no types. */
const { WebVTTParser } = createRequire(import.meta.url)("webvtt-parser") as {
  readonly WebVTTParser: new (entities: object) => { readonly parse: (file: string, kind: string) => Judged }
}
const judged = (file: string) =>
  new WebVTTParser({ "&amp": "&", "&lt": "<", "&gt": ">" }).parse(file, "subtitles/captions/descriptions")

/** Turns spoken one after the other, each character in as many milliseconds. */
const spoken = (turns: ReadonlyArray<string>, msPerCharacter = 65, locale = "en-US") => {
  let beginMs = 0
  const words: Array<WordMark> = []
  const sentences = turns.flatMap((input, turn) => {
    const reading = read(input, { locale })
    const timeAt = (place: number) => beginMs + place * msPerCharacter
    for (const { end, start, value } of tokensOf(reading)) {
      const times = { start_time: timeAt(start), end_time: timeAt(end) }
      words.push({ type: "word", start, end, ...times, value, ...(turns.length > 1 ? { turn } : {}) })
    }
    beginMs = timeAt(input.length) + 300
    return reading.sentences.map((span) => ({ turn, ...span }))
  })
  return { inputs: turns, sentences, words }
}

const prose =
  "The fleet writes every event once, and reads it back whenever a process asks for it. Nothing is lost, not even when a " +
  "machine dies & its disk is gone; another one takes over within a second. Yes. No! What does it cost? Less than before " +
  "-- and more than nothing, says Dr. Smith of the U.S. Treasury, who has seen many such promises come and go in thirty years."

const linesOf = (text: string) => captionsOf(spoken([text])).map(({ lines }) => lines.join(" / "))
const dialogue = ["Hello there. How are you?", "Very well, thank you.", "And yourself?"]
const names = ["Selma", "Roger & <Sons>", "Roger & <Sons>"]

describe("captions", () => {
  it("break at sentences and clauses, and not behind an abbreviation", () => {
    assert.deepStrictEqual(linesOf(prose), [
      "The fleet writes every event once,",
      "and reads it back whenever / a process asks for it.",
      "Nothing is lost, not even when a / machine dies & its disk is gone;",
      "another one takes over within a second. / Yes. No! What does it cost?",
      "Less than before -- and more than nothing, / says Dr. Smith of the U.S. Treasury,",
      "who has seen many such promises / come and go in thirty years."
    ])
  })

  it("show what is written between words, and no markup", () => {
    assert.deepStrictEqual(linesOf("🎉 Well — it's (nearly) “done” …"), ["🎉 Well — it's (nearly) “done” …"])
    const ssml =
      '<speak><p>Tom &amp; <emphasis level="strong">Jerry</emphasis>, un<emphasis>believ</emphasis>able</p><p>' +
      '<sub alias="World Wide Web">WWW</sub> &#60;b&#x3e; <![CDATA[a<b]]> <break time="1s"/>ran.</p></speak>'
    assert.strictEqual(linesOf(ssml).join(" "), "Tom & Jerry, unbelievable WWW <b> a<b ran.")
  })

  it("divide a word that is longer than a line, and count wide characters twice", () => {
    const url = `https://a.example/${"path/".repeat(12)}.`
    assert.deepStrictEqual(linesOf(`See ${url}`), [`See / ${url.slice(0, 42)}`, url.slice(42)])
    const lines = captionsOf(
      spoken(["他们说这是一个很长的句子，里面没有任何空格，但是每一行都必须足够短才能阅读。"], 200, "zh-CN")
    )
    assert.isAtLeast(lines.length, 2)
  })

  it("stay until they are read, but not beyond the next one", () => {
    const times = captionsOf(spoken(["Yes."], 50)).map(({ endMs, startMs }) => [startMs, endMs])
    assert.deepStrictEqual(times, [[0, 1_000]])
    const hurried = captionsOf(spoken([prose], 30))
    for (const [at, { endMs }] of hurried.entries()) assert.isAtMost(endMs, hurried[at + 1]?.startMs ?? Infinity)
  })

  it("of nothing are none", () => {
    const nothing = { inputs: ["..."], sentences: [], words: [] }
    assert.strictEqual(captionFiles.vtt.write(nothing), "WEBVTT\n")
    assert.strictEqual(captionFiles.srt.write(nothing), "")
  })
})

describe("a file of captions", () => {
  it("in WebVTT is valid to the W3C's validator, and has its speakers", () => {
    const file = captionFiles.vtt.write(spoken([...dialogue, "1 < 2 --> & so on"]), [...names, "Kal"])
    const { cues, errors } = judged(file)
    assert.deepStrictEqual(errors, [])
    assert.deepStrictEqual(
      cues.map(({ text }) => text),
      [
        "<v Selma>Hello there. How are you?",
        "<v Roger &amp; &lt;Sons&gt;>Very well, thank you.",
        "<v Roger &amp; &lt;Sons&gt;>And yourself?",
        "<v Kal>1 &lt; 2 --&gt; &amp; so on"
      ]
    )
  })

  it("in SubRip is read by others, and names a speaker where the speaker changes", () => {
    const { entries } = parse(captionFiles.srt.write(spoken(dialogue), names))
    assert.deepStrictEqual(
      entries.map(({ id, text }: { id: string; text: string }) => [id, text]),
      [
        ["1", "SELMA: Hello there. How are you?"],
        ["2", "ROGER & <SONS>: Very well, thank you."],
        ["3", "And yourself?"]
      ]
    )
    assert.include(captionFiles.srt.write(spoken(["a --> b"])), "00:00:00,000 --> 00:00:01,000\na → b\n")
  })

  it("has its times in hours", () => {
    const word: WordMark = {
      type: "word",
      start: 0,
      end: 1,
      start_time: 3_723_004.4,
      end_time: 3_724_504.4,
      value: "a"
    }
    const file = captionFiles.vtt.write({ inputs: ["a"], sentences: [{ turn: 0, start: 0, end: 1 }], words: [word] })
    assert.include(file, "\n01:02:03.004 --> 01:02:04.504\n")
  })

  it("holds to its limits for any text, at any pace", () => {
    const random = seeded(47)
    const pieces = [
      "a",
      "I",
      "word",
      "longer",
      "sentence.",
      "clause,",
      "U.S.",
      "--",
      "(so)",
      "&",
      "<b>",
      "-->",
      "🎉",
      "漢字",
      "naïve",
      "\n\n",
      "x".repeat(60)
    ]
    for (let time = 0; time < 200; time += 1) {
      const text = () =>
        Array.from({ length: 1 + random() * 60 }, () => pieces[Math.floor(random() * pieces.length)]).join(" ")
      const turns = random() < 0.3 ? [`Oh, ${text()}`, `Ah! ${text()}`] : [`Oh, ${text()}`]
      const msPerCharacter = 30 + random() * 100
      const speech = spoken(turns, msPerCharacter)
      const speakers = turns.length > 1 ? ["Selma", "A name of a cloned voice, which is long"] : undefined
      const { cues, errors } = judged(captionFiles.vtt.write(speech, speakers))
      assert.deepStrictEqual(errors, [], turns.join("|"))
      const captions = captionsOf(speech, speakers)
      assert.strictEqual(parse(captionFiles.srt.write(speech, speakers)).entries.length, captions.length)
      for (const [at, { endMs, lines, startMs }] of [...captions, ...captionsOf(speech)].entries()) {
        assert.isAtMost(lines.length, 2)
        for (const line of lines) assert.isAtMost(columnsOf(line), lineMax, line)
        assert.isAbove(endMs, startMs, `${at}`)
      }
      for (const [at, { startTime }] of cues.entries()) {
        assert.isAtLeast(startTime, (cues[at - 1]?.endTime ?? 0) - 0.0011)
      }
      const shown = cues.map(({ text: lines }) => lines.replace(/^<v [^>]*>/u, "")).join("")
      const bare = (written: string) => written.replaceAll(/\s/gu, "")
      const written = bare(turns.join("")).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
      assert.strictEqual(bare(shown), written)
    }
  })

  it("can be read in time where the speech allows", () => {
    const speeds = captionsOf(spoken([prose], 62)).map(
      ({ endMs, lines, startMs }) => (columnsOf(lines.join(" ")) * 1_000) / (endMs - startMs)
    )
    assert.isAtMost(Math.max(...speeds), 20)
  })
})
