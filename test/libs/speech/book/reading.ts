import { assert } from "@effect/vitest"
import { type BookChapter, type BookFormat, type BookTurn, readBook } from "#speech/book"

export const read = (format: BookFormat, input: string, speakers: ReadonlyArray<string> = []) =>
  readBook({ format, documents: [{ input }], areChapters: false, speakers })

export const turnsOf = (chapters: ReadonlyArray<BookChapter>): ReadonlyArray<BookTurn> =>
  chapters.flatMap(({ passages }) => passages.flatMap(({ turns }) => turns))

/** What is read, a line for each turn: the speaker of one that is not the narrator's, the text, the pause. */
export const shown = (chapters: ReadonlyArray<BookChapter>): ReadonlyArray<string> =>
  turnsOf(chapters).map(
    ({ pauseAfterMs, speaker, text }) => `${speaker === undefined ? "" : `${speaker} `}${text} /${pauseAfterMs}`
  )

const bare = (text: string) => text.replaceAll(/[\s\p{C}]/gu, "")

/** The laws of every book, however it is written. */
export const assertLaws = (input: string, chapters: ReadonlyArray<BookChapter>) =>
  assert.isUndefined(brokenLaw(input, chapters), JSON.stringify(input.slice(0, 500)))

// One assertion for all of it: thousands of turns are checked.
const brokenLaw = (input: string, chapters: ReadonlyArray<BookChapter>): unknown => {
  let end = 0
  for (const { characters, passages, sections } of chapters) {
    const lengths = passages.map(({ turns }) => turns.reduce((sum, { text }) => sum + text.length, 0))
    if (passages.some(({ turns }) => turns.length === 0)) return "an empty passage"
    if (lengths.some((length) => length > 4_000)) return { "too long": lengths }
    if (lengths.reduce((sum, length) => sum + length, 0) !== characters) return { "counted wrong": characters }
    for (const { passage, turn } of sections)
      if (passages[passage]?.turns[turn] === undefined) return { "a section without its turn": [passage, turn] }
    for (const turn of passages.flatMap(({ turns }) => turns)) {
      const fault = brokenLine(turn) ?? brokenRun(input, turn)
      if (fault !== undefined) return fault
      for (const [, from, length] of turn.source) {
        if (from < end) return { "out of order": turn }
        end = from + length
      }
    }
  }
  return undefined
}

const brokenLine = ({ text }: BookTurn): unknown => {
  if (text === "" || text !== text.trim() || /\s{2}|[^\S ]|[\u00ad\u200b\ufeff]/u.test(text))
    return { "no clean line": text }
  if (/^\s*<\??(?:speak|xml)/iu.test(text)) return { "would be read as SSML": text }
  return undefined
}

/** A run that is as long as what stands there equals it; a shorter one is decoded from it. */
const brokenRun = (input: string, { source, text }: BookTurn): unknown => {
  for (const [at, [start, from, length]] of source.entries()) {
    const spoken = text.slice(start, source[at + 1]?.[0] ?? text.length)
    const written = input.slice(from, from + length)
    if (spoken.length === length && spoken !== written.replaceAll(/\s|\p{Cc}/gu, " ")) return { spoken, written }
    if (spoken.length > length) return { "longer than what is written": spoken, written }
    if (spoken.length < length && !/&|^<br|^\\\s|^[\s\p{Cc}\p{Cf}]{2}/iu.test(written))
      return { "not decoded": spoken, written }
  }
  return undefined
}

/** Every visible character of the input is in exactly one turn, in order. */
export const assertCovered = (input: string, chapters: ReadonlyArray<BookChapter>) =>
  assert.strictEqual(
    bare(
      turnsOf(chapters)
        .map(({ text }) => text)
        .join("")
    ),
    bare(input)
  )
