/**
 * What the processes of speech report about themselves, every few seconds: those that serve it, what they speak and how
 * well; those that synthesize it, which of their engines can speak.
 */
import { Schema } from "effect"
import { Count, describe, EpochMs, text } from "#base"

/** A voice available to everybody. */
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

/** The figures of the last five minutes, from one process. */
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

/** `opening`: it will speak soon. `failed`: it could not be opened, or keeps ending. */
export const EngineState = Schema.Struct({
  state: Schema.Literals(["opening", "ready", "failed"]),
  /** Why it failed. */
  detail: Schema.optionalKey(text(600))
})
export interface EngineState extends Schema.Schema.Type<typeof EngineState> {}

/** The engines of one synthesizer whose start can fail, by name; those that it always has are left out. */
export const SynthesizerEngines = Schema.Struct({ engines: Schema.Record(text(64), EngineState) })
export interface SynthesizerEngines extends Schema.Schema.Type<typeof SynthesizerEngines> {}
