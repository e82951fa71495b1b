/** What a process that serves speech tells operators of itself, every few seconds: what it can speak, and how well. */
import { Schema } from "effect"
import { Count, describe, EpochMs, text } from "../primitives.ts"

/** A voice that everybody has. */
export const FigureVoice = Schema.Struct({
  id: text(64),
  name: text(64),
  gender: text(16),
  locale: text(16).pipe(describe("Its own language.")),
  languages: Schema.Array(text(16)).pipe(describe("All that it speaks, with some model.")),
  engine: text(32)
})
export interface FigureVoice extends Schema.Schema.Type<typeof FigureVoice> {}

const Milliseconds = Schema.NullOr(Count)

/** The figures of the last five minutes, by one process. */
export const recentFigures = {
  firstBytes: Count.pipe(describe("Answers whose first byte went out; the last 1,024 at most are counted.")),
  firstByteMedianMs: Milliseconds.pipe(describe("From the request to the first byte. Null where none went out.")),
  firstByteP95Ms: Milliseconds.pipe(describe("Nineteen of twenty were quicker.")),
  underruns: Count.pipe(
    describe("Times that a client that plays as it receives would have fallen silent; 1,024 at most.")
  )
}

export const SpeechFigures = Schema.Struct({
  startedAtMs: EpochMs,
  sessions: Count,
  sessionsMax: Count,
  ...recentFigures,
  voices: Schema.Array(FigureVoice).check(Schema.isMaxLength(200))
})
export interface SpeechFigures extends Schema.Schema.Type<typeof SpeechFigures> {}
