/**
 * Shows words as they are spoken, and how far a long text has come. Words go to standard output: the text as
 * it was written, or a JSON line for each mark. Progress goes to a terminal only, and never between the words.
 */
import type { WordMark } from "#contracts"
import { isSsml } from "#speech"
import type { MarksShown } from "./order.ts"

export interface WordsOptions {
  readonly text: string
  readonly marks: MarksShown | undefined
  readonly hasProgress: boolean
  readonly out: (text: string) => void
  readonly progress: (text: string) => void
}

export interface WordsShown {
  readonly show: (mark: WordMark) => void
  /** `isWhole`: what stands behind the last word belongs to it. */
  readonly end: (isWhole: boolean) => void
}

// Shorter texts are over before one has read how far they are.
const longCharacters = 400
const clearLine = "\r\u001b[K"

export const showWords = ({ text, marks, hasProgress, out, progress }: WordsOptions): WordsShown => {
  const plain = isSsml(text) ? withoutTags : (part: string) => part
  const showsProgress = hasProgress && text.length >= longCharacters
  let at = 0
  let percentShown = -1

  const tellProgress = ({ end, end_time: endMs }: WordMark) => {
    const percent = Math.floor((end / text.length) * 100)
    if (percent === percentShown) return
    percentShown = percent
    progress(`${clearLine}${end} of ${text.length} characters, ${clockOf(endMs)}`)
  }

  return {
    show: (mark) => {
      if (marks === "json") out(`${JSON.stringify(mark)}\n`)
      if (marks === "words") {
        const before = plain(text.slice(at, mark.start))
        out(at === 0 ? `${before.trimStart()}${mark.value}` : `${before}${mark.value}`)
      }
      at = mark.end
      if (showsProgress) tellProgress(mark)
    },
    end: (isWhole) => {
      if (percentShown >= 0) progress(clearLine)
      if (marks === "words" && at > 0) out(isWhole ? `${plain(text.slice(at)).trimEnd()}\n` : "\n")
    }
  }
}

const withoutTags = (part: string) => part.replaceAll(/<[^>]*>/gu, " ").replaceAll(/\s+/gu, " ")

const clockOf = (ms: number) => {
  const seconds = Math.floor(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}
