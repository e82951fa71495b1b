/** What is wrong with the marks of an input, in words; nothing when all is right. */
import type { MarkedSpeech } from "./client.ts"

const word = /[\p{L}\p{N}]+/gu

/** Every stretch of letters and digits that is to be spoken. Markup is blanked out, so that offsets stay. */
const wordsOf = (input: string) =>
  [...input.replaceAll(/<[^>]*>|&\w+;/gu, (markup) => " ".repeat(markup.length)).matchAll(word)].map((match) => ({
    text: match[0],
    start: match.index,
    end: match.index + match[0].length
  }))

export const faultsOfMarks = (input: string, { marks, durationMs }: MarkedSpeech): ReadonlyArray<string> => {
  if (durationMs === undefined) return ["the stream has no end"]
  const uncovered = wordsOf(input)
    .filter(({ start, end }) => !marks.some((mark) => mark.start <= start && end <= mark.end))
    .map(({ text, start }) => `no mark covers "${text}" at ${start}`)
  const wrong = marks
    .filter(({ start, end, value }) => input.slice(start, end) !== value)
    .map(({ start, end, value }) => `the mark at ${start}..${end} says "${value}"`)
  const disordered = marks.flatMap((mark, index) => {
    const before = marks[index - 1]
    const isAfter = before === undefined || (mark.start >= before.end && mark.start_time >= before.start_time)
    return isAfter && mark.end_time >= mark.start_time ? [] : [`the mark "${mark.value}" is out of order`]
  })
  const late = marks.filter(({ end_time }) => end_time > durationMs).map(({ value }) => `"${value}" ends after the end`)
  return [...uncovered, ...wrong, ...disordered, ...late]
}
