/**
 * A job spoken by espeak-ng: one call per piece, its style set before it. A piece ends with a pause if the job ends
 * with it or if its own text does; otherwise the next piece follows at once, as inside a sentence. Words with phonemes
 * are spoken by espeak-ng's own names for these, which it reads between [[ and ]]. The names differ between languages:
 * "a" is the vowel of "cat" in American English and of "Katze" in German. So each language is asked once how each name
 * sounds, and the answers are inverted.
 */
import { makeStretcher } from "#speech/audio/stretch"
import type { ChunkPiece, EngineVoice } from "#speech/contract"
import type { EngineJob } from "../Engine.ts"
import type { Outcome } from "../worker/protocol.ts"
import { pauseAfter } from "../worker/pauses.ts"
import { type Sink, type Speaker, withoutControls } from "../worker/serve.ts"
import type { Espeak, EspeakEvent } from "./binding.ts"
import { decomposed, namedSounds, readIpa } from "../../phonemes/ipa.ts"

const wordEvent = 1
/** A language with an optional variant; nothing that could be a path. */
const voiceName = /^[a-z0-9-]{1,32}(?:\+[A-Za-z0-9-]{1,32})?$/u

export const makeEspeakSpeaker = (espeak: Espeak): Speaker => {
  const reset = makeReset(espeak)
  const phonemesIn = makePhonemes(espeak, reset)
  let voice: string | undefined
  const setVoice = (name: string) => {
    voice = voiceName.test(name) && espeak.setVoice(name) ? name : undefined
    return voice !== undefined
  }
  return {
    hz: espeak.hz,
    firstVoice: "en-us",
    readsPhonemes: true,
    speak: (job, sink) => {
      if (job.voice.name !== voice && !setVoice(job.voice.name)) return noSuchVoice(job)
      const texts = job.pieces.map((piece) => espeakText(piece, (ipa) => phonemesIn(job.voice.name, ipa)))
      espeak.setParameter("volume", 100)
      let begun = 0
      for (const [index, piece] of job.pieces.entries()) {
        const spoken = speakPiece(espeak, { job, piece, text: texts[index], index, begun }, sink)
        if (!spoken.isComplete) return null
        begun += spoken.samples
      }
      return null
    },
    reset: () => {
      reset()
      // Reading a voice takes 0.1 ms, which the next caller of the same voice need not wait for.
      if (voice !== undefined) espeak.setVoice(voice)
    }
  }
}

/** Each language's phoneme names, determined once. That speaks, so the previous state is restored. */
const makePhonemes = (espeak: Espeak, reset: () => void) => {
  const known = new Map<string, ReadonlyMap<string, string>>()
  return (voice: string, ipa: string) => {
    const [language = voice] = voice.split("+")
    let names = known.get(language)
    if (names === undefined) {
      names = mnemonicsOf(espeak.soundsOf)
      known.set(language, names)
      reset()
      espeak.setVoice(voice)
    }
    return espeakPhonemes(ipa, names)
  }
}

const noSuchVoice = (job: EngineJob): Outcome => ({
  kind: "failed",
  reason: "voice",
  detail: `espeak-ng has no voice ${job.voice.name}`
})

interface PlacedPiece {
  readonly job: EngineJob
  readonly piece: ChunkPiece
  readonly text: EspeakText | undefined
  readonly index: number
  /** Samples of the job before this piece. */
  readonly begun: number
}

const speakPiece = (espeak: Espeak, { job, piece, text, index, begun }: PlacedPiece, sink: Sink) => {
  const style = espeakParameters(job.voice, piece)
  espeak.setParameter("rate", style.wordsPerMinute)
  espeak.setParameter("pitch", style.pitch)
  espeak.setParameter("range", style.range)

  const { starts, sent, hasPhonemes } = text ?? plainText(piece.text)
  const isLast = index === job.pieces.length - 1 && !job.goesOn
  const stretcher = makeStretcher(style.stretch, espeak.hz)
  let samples = 0
  let isComplete = true
  let spoken: number | undefined
  const word = (event: EspeakEvent) => {
    const sample = begun + Math.round(event.sample / style.stretch)
    if (event.phoneme !== undefined) {
      const isTold = job.phonemes === true && spoken !== undefined
      if (isTold) sink.word({ piece: index, position: spoken ?? 0, sample, phoneme: event.phoneme })
      return
    }
    // Positions are code points from 1; at 0 and past the end are pauses that espeak adds itself.
    const position = event.textPosition > 0 ? starts[event.textPosition - 1] : undefined
    if (event.type !== wordEvent || position === undefined || position >= piece.text.length) return
    spoken = position
    sink.word({ piece: index, position, sample })
  }
  const give = (pcm: Int16Array) => {
    samples += pcm.length
    isComplete &&= sink.audio(pcm, job.voice.gainDb + piece.volumeDb)
    return isComplete
  }
  const manner = { endsWithPause: isLast || pauseAfter(piece.text) > 0, hasPhonemes }
  espeak.synthesize(sent, manner, (pcm, events) => {
    if (isComplete) events.forEach(word)
    return give(stretcher.push(pcm))
  })
  give(stretcher.flush())
  return { samples, isComplete }
}

/** A piece as espeak-ng gets it, and for each code point of that its position in the piece. */
export interface EspeakText {
  readonly sent: string
  readonly starts: Uint32Array
  readonly hasPhonemes: boolean
}

const plainText = (text: string): EspeakText => ({
  sent: withoutControls(text),
  starts: codePointStarts(text),
  hasPhonemes: false
})

/**
 * Words with a pronunciation become espeak-ng's phonemes, all of them at the word's position. The caller's own brackets
 * must not open any, so that only checked phonemes are read as such. Pure.
 */
export const espeakText = (
  { text, pronunciations = [] }: Pick<ChunkPiece, "text" | "pronunciations">,
  phonemes: (ipa: string) => string
): EspeakText => {
  if (pronunciations.length === 0) return plainText(text)
  const starts: Array<number> = []
  let sent = ""
  let at = 0
  const addPlain = (to: number) => {
    const plain = withoutControls(text.slice(at, to)).replaceAll(/(?<=\[)\[/gu, " ")
    for (const start of codePointStarts(plain).subarray(0, -1)) starts.push(at + start)
    sent += plain
    at = to
  }
  for (const { from, to, ipa } of pronunciations) {
    const spoken = phonemes(ipa)
    if (spoken === "" || from < at || to > text.length) continue
    addPlain(from)
    // espeak-ng counts phonemes as a word only after a space.
    const word = /(?:^|\s)$/u.test(sent) ? spoken : ` ${spoken}`
    starts.push(...Array.from(word, () => from))
    sent += word
    at = to
  }
  addPlain(text.length)
  starts.push(text.length)
  return { sent, starts: Uint32Array.from(starts), hasPhonemes: true }
}

/** The UTF-16 index at which each code point of the text starts, then the text's length. */
export const codePointStarts = (text: string): Uint32Array => {
  const starts = new Uint32Array(text.length + 1)
  let [count, at] = [0, 0]
  for (const character of text) {
    starts[count++] = at
    at += character.length
  }
  starts[count++] = at
  return starts.subarray(0, count)
}

const wordsPerMinute = { plain: 175, min: 80, max: 900 }
const pitchMax = 99
const rangePlain = 50
/** The share of the range that the base must take over, and the lift by a wider range. */
const rangeShare = 0.234
const rangeLift = 0.2

type ManneredPiece = Pick<ChunkPiece, "ratePercent" | "pitchPercent" | "rangePercent">

/**
 * From percentages to the parameters of espeak-ng, which has its own scales: words per minute, and a pitch table of two
 * octaves around 50. Pitch and range are set together: espeak's table moves only the base of the voice, and a wider
 * range lifts its middle, so both are compensated. Measured: within 4 % of the request.
 */
export const espeakParameters = (voice: EngineVoice, piece: ManneredPiece) => {
  const rate = (voice.ratePercent * piece.ratePercent) / 10_000
  const pitch = (voice.pitchPercent * piece.pitchPercent) / 10_000
  const requestedRange = (voice.rangePercent * piece.rangePercent) / 10_000
  const range = Math.min(pitchMax, Math.round(rangePlain * pitch * requestedRange))
  const widened = range / rangePlain / pitch - 1
  const base = pitch + rangeShare * (pitch - 1) - rangeLift * pitch * widened
  return {
    wordsPerMinute: within(wordsPerMinute.min, wordsPerMinute.plain * rate, wordsPerMinute.max),
    /** What espeak-ng cannot speak as slowly is stretched. */
    stretch: Math.min(1, (wordsPerMinute.plain * rate) / wordsPerMinute.min),
    pitch: base <= 0 ? 0 : within(0, 50 + 50 * Math.log2(base), pitchMax),
    range
  }
}

const within = (least: number, value: number, most: number) => Math.round(Math.max(least, Math.min(most, value)))

const language = "it"
/** A voice this high has few harmonics, and takes a third of the time. */
const high = "pitch 300 300\n"
const rolled = "rra"
/**
 * More phonemes than the thousand that the list holds, in few words, because the list also records where words started.
 */
const everyPhoneme = `${"w".repeat(20)} `.repeat(8)
const timesMax = 16

/**
 * Resets espeak-ng after a job to the state in which the first job found it, so that the same job gives the same
 * samples. Four things outlive a job, whether it was spoken or broken off:
 * - the voice's position in the period of its roughness;
 * - the gain, lowered by a vowel that was clipped;
 * - the content of the list of phonemes: a later clause takes the pauses behind its end for its own;
 * - the stream of libsonic, which speeds up speech that is faster than espeak-ng itself can speak.
 * The first samples of a rolled r reveal the first two: the r is spoken again until it sounds as at first, which takes
 * at most four times unless a vowel was clipped. A clause that fills the list clears the third. The fourth ends when
 * speech is broken off, as each r is. All of it costs some 0.4 ms, after the job's last frame.
 */
const makeReset = (espeak: Espeak): (() => void) => {
  const prepare = () => {
    espeak.setVoice(language, high)
    espeak.setParameter("volume", 100)
    espeak.setParameter("rate", 175)
    espeak.setParameter("pitch", 50)
    espeak.setParameter("range", 50)
  }
  const firstSamples = () => {
    let first: Int16Array = new Int16Array(0)
    espeak.synthesize(rolled, { endsWithPause: false, hasPhonemes: false }, (pcm) => {
      first = pcm
      return false
    })
    return Buffer.from(first.buffer)
  }
  prepare()
  const atFirst = firstSamples()
  espeak.readClause(everyPhoneme)
  return () => {
    prepare()
    for (let time = 0; time < timesMax && !firstSamples().equals(atFirst); time++);
    // Comes last: text that was broken off leaves a character, which precedes this clause until a new text starts.
    espeak.readClause(everyPhoneme)
  }
}

/** How espeak-ng's current voice sounds this text, as IPA; names between [[ and ]] are read as such. */
export type Sounds = (text: string) => string

const consonants =
  'p b t d k g q ? m n N n^ n. l L l. l^ r R r- R2 r" r. R^ * ** f v T D s z S Z C x X Q Q" h j w w# B J c J^ s. z. S; Z; s; ' +
  "z; v# l# tS dZ ts dz tS; dZ; pF ts; dz; ts. t. d. sx t; d; m; n; p; b; k; g; r; l; v; f; tsh th ph kh m- n- l- N- D;"
const vowels =
  '@ a A A: a: aa E E: e e: I I: i i: i: O O: o o: U u u: V V# 3: 3 0 @: y y: Y Y: W W: 8 u- i" u" 1 & I# I2 I^ M a# e/ o/ ' +
  "i/ a/ aI aU eI oU @U OI OY EI EU e@ i@ i@3 U@ o@ O@ A@ aI@ aI3 aU@ IR VR oI eU iU uI ai au ei oi ou ja ju jo A~ O~ W~ E~ " +
  "I~ U~ V~ &~ &U~ oI~ o~ a~ e~ i~ u~ I@ @L Y2 Wy VU uo ie Q ei ui iu"

/** The phonemes of a language by their IPA, and the shortest of espeak-ng's names for each. */
export const mnemonicsOf = (sounds: Sounds): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const note = (phonemes: string | undefined, name: string) => {
    const read = phonemes === undefined ? undefined : readIpa(phonemes)
    if (read === undefined || "fault" in read || /[ .ˈˌ]/u.test(read.ipa) || names.has(read.ipa)) return
    names.set(read.ipa, name)
  }
  const say = (name: string) =>
    decomposed(name === "" ? "" : sounds(`[[${name}]]`))
      .replaceAll("^", "")
      .replaceAll("ˈ", "")
  const frames = [
    ["", "|a", consonants],
    // Languages change vowels at the end of a word, and some of them without stress.
    ["t|'", "|t", vowels],
    ["t|'a|t|", "|t", vowels],
    ["", "", vowels]
  ] as const
  for (const [left, right, all] of frames) {
    const [before, after] = [say(left.replace(/'$/u, "")), say(right.slice(1))]
    for (const name of all.split(" ")) note(between(say(left + name + right), before, after), name)
  }
  // A language that merges r into the vowel before it has no other r there, and callers leave its length and its kind
  // open.
  for (const [ipa, name] of [...names].filter(([symbols]) => /^\P{M}ː?ɹ$/u.test(symbols))) {
    for (const vowel of [ipa.charAt(0), `${ipa.charAt(0)}ː`]) {
      for (const r of "ɹr") if (!names.has(vowel + r)) names.set(vowel + r, name)
    }
  }
  return names.set("ː", ":")
}

const between = (phonemes: string, before: string, after: string) =>
  phonemes.startsWith(before) && phonemes.endsWith(after) && phonemes.length > before.length + after.length
    ? phonemes.slice(before.length, phonemes.length - after.length)
    : undefined

const stresses = { "": "", ˈ: "'", ˌ: "," } as const

/** Canonical phonemes as espeak-ng reads them, with the marks around them. */
export const espeakPhonemes = (ipa: string, names: ReadonlyMap<string, string>): string => {
  const words = namedSounds(ipa, names).map((word) => word.map(({ name, stress }) => stresses[stress] + name).join("|"))
  return words.length === 0 ? "" : `[[${words.join(" ")}]]`
}
