/** What a synthesizer is given at once, and the sentence it belongs to. Data only; it travels as JSON. */
import type { Span } from "./runs.ts"
import type { Style } from "./style.ts"

/** Text of one style. */
export interface Piece {
  readonly text: string
  readonly style: Style
}

/** A word whose time will be marked; offsets are UTF-16 units. */
export interface Token {
  /** Index of its piece in the chunk, and its place in that piece's text. */
  readonly piece: number
  readonly textStart: number
  readonly textEnd: number
  /** Its place in the input; `value` is that slice. */
  readonly start: number
  readonly end: number
  readonly value: string
}

export interface Chunk {
  readonly index: number
  readonly sentence: number
  readonly pieces: ReadonlyArray<Piece>
  readonly pauseBeforeMs: number
  readonly pauseAfterMs: number
  readonly tokens: ReadonlyArray<Token>
}

export interface Sentence extends Span {
  readonly index: number
  /** The slice of the input from `start` to `end`. */
  readonly value: string
}

/** An input that was understood. The tokens of a sentence are those of its chunks. */
export interface Reading {
  readonly chunks: ReadonlyArray<Chunk>
  readonly sentences: ReadonlyArray<Sentence>
}
