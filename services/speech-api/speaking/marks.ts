/**
 * The marks of an answer, of the kinds that were asked for: words and phonemes as they were spoken; sentences and
 * characters from the words, visemes from the phonemes. Pure, except for its state.
 */
import type { MarkKind, OtherMark, PhonemeMark, SpokenMark, WordMark } from "#speech/contract"
import { isSsml, visemesOf } from "#speech"
import type { SpeechPlan } from "./plan.ts"
import type { SpeechSession } from "./SpeechSessions.ts"

export interface MarkTaker {
  readonly add: (marks: ReadonlyArray<SpokenMark>) => void
  /** Those since the last call. */
  readonly words: () => ReadonlyArray<WordMark>
  /** Likewise, in order of time. `isAll`: no word follows, so that the last sentence is over. */
  readonly others: (isAll: boolean) => ReadonlyArray<OtherMark>
}

type Asked = Pick<SpeechPlan, "marks" | "turns">

export const phonemesFor = ({ marks = [] }: Pick<SpeechPlan, "marks">): { readonly phonemes?: true } =>
  marks.includes("phoneme") || marks.includes("viseme") ? { phonemes: true } : {}

export const markTaker = ({ marks: kinds = [], turns }: Asked, sentences: SpeechSession["sentences"]): MarkTaker => {
  const isAsked = (kind: MarkKind) => kinds.includes(kind)
  const inputs = turns.map(({ input }) => ({ input, isMarkup: isSsml(input) }))
  let words: Array<WordMark> = []
  let others: Array<OtherMark> = []
  let open: Array<WordMark> = []
  let sentence = 0
  const endSentence = () => {
    const [first, last, span] = [open[0], open.at(-1), sentences[sentence]]
    open = []
    if (first === undefined || last === undefined || span === undefined || !isAsked("sentence")) return
    const { end, start, turn } = span
    const times = { start_time: first.start_time, end_time: last.end_time }
    const value = inputs[turn]?.input.slice(start, end) ?? ""
    others.push({ type: "sentence", start, end, ...times, value, ...turnOf(first) })
  }
  const addWord = (word: WordMark) => {
    words.push(word)
    while (sentence + 1 < sentences.length && isBehind(word, sentences[sentence])) {
      endSentence()
      sentence += 1
    }
    open.push(word)
    if (isAsked("character")) others.push(...charactersOf(word, inputs[word.turn ?? 0]?.isMarkup === true))
  }
  const addPhoneme = (phoneme: PhonemeMark) => {
    if (isAsked("phoneme")) others.push(phoneme)
    if (isAsked("viseme")) others.push(...visemesIn(phoneme))
  }
  return {
    add: (marks) => {
      for (const mark of marks)
        if (mark.type === "word") addWord(mark)
        else addPhoneme(mark)
    },
    words: () => {
      const taken = words
      words = []
      return taken
    },
    others: (isAll) => {
      if (isAll) endSentence()
      const taken = others.toSorted((one, two) => one.start_time - two.start_time)
      others = []
      return taken
    }
  }
}

const turnOf = ({ turn }: Pick<WordMark, "turn">) => (turn === undefined ? {} : { turn })

const isBehind = ({ start, turn = 0 }: WordMark, sentence: SpeechSession["sentences"][number] | undefined) =>
  sentence !== undefined && (turn > sentence.turn || (turn === sentence.turn && start >= sentence.end))

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })
const markup = /<[^<>]*>|&[#\w]{1,10};/gu

/** The characters of a word, as readers know them, and where in it each is: an entity is one, a tag is none. */
const charactersIn = (value: string, isMarkup: boolean): ReadonlyArray<readonly [text: string, at: number]> => {
  const plain = (text: string, from: number) =>
    Array.from(graphemes.segment(text), ({ index, segment }) => [segment, from + index] as const)
  if (!isMarkup) return plain(value, 0)
  const characters: Array<readonly [string, number]> = []
  let at = 0
  for (const { 0: found, index } of value.matchAll(markup)) {
    characters.push(...plain(value.slice(at, index), at))
    if (found.startsWith("&")) characters.push([found, index])
    at = index + found.length
  }
  return [...characters, ...plain(value.slice(at), at)]
}

/** Each has the same share of the word's time. */
const charactersOf = (word: WordMark, isMarkup: boolean): ReadonlyArray<OtherMark> => {
  const characters = charactersIn(word.value, isMarkup)
  const timeAt = shares(word, characters.length)
  return characters.map(([value, at], nth) => {
    const start = word.start + at
    const times = { start_time: timeAt(nth), end_time: timeAt(nth + 1) }
    return { type: "character", start, end: start + value.length, ...times, value, ...turnOf(word) }
  })
}

const visemesIn = (phoneme: PhonemeMark): ReadonlyArray<OtherMark> => {
  const visemes = visemesOf(phoneme.value)
  const timeAt = shares(phoneme, visemes.length)
  return visemes.map((value, nth) => ({
    ...phoneme,
    type: "viseme",
    start_time: timeAt(nth),
    end_time: timeAt(nth + 1),
    value
  }))
}

const shares =
  ({ end_time, start_time }: Pick<WordMark, "start_time" | "end_time">, count: number) =>
  (nth: number) =>
    Math.round((start_time + ((end_time - start_time) * nth) / count) * 10) / 10
