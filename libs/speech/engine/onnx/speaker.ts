/**
 * A job spoken by a model that reads phonemes: utterance by utterance, each at most as long as the model accepts. The
 * model reports how long each symbol lasts, so the start of each word is exact. Between pieces of one sentence the
 * pause at an utterance's edge is left out.
 */
import type { Outcome } from "../worker/protocol.ts"
import { type Passage, passagesOf, wordAt } from "../worker/passages.ts"
import { endsWithPause, type Sink, type Speaker } from "../worker/serve.ts"
import type { AcousticModel } from "./acoustic-models.ts"
import { type Phonemes, type Phonemize, phonemesOf } from "./phonemes.ts"

/** Kokoro reads at most 510 symbols. */
const symbolsMax = 400
const edgeMarginSeconds = 0.03

export const makeAcousticSpeaker = (model: AcousticModel, phonemize: Phonemize, warmUps: number): Speaker => ({
  hz: model.hz,
  firstVoice: model.speakers[0] ?? "0",
  warmUps,
  readsPhonemes: true,
  speak: (job, sink) => {
    const speaker = job.voice.name
    if (!model.speakers.includes(speaker)) return noSuchSpeaker(speaker)
    const language = "language" in job.voice ? job.voice.language : "en-us"
    const utterances = passagesOf(job).flatMap((passage) =>
      utterancesOf(phonemesOf(passage, language, phonemize)).map((phonemes) => ({ passage, phonemes }))
    )
    let begun = 0
    let isAfterPause = true
    for (const [at, { passage, phonemes }] of utterances.entries()) {
      const isBeforePause = (at === utterances.length - 1 && !job.goesOn) || endsWithPause(phonemes.symbols)
      const spoken = say(model, { passage, phonemes, speaker, begun, isAfterPause, isBeforePause }, sink)
      if (!spoken.isWanted) return null
      begun += spoken.samples
      isAfterPause = isBeforePause
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
  readonly isAfterPause: boolean
  readonly isBeforePause: boolean
}

const say = (model: AcousticModel, placed: Placed, sink: Sink) => {
  const { passage, phonemes, speaker, begun, isAfterPause, isBeforePause } = placed
  const { speed, pitch, range, gainDb } = passage
  const margin = edgeMarginSeconds * model.hz
  let [from, to] = [0, Number.POSITIVE_INFINITY]
  let [received, samples] = [0, 0]
  let isWanted = true
  const begins = (starts: ReadonlyArray<number>) => {
    const [first, end] = [starts[0], starts.at(-1)]
    if (first === undefined || end === undefined) return
    if (!isAfterPause) from = Math.max(0, Math.round(first - margin))
    if (!isBeforePause) to = Math.round(end + margin)
    for (const { position, symbol } of phonemes.words) {
      sink.word(wordAt(passage, position, begun + Math.max(0, Math.round(starts[symbol] ?? end) - from)))
    }
  }
  const sound = (pcm: Int16Array) => {
    const kept = pcm.slice(Math.max(0, from - received), Math.max(0, Math.min(pcm.length, to - received)))
    received += pcm.length
    samples += kept.length
    isWanted &&= kept.length === 0 || sink.audio(kept, gainDb)
    return isWanted
  }
  model.speak({ symbols: phonemes.symbols, speaker, speed, pitch, range }, { begins, sound })
  return { isWanted, samples }
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
