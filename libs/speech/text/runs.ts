/**
 * What an input is read into, plain text and SSML alike: a flat list of runs. A text run says what the engine
 * is to speak and, for every UTF-16 unit of it, where that unit stands in the input as it was sent.
 */
import type { Style } from "./style.ts"

/** UTF-16 units of the input as sent; `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** One thing that is wrong with an input, and where. */
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
  /** Set where the text stands for something else (sub, say-as, a number in words): all of it is one word. */
  readonly whole: Span | null
  readonly style: Style
}

export interface PauseRun {
  readonly _tag: "Pause"
  readonly milliseconds: number
}

/** Where a paragraph or a sentence was marked: no sentence goes across. */
export interface BoundaryRun {
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
  Whole: (text: string, whole: Span, style: Style): TextRun => ({
    _tag: "Text",
    text,
    starts: new Int32Array(text.length).fill(whole.start),
    ends: new Int32Array(text.length).fill(whole.end),
    whole,
    style
  }),
  Pause: (milliseconds: number): PauseRun => ({ _tag: "Pause", milliseconds }),
  Boundary: { _tag: "Boundary" } satisfies BoundaryRun as BoundaryRun
}

/** A part of a run of ordinary text. */
export const sliceRun = (run: TextRun, from: number, to: number): TextRun =>
  Run.Text(run.text.slice(from, to), run.starts.subarray(from, to), run.ends.subarray(from, to), run.style)
