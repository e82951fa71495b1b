/**
 * The form into which plain text and SSML are both read: a flat list of runs, and the runs as one passage. A text run
 * holds the text for the engine and, for every UTF-16 unit of it, that unit's position in the input as sent.
 */
import { sameStyle, type Style } from "./style.ts"

/** UTF-16 units of the input as sent; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** One fault of an input, and its position. */
export interface Fault {
  readonly message: string
  readonly offset: number
}

export interface TextRun {
  readonly _tag: "Text"
  readonly text: string
  /** The source span of each unit of `text`. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** Set if the text stands for another one (sub, say-as, a number in words): all of it is one word. */
  readonly whole: Span | null
  /** How such a word should sound, in canonical IPA. */
  readonly ipa?: string
  /** The language or the script if another voice speaks it, as `SpeechTurn.otherVoices` names them. */
  readonly language?: string
  readonly style: Style
}

interface PauseRun {
  readonly _tag: "Pause"
  readonly milliseconds: number
}

/** The end of a marked paragraph or sentence: no sentence crosses it. */
interface BoundaryRun {
  readonly _tag: "Boundary"
}

export type Run = TextRun | PauseRun | BoundaryRun

export const Run = {
  Text: (text: string, starts: Int32Array, ends: Int32Array, style: Style): TextRun => ({
    _tag: "Text",
    text,
    starts,
    ends,
    whole: null,
    style
  }),
  Whole: (text: string, whole: Span, style: Style, ipa?: string): TextRun => ({
    _tag: "Text",
    text,
    starts: new Int32Array(text.length).fill(whole.start),
    ends: new Int32Array(text.length).fill(whole.end),
    whole,
    style,
    ...(ipa === undefined ? {} : { ipa })
  }),
  Pause: (milliseconds: number): PauseRun => ({ _tag: "Pause", milliseconds }),
  Boundary: { _tag: "Boundary" } satisfies BoundaryRun as BoundaryRun
}

/** A part of a run of ordinary text. */
export const sliceRun = (run: TextRun, from: number, to: number): TextRun => ({
  ...run,
  text: run.text.slice(from, to),
  starts: run.starts.subarray(from, to),
  ends: run.ends.subarray(from, to)
})

/** A stretch of one style; `whole` if it stands for one word of the source. */
export interface Segment {
  readonly from: number
  readonly to: number
  readonly style: Style
  readonly whole: Span | null
  readonly ipa?: string
  readonly language?: string
}

/**
 * The runs of an input as one text, so that sentences and words can be found across styles. Two runs with a pause or a
 * boundary between them, or that would run together, are separated by a space that belongs to no segment. Every
 * position is a UTF-16 unit of this text.
 */
export interface Passage {
  readonly text: string
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly segments: ReadonlyArray<Segment>
  readonly pauses: ReadonlyArray<{ readonly at: number; readonly milliseconds: number }>
  /** Where a marked paragraph or sentence ends. */
  readonly boundaries: ReadonlyArray<number>
}

export const passageOf = (runs: ReadonlyArray<Run>): Passage => {
  const length = runs.reduce((sum, run) => sum + 1 + (run._tag === "Text" ? run.text.length : 0), 0)
  const [starts, ends] = [new Int32Array(length), new Int32Array(length)]
  const parts: Array<string> = []
  const segments: Array<Segment> = []
  const pauses: Array<{ at: number; milliseconds: number }> = []
  const boundaries: Array<number> = []
  let at = 0
  const addSpace = () => {
    const before = at === 0 ? 0 : (ends[at - 1] ?? 0)
    starts[at] = before
    ends[at] = before
    parts.push(" ")
    at += 1
  }
  for (const run of runs) {
    if (run._tag === "Text") {
      if (runsTogether(parts.at(-1), segments.at(-1), run)) addSpace()
      starts.set(run.starts, at)
      ends.set(run.ends, at)
      parts.push(run.text)
      addSegment(segments, run, at)
      at += run.text.length
      continue
    }
    if (run._tag === "Pause") pauses.push({ at, milliseconds: run.milliseconds })
    else boundaries.push(at)
    addSpace()
  }
  return { text: parts.join(""), starts, ends, segments, pauses, boundaries }
}

// A comment or a mark inside a word does not split it.
const addSegment = (segments: Array<Segment>, run: TextRun, at: number) => {
  if (run.text === "") return
  const last = segments.at(-1)
  const to = at + run.text.length
  const isSame = last !== undefined && last.to === at && isJoined(last, run)
  if (isSame) segments[segments.length - 1] = { ...last, to }
  else {
    const { ipa, language, style, whole } = run
    const voiced = { ...(ipa === undefined ? {} : { ipa }), ...(language === undefined ? {} : { language }) }
    segments.push({ from: at, to, style, whole, ...voiced })
  }
}

const isJoined = (last: Segment, run: TextRun) =>
  !last.whole && !run.whole && last.language === run.language && sameStyle(last.style, run.style)

// "<sub alias="ten">X</sub>th": an alias is a word, and stays one even if the source has no space.
const runsTogether = (before: string | undefined, last: Segment | undefined, run: TextRun) =>
  (run.whole !== null || last?.whole != null) &&
  /[\p{L}\p{M}\p{N}]$/u.test((before ?? "").slice(-2)) &&
  /^[\p{L}\p{N}]/u.test(run.text)
