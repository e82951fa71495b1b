/**
 * The pauses of a model's utterance. A model begins and ends with silence as if nothing came before and after, and
 * pauses at a comma sometimes for 50 ms and sometimes for 450. Here the silence at the edges, and at each punctuation
 * mark, becomes as long as the mark asks; word starts move along. Holds back only what is silent.
 */
import { makeStretcher } from "#speech/audio/stretch"
import type { WordStart } from "#speech/contract"
import type { Passage } from "./passages.ts"
import { joined, type Sink } from "./serve.ts"

/**
 * Milliseconds of silence after a mark, at a voice's own speed. The proportions are those of espeak-ng, which waits 200
 * at a comma, 300 at a colon or semicolon and 400 at a full stop. All of it is 0.8 times as long: neural voices take
 * turns in conversations, where the silence between two sentences lasts some 300 ms.
 */
export const pauses = { comma: 160, colon: 240, sentence: 320 } as const

const marks = [
  { mark: /(?:[;:–—…；：]|\.\.)$/u, milliseconds: pauses.colon },
  { mark: /[.!?。！？؟]$/u, milliseconds: pauses.sentence },
  { mark: /[,،，、]$/u, milliseconds: pauses.comma }
]
/** Longer than a mark with its quotes and brackets. */
const reach = 12

/** The pause that ends a text, 0 without a mark. */
export const pauseAfter = (text: string): number => {
  const end = text.slice(-reach).replace(/["'“”‘’«»()[\]\s]{1,12}$/u, "")
  return marks.find(({ mark }) => mark.test(end))?.milliseconds ?? 0
}

/** The pause within a sentence before `position`: a lone full stop there belongs to an abbreviation. */
export const pauseBefore = (text: string, position: number): number => {
  const before = text.slice(0, position)
  return /[^.]\.["'”’)\s]{0,12}$/u.test(before) ? 0 : pauseAfter(before)
}

/** The pause that ends an utterance, which may be a heading without a mark. */
export const endPause = (text: string, isLast: boolean): number => pauseAfter(text) || (isLast ? pauses.sentence : 0)

/** 40 dB below full scale: a model's hiss is below it, speech is above it. */
const audible = 330
/** What stays of a silence at an edge, so that no sound is cut. */
const marginSeconds = 0.03
/** A shorter silence is the stop of a consonant. */
const pauseSeconds = 0.05
/** A pause ends this near to the start of the word behind its mark. */
const nearSeconds = 0.1
const fadeSeconds = 0.002

interface Utterance {
  readonly hz: number
  readonly passage: Pick<Passage, "gainDb" | "speed">
  /**
   * The speed at which it comes, 1 from a model; the rest is stretched. At 1.5 Whisper mishears 10 % of heart's words if
   * the model speaks so fast and 3 % if its sound is stretched, at 2 16 % and 6 %; and a model is only nearly as fast as asked.
   */
  readonly ownSpeed?: number
  /** Samples of the job before this utterance. */
  readonly begun: number
  /** Milliseconds at the voice's own speed; 0 if the next utterance follows within a sentence. */
  readonly endPause: number
}

interface Timeline {
  /** The next `length` samples of the model are heard as so many. */
  readonly put: (length: number, heard: number) => void
  /** Where a sample of the model is heard. */
  readonly heardAt: (sample: number) => number
  readonly taken: () => number
  readonly heard: () => number
}

/** Where the samples of a model are heard. Within a pause they keep their distance from the sound behind it. */
const makeTimeline = (): Timeline => {
  const stretches: Array<{ readonly to: number; readonly heardFrom: number; readonly heardTo: number }> = []
  let [taken, heard] = [0, 0]
  return {
    put: (length, heardLength) => {
      stretches.push({ to: taken + length, heardFrom: heard, heardTo: heard + heardLength })
      taken += length
      heard += heardLength
    },
    heardAt: (sample) => {
      const found = stretches.find(({ to }) => sample < to)
      return found === undefined ? heard : Math.max(found.heardFrom, found.heardTo - (found.to - sample))
    },
    taken: () => taken,
    heard: () => heard
  }
}

export interface Paced {
  /** `sample` counts from the utterance's first one, `pause` is that before the word. Words may come late. */
  readonly word: (word: WordStart, pause: number) => void
  /** Returns false to stop. */
  readonly audio: (pcm: Int16Array) => boolean
  /** Gives the last silence. Returns false if nobody listens any more. */
  readonly end: () => boolean
  /** Samples given. */
  readonly samples: () => number
}

export const paced = (sink: Sink, { hz, passage, ownSpeed = 1, begun, endPause }: Utterance): Paced => {
  const { gainDb, speed } = passage
  const stretch = speed / ownSpeed
  const stretcher = makeStretcher(stretch, hz)
  const samplesOf = (seconds: number) => Math.round(seconds * hz)
  const margin = samplesOf(marginSeconds)
  const pauseLength = (milliseconds: number) => Math.round((milliseconds / 1_000 / ownSpeed) * hz)
  const timeline = makeTimeline()
  const marked: Array<{ readonly sample: number; readonly pause: number }> = []
  let waiting: Array<WordStart> = []
  // The silence that what comes next may still lengthen.
  let silent: Int16Array = new Int16Array(0)
  let [hasSound, isWanted] = [false, true]
  const tell = (words: ReadonlyArray<WordStart>) => {
    for (const word of words) {
      sink.word({ ...word, sample: begun + Math.round(timeline.heardAt(word.sample) / stretch) })
    }
  }
  /** Takes `length` samples of the model's sound, which are heard as these. */
  const give = (length: number, heard: Int16Array) => {
    timeline.put(length, heard.length)
    tell(waiting.filter(({ sample }) => sample < timeline.taken()))
    waiting = waiting.filter(({ sample }) => sample >= timeline.taken())
    isWanted &&= heard.length === 0 || sink.audio(stretcher.push(heard), gainDb)
  }
  /** Silence that sound follows. */
  const giveSilence = (pcm: Int16Array) => {
    if (!hasSound) return give(pcm.length, pcm.slice(-margin))
    const end = timeline.taken() + pcm.length
    const mark = marked.find(({ sample }) => Math.abs(sample - end) <= samplesOf(nearSeconds))
    give(
      pcm.length,
      mark === undefined ? pcm.slice() : lengthened(pcm, pauseLength(mark.pause), samplesOf(fadeSeconds))
    )
  }
  return {
    word: (word, pause) => {
      if (pause > 0) marked.push({ sample: word.sample, pause })
      if (word.sample < timeline.taken()) tell([word])
      else waiting.push(word)
    },
    audio: (pcm) => {
      const all = joined([silent, pcm], silent.length + pcm.length)
      let [given, quietFrom] = [0, 0]
      for (let at = silent.length; at < all.length; at++) {
        if (Math.abs(all[at] ?? 0) <= audible) continue
        if (at - quietFrom >= samplesOf(pauseSeconds) || !hasSound) {
          give(quietFrom - given, all.slice(given, quietFrom))
          giveSilence(all.subarray(quietFrom, at))
          given = at
          hasSound = true
        }
        quietFrom = at + 1
      }
      give(quietFrom - given, all.slice(given, quietFrom))
      silent = all.slice(quietFrom)
      return isWanted
    },
    end: () => {
      const length = hasSound ? Math.max(margin, pauseLength(endPause) - margin) : silent.length
      const ending = new Int16Array(length)
      ending.set(silent.subarray(0, length))
      give(silent.length, ending)
      tell(waiting)
      isWanted &&= sink.audio(stretcher.flush(), gainDb)
      return isWanted
    },
    samples: () => Math.round(timeline.heard() / stretch)
  }
}

/** A silence of this length with the beginning and the end of the given one. Pure. */
const lengthened = (silence: Int16Array, length: number, fade: number) => {
  const half = Math.min(silence.length, length) >> 1
  const made = new Int16Array(length)
  made.set(silence.subarray(0, half))
  made.set(silence.subarray(silence.length - half), length - half)
  for (let at = 0; at < Math.min(fade, half); at++) {
    made[half - 1 - at] = Math.round(((made[half - 1 - at] ?? 0) * at) / fade)
    made[length - half + at] = Math.round(((made[length - half + at] ?? 0) * at) / fade)
  }
  return made
}
