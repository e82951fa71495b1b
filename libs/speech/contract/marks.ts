/** Speech marks: which stretch of the input is heard when. Offsets are UTF-16 units of the input as sent. */
import { Schema } from "effect"
import { Count, describe } from "#base"

/** Milliseconds from the start of the synthesis, on one timeline for the entire answer. */
export const MarkTime = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const span = {
  start: Count.pipe(describe("Where it begins in the input as it was sent, in UTF-16 units.")),
  end: Count.pipe(describe("Where it has ended.")),
  start_time: MarkTime.pipe(describe("When it begins to be heard, in ms from the start of the audio.")),
  end_time: MarkTime.pipe(describe("When it has ended.")),
  value: Schema.String.pipe(describe("`input.slice(start, end)`, exactly."))
}

const turn = Schema.optionalKey(Count).pipe(describe("In a dialogue: the turn whose input it is."))

/** One word. Only a dialogue has `turn`. */
export const WordMark = Schema.Struct({
  type: Schema.Literal("word"),
  ...span,
  turn
}).annotate({ identifier: "WordMark" })
export interface WordMark extends Schema.Schema.Type<typeof WordMark> {}

export const SentenceMark = Schema.Struct({
  type: Schema.Literal("sentence"),
  ...span,
  turn,
  chunks: Schema.Array(WordMark)
}).annotate({ identifier: "SentenceMark" })
export interface SentenceMark extends Schema.Schema.Type<typeof SentenceMark> {}

/** The marks of an entire answer: one node over all, its sentences, their words. */
export const SpeechMarks = Schema.Struct({
  type: Schema.Literal("paragraph"),
  ...span,
  chunks: Schema.Array(SentenceMark)
}).annotate({ identifier: "SpeechMarks" })
export interface SpeechMarks extends Schema.Schema.Type<typeof SpeechMarks> {}
