/**
 * A job spoken by flite: utterance by utterance, with samples as they come. flite puts a pause on both sides of every
 * utterance; between pieces of one sentence these pauses are left out.
 */
import type { ChunkPiece, EngineVoice, WordStart } from "#speech/contract"
import { pauseAfter } from "../worker/pauses.ts"
import type { Sink, Speaker } from "../worker/serve.ts"
import type { Flite, Planned } from "./binding.ts"
import { ipaOfPhone, type PhonesOfToken, withPhones } from "./phones.ts"

/** What remains of a pause that is left out, so that no sound is cut. */
const marginSeconds = 0.02

interface Part {
  readonly piece: ChunkPiece
  readonly index: number
  readonly span: Span
  readonly ascii: string
  /** By their positions in that text. */
  readonly tokens: ReadonlyArray<PhonesOfToken>
}

export const makeFliteSpeaker = (flite: Flite): Speaker => ({
  hz: flite.hz,
  firstVoice: "slt",
  readsPhonemes: true,
  speak: (job, sink) => {
    const { name } = job.voice
    if (!isFliteVoice(name)) return { kind: "failed", reason: "voice", detail: `flite has no voice ${name}` }
    const parts = job.pieces.flatMap(partsOf)
    let begun = 0
    let isAfterPause = true
    const isTold = job.phonemes === true
    for (const [at, part] of parts.entries()) {
      const isBeforePause = (at === parts.length - 1 && !job.goesOn) || pauseAfter(part.ascii) > 0
      const speech = makeSpeech({ hz: flite.hz, part, begun, isAfterPause, isBeforePause }, sink)
      flite.synthesize({ ...part, isTold }, name, fliteFeatures(name, job.voice, part.piece), (pcm, plan) =>
        speech.audio(pcm, plan, job.voice.gainDb + part.piece.volumeDb)
      )
      if (speech.isStopped()) return null
      begun += speech.samples()
      isAfterPause = isBeforePause
    }
    return null
  }
})

const partsOf = (piece: ChunkPiece, index: number): ReadonlyArray<Part> => {
  const { ascii, tokens } = withPhones(plainAscii(piece.text), piece.pronunciations ?? [])
  return utterances(ascii)
    .map((span) => ({
      piece,
      index,
      span,
      ascii: ascii.slice(span.from, span.to),
      tokens: tokens
        .filter(({ at }) => at >= span.from && at < span.to)
        .map(({ at, phones }) => ({ at: at - span.from, phones }))
    }))
    .filter((part) => part.ascii.trim() !== "")
}

interface SpeechOptions {
  readonly hz: number
  readonly part: Part
  /** Samples of the job before this part. */
  readonly begun: number
  readonly isAfterPause: boolean
  readonly isBeforePause: boolean
}

const makeSpeech = ({ hz, part, begun, isAfterPause, isBeforePause }: SpeechOptions, sink: Sink) => {
  const margin = marginSeconds * hz
  let received = 0
  let given = 0
  let isStopped = false
  let bounds: Span | undefined
  const plan = (planned: Planned): Span => {
    const first = planned.words[0]?.sample ?? 0
    const from = isAfterPause ? 0 : Math.max(0, first - margin)
    const to = isBeforePause || planned.speechEnd === 0 ? Number.POSITIVE_INFINITY : planned.speechEnd + margin
    const words = placedWords(planned, part)
    for (const word of [...words, ...placedPhones(planned, words)]) {
      sink.word({ ...word, sample: begun + word.sample - from })
    }
    return { from, to }
  }
  return {
    isStopped: () => isStopped,
    samples: () => given,
    audio: (pcm: Int16Array, planned: Planned, gainDb: number) => {
      bounds ??= plan(planned)
      const kept = pcm.slice(
        Math.max(0, bounds.from - received),
        Math.max(0, Math.min(pcm.length, bounds.to - received))
      )
      received += pcm.length
      given += kept.length
      isStopped = !sink.audio(kept, gainDb)
      return !isStopped
    }
  }
}

/** Tokens come in text order and unchanged, so each is searched after the previous one. */
const placedWords = (planned: Planned, part: Part) => {
  let [position, after] = [0, 0]
  return planned.words.map((word) => {
    if (word.isFirstOfToken) {
      const found = part.ascii.indexOf(word.token, after)
      position = found === -1 ? after : found
      after = position + (found === -1 ? 0 : word.token.length)
    }
    return { piece: part.index, position: part.span.from + position, sample: word.sample }
  })
}

/** Phones belong to the last word that has begun; those before the first one are silent. */
const placedPhones = ({ phones }: Planned, words: ReadonlyArray<WordStart>): ReadonlyArray<WordStart> => {
  let word = -1
  return phones.flatMap(({ phone, sample }) => {
    while ((words[word + 1]?.sample ?? Infinity) <= sample) word += 1
    const begun = words[word]
    return begun === undefined ? [] : [{ ...begun, sample, phoneme: ipaOfPhone(phone) }]
  })
}

export const fliteVoices = ["kal16", "awb", "rms", "slt"] as const
export type FliteVoice = (typeof fliteVoices)[number]

const isFliteVoice = (name: string): name is FliteVoice => (fliteVoices as ReadonlyArray<string>).includes(name)

/** Hz of the voices when nothing is set. */
const ownPitch: Record<FliteVoice, { readonly mean: number | null; readonly deviation: number }> = {
  kal16: { mean: 95, deviation: 11 },
  awb: { mean: null, deviation: 24 },
  rms: { mean: null, deviation: 15 },
  slt: { mean: null, deviation: 25 }
}

export type FliteFeatures = Readonly<Record<string, number>>

/**
 * From percentages to the features of flite's voices. kal16 (diphones) takes mean and deviation of the pitch in Hz. The
 * others (statistical) take a factor for the mean and the deviation in Hz, except rms, which has its own pitch model
 * and takes neither.
 */
export const fliteFeatures = (
  name: FliteVoice,
  voice: EngineVoice,
  piece: Pick<ChunkPiece, "ratePercent" | "pitchPercent" | "rangePercent">
): FliteFeatures => {
  const rate = within(0.2, (voice.ratePercent * piece.ratePercent) / 10_000, 5)
  const pitch = within(0.3, (voice.pitchPercent * piece.pitchPercent) / 10_000, 3)
  const range = within(0, (voice.rangePercent * piece.rangePercent) / 10_000, 4)
  const own = ownPitch[name]
  const deviation = own.deviation * pitch * range
  return {
    duration_stretch: 1 / rate,
    ...(own.mean === null ? { f0_shift: pitch } : { int_f0_target_mean: own.mean * pitch }),
    ...(pitch === 1 && range === 1 ? {} : { int_f0_target_stddev: deviation })
  }
}

const within = (least: number, value: number, most: number) => Math.max(least, Math.min(most, value))

const plain: Readonly<Record<string, string>> = {
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "–": "-",
  "—": ",",
  "…": ".",
  ß: "s",
  æ: "a",
  œ: "o",
  ø: "o",
  ł: "l",
  đ: "d",
  "€": "E",
  "£": "L"
}

/**
 * flite's voices are English and read ASCII. Every UTF-16 unit becomes exactly one character, so that positions stay
 * valid: letters lose their marks, typographic signs become plain ones, the rest becomes a space.
 */
export const plainAscii = (text: string): string => {
  let ascii = ""
  for (let at = 0; at < text.length; at++) ascii += plainUnit(text.charAt(at))
  return ascii
}

const plainUnit = (unit: string) => {
  if (unit >= " " && unit <= "~") return unit
  const known = plain[unit]
  if (known !== undefined) return known
  const base = unit.normalize("NFKD").charAt(0)
  return base >= "!" && base <= "~" ? base : " "
}

export interface Span {
  readonly from: number
  readonly to: number
}

const lengthMin = 20
const lengthMax = 120
const sentenceEnd = /[.!?]["')\]]*\s+/gu

/**
 * Cuts a text for an engine that plans an entire utterance before its first sample and cannot be stopped meanwhile. It
 * cuts at the ends of sentences. If there are none for long, it cuts after a clause, at a space, or within a text that
 * is not a word anyway. 120 characters are planned in some 40 ms.
 */
export const utterances = (text: string): ReadonlyArray<Span> => {
  const ends = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length)
  const spans: Array<Span> = []
  let from = 0
  for (const to of [...ends, text.length]) {
    if (to < text.length && to - from < lengthMin) continue
    while (to - from > lengthMax) {
      const cut = cutWithin(text, from)
      spans.push({ from, to: cut })
      from = cut
    }
    if (to > from) spans.push({ from, to })
    from = to
  }
  return spans
}

const cutWithin = (text: string, from: number) => {
  const clause = text.lastIndexOf(", ", from + lengthMax - 2)
  if (clause > from + lengthMin) return clause + 2
  const space = text.lastIndexOf(" ", from + lengthMax - 1)
  return space > from ? space + 1 : from + lengthMax
}
