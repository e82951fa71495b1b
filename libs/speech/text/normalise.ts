/**
 * `text_normalization`: numbers, money, dates, times, units, addresses and abbreviations in English words, for
 * engines that would read them wrong. What is rewritten stays one word of the input, with the punctuation around it;
 * the rest is untouched, and so are other languages. Looks at a word and the one after it, so time is linear.
 */
import { Run, sliceRun, type TextRun } from "./runs.ts"
import { spokenForm } from "./spoken-forms.ts"

const longestWord = 300

export const normalise = (runs: ReadonlyArray<Run>, locale: string): ReadonlyArray<Run> =>
  /^en(?:$|-)/iu.test(locale)
    ? runs.flatMap((run) => (run._tag === "Text" && run.whole === null ? normaliseRun(run, locale) : [run]))
    : runs

const normaliseRun = (run: TextRun, locale: string): ReadonlyArray<Run> => {
  const words = Array.from(run.text.matchAll(/\S+/gu), ({ 0: text, index }) => wordOf(text, index))
  const runs: Array<Run> = []
  let done = 0
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]
    if (word === undefined || word.text.length > longestWord) continue
    const next = words[at + 1]
    // Punctuation between two words parts them.
    const follows = next !== undefined && word.trail === "" && next.lead === "" ? next : undefined
    const spoken = spokenForm(word.core, follows?.core, {
      previous: words[at - 1]?.core ?? "",
      beginsNext: next?.core ?? "",
      locale
    })
    if (spoken === undefined) continue
    const last = spoken.words === 2 && next !== undefined ? next : word
    if (last !== word) at += 1
    const [from, to] = [word.index, last.index + last.text.length]
    if (from > done) runs.push(sliceRun(run, done, from))
    const span = { start: run.starts[from] ?? 0, end: run.ends[to - 1] ?? 0 }
    runs.push(Run.Whole(word.lead + spoken.text + last.trail, span, run.style))
    done = to
  }
  if (done < run.text.length) runs.push(sliceRun(run, done, run.text.length))
  return runs
}

const leading = new Set("([{\"'“‘«¿¡")
const trailing = new Set(")]}\"'”’»,;:!?…")

/** A word without the quotes, brackets and marks around it. A full stop stays: it may belong to it. */
const wordOf = (text: string, index: number) => {
  let [from, to] = [0, text.length]
  while (from < to && leading.has(text[from] ?? "")) from += 1
  while (to > from && (trailing.has(text[to - 1] ?? "") || endsOutside(text, to))) to -= 1
  return { text, index, lead: text.slice(0, from), core: text.slice(from, to), trail: text.slice(to) }
}

/** "1)." ends a sentence, "etc." may not. */
const endsOutside = (text: string, to: number) => text[to - 1] === "." && trailing.has(text[to - 2] ?? "")
