/**
 * A job spoken by a model that reads phonemes: utterance by utterance, each at most as long as the model accepts. The
 * model reports how long each symbol lasts, so the start of each word is exact.
 */
import type { Outcome } from "../worker/protocol.ts"
import { type Passage, passagesOf, wordAt } from "../worker/passages.ts"
import { endPause, paced, pauseBefore } from "../worker/pauses.ts"
import type { Sink, Speaker } from "../worker/serve.ts"
import type { AcousticModel } from "./acoustic-models.ts"
import { type Phonemes, type Phonemize, phonemesOf, soundsOf } from "./phonemes.ts"

/** Kokoro reads at most 510 symbols. */
const symbolsMax = 400

export const makeAcousticSpeaker = (model: AcousticModel, phonemize: Phonemize, warmUps: number): Speaker => ({
  hz: model.hz,
  firstVoice: model.speakers[0] ?? "0",
  warmUps,
  readsPhonemes: true,
  stop: model.stop,
  speak: (job, sink) => {
    const speaker = job.voice.name
    if (!model.speakers.includes(speaker)) return noSuchSpeaker(speaker)
    const language = "language" in job.voice ? job.voice.language : "en-us"
    const utterances = passagesOf(job).flatMap((passage) =>
      utterancesOf(phonemesOf(passage, language, phonemize)).map((phonemes) => ({ passage, phonemes }))
    )
    let begun = 0
    for (const [at, { passage, phonemes }] of utterances.entries()) {
      const isLast = at === utterances.length - 1 && !job.goesOn
      const isTold = job.phonemes === true
      const spoken = say(model, { passage, phonemes, speaker, begun, isLast, isTold }, sink)
      if (spoken === undefined) return null
      begun += spoken
    }
    return null
  }
})

const noSuchSpeaker = (speaker: string): Outcome => ({
  kind: "failed",
  reason: "voice",
  detail: `the model has no speaker ${speaker}`
})

interface Placed {
  readonly passage: Passage
  readonly phonemes: Phonemes
  readonly speaker: string
  /** Samples of the job before this utterance. */
  readonly begun: number
  /** Nothing follows in the same sentence. */
  readonly isLast: boolean
  /** Its phonemes are reported too. */
  readonly isTold: boolean
}

/** Returns the number of samples; undefined if nobody listens any more. */
const say = (model: AcousticModel, { passage, phonemes, speaker, begun, isLast, isTold }: Placed, sink: Sink) => {
  const { pitch, range } = passage
  const { symbols, words } = phonemes
  const utterance = paced(sink, { hz: model.hz, passage, begun, endPause: endPause(symbols, isLast) })
  const begins = (starts: ReadonlyArray<number>) => {
    for (const { position, symbol } of words) {
      const start = starts[symbol] ?? starts.at(-1)
      if (start === undefined) return
      utterance.word(wordAt(passage, position, Math.round(start)), pauseBefore(symbols, symbol))
    }
    for (const { ipa, position, symbol } of isTold ? soundsOf(phonemes) : []) {
      const start = starts[symbol]
      if (start !== undefined) utterance.word({ ...wordAt(passage, position, Math.round(start)), phoneme: ipa }, 0)
    }
  }
  model.speak({ symbols, speaker, pitch, range }, { begins, sound: utterance.audio })
  return utterance.end() ? utterance.samples() : undefined
}

/** Cuts what is too long for a model: after the last punctuation mark that fits, else between two words. Pure. */
export const utterancesOf = ({ symbols, words }: Phonemes): ReadonlyArray<Phonemes> => {
  if (symbols.trim() === "") return []
  if (symbols.length <= symbolsMax) return [{ symbols, words }]
  const head = symbols.slice(0, symbolsMax)
  const mark = Math.max(...[...head.matchAll(/[;:,.!?—…] /gu)].map(({ index }) => index + 2), 0)
  const cut = mark > symbolsMax / 4 ? mark : head.lastIndexOf(" ") + 1 || symbolsMax
  const rest = words.filter(({ symbol }) => symbol >= cut).map((word) => ({ ...word, symbol: word.symbol - cut }))
  const first = { symbols: symbols.slice(0, cut), words: words.filter(({ symbol }) => symbol < cut) }
  return [first, ...utterancesOf({ symbols: symbols.slice(cut), words: rest })]
}
