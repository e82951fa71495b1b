/** Speech marks: which stretch of the input is heard when. Offsets are UTF-16 units of the input as sent. */
import { Schema } from "effect"
import { Count, describe } from "#base"

/** Milliseconds from the start of the synthesis, on one timeline for the entire answer. */
export const MarkTime = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const place = {
  start: Count.pipe(describe("Where it begins in the input as it was sent, in UTF-16 units.")),
  end: Count.pipe(describe("Where it has ended.")),
  start_time: MarkTime.pipe(describe("When it begins to be heard, in ms from the start of the audio.")),
  end_time: MarkTime.pipe(describe("When it has ended."))
}
const span = { ...place, value: Schema.String.pipe(describe("`input.slice(start, end)`, exactly.")) }

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

/** The kinds that a request can ask for. Words come without being asked for. */
export const markKinds = ["word", "sentence", "character", "phoneme", "viseme"] as const
export type MarkKind = (typeof markKinds)[number]

const SentenceSpan = Schema.Struct({ type: Schema.Literal("sentence"), ...span, turn })
const CharacterMark = Schema.Struct({ type: Schema.Literal("character"), ...span, turn })

/** One sound, as the voice made it. Its place is that of its word. */
export const PhonemeMark = Schema.Struct({
  type: Schema.Literal("phoneme"),
  ...place,
  value: Schema.String.pipe(describe("The sound in the International Phonetic Alphabet, without stress.")),
  turn
})
export interface PhonemeMark extends Schema.Schema.Type<typeof PhonemeMark> {}

const VisemeMark = Schema.Struct({
  type: Schema.Literal("viseme"),
  ...place,
  value: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 21 })).pipe(
    describe("The shape of the mouth, by the numbers of SAPI's SPVISEMES; 0 is at rest.")
  ),
  turn
})

/** A mark of another kind than a word. */
export const OtherMark = Schema.Union([SentenceSpan, CharacterMark, PhonemeMark, VisemeMark], {
  mode: "oneOf"
}).annotate({ identifier: "OtherMark", description: "A mark of one of the kinds that `options.marks` asked for." })
export type OtherMark = Schema.Schema.Type<typeof OtherMark>
