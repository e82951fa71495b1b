/**
 * What the speech roles say to each other. A session is one answer being spoken: speech-api asks the
 * sequencers for it, a sequencer cuts the text and hands chunks to the synthesizers, and PCM and marks come
 * back as frames. All PCM inside is 24,000 Hz, mono, 16 bit; samples count from the session's first.
 */
import { Schema } from "effect"
import { Count, Fault } from "../primitives.ts"
import { EngineVoice } from "./engine-voice.ts"
import { WordMark } from "./marks.ts"

export const speechSampleRateHz = 24_000

/** A process that takes part, and a session: names made by us, safe as subject tokens. */
const Instance = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u))
export const SessionId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u))

/** One voice speaking one input; a dialogue has several. */
export const SpeechTurn = Schema.Struct({
  voiceId: Schema.String,
  /** How the voice speaks this locale. */
  voice: EngineVoice,
  input: Schema.String,
  locale: Schema.String
})
export interface SpeechTurn extends Schema.Schema.Type<typeof SpeechTurn> {}

/** Where to go on when a sequencer was lost: a chunk, the sample it began at, and the first sample wanted. */
export const ResumePoint = Schema.Struct({ chunk: Count, chunkStartSample: Count, fromSample: Count })
export interface ResumePoint extends Schema.Schema.Type<typeof ResumePoint> {}

export const SessionRequest = Schema.Struct({
  sessionId: SessionId,
  /** Whose mailbox the frames go to. */
  api: Instance,
  turns: Schema.Array(SpeechTurn).check(Schema.isMinLength(1)),
  textNormalization: Schema.Boolean,
  /** Samples that may be on the way before the first credit. */
  windowSamples: Count,
  resume: Schema.NullOr(ResumePoint)
})
export interface SessionRequest extends Schema.Schema.Type<typeof SessionRequest> {}

export const SessionAnswer = Schema.Union([
  Schema.TaggedStruct("Accepted", {
    sequencer: Instance,
    /** The sentences of the input, in UTF-16 units, for answers that nest words in them. */
    sentences: Schema.Array(Schema.Struct({ turn: Count, start: Count, end: Count }))
  }),
  Schema.TaggedStruct("Busy", { retryAfterSeconds: Count }),
  /** The input cannot be read; paths begin with `turns/0/input`. */
  Schema.TaggedStruct("Refused", { faults: Schema.Array(Fault) })
])
export type SessionAnswer = Schema.Schema.Type<typeof SessionAnswer>

/** What stands before the PCM of a frame from a sequencer to speech-api. */
export const SessionFrameHead = Schema.Union([
  Schema.TaggedStruct("Audio", {
    /** Frames of one sequencer count from 0. */
    sequence: Count,
    sample: Count,
    /** The chunk that the frame's last sample belongs to, for a resume. */
    chunk: Count,
    chunkStartSample: Count,
    marks: Schema.Array(WordMark)
  }),
  Schema.TaggedStruct("Alive", {}),
  Schema.TaggedStruct("End", { sequence: Count, totalSamples: Count, marks: Schema.Array(WordMark) }),
  Schema.TaggedStruct("Failed", { code: Schema.String, message: Schema.String })
])
export type SessionFrameHead = Schema.Schema.Type<typeof SessionFrameHead>

/** A stretch of plain text in one style, for an engine. */
export const ChunkPiece = Schema.Struct({
  text: Schema.String,
  ratePercent: Schema.Finite,
  pitchPercent: Schema.Finite,
  rangePercent: Schema.Finite,
  volumeDb: Schema.Finite
})

/** A chunk to be synthesized, on SPEECH. */
export const ChunkJob = Schema.Struct({
  sessionId: SessionId,
  sequencer: Instance,
  chunk: Count,
  /** How long its listener has enough to hear without it; absent from sequencers of old, which is taken as nothing. */
  neededInMs: Schema.optionalKey(Count),
  voiceId: Schema.String,
  voice: EngineVoice,
  /** The language it is spoken in, which a voice may have beside its own. */
  locale: Schema.String,
  pieces: Schema.Array(ChunkPiece)
})
export interface ChunkJob extends Schema.Schema.Type<typeof ChunkJob> {}

/** A word that begins in a chunk: `position` is the UTF-16 index in the piece's text. */
export const WordStart = Schema.Struct({ piece: Count, position: Count, sample: Count })

/**
 * What a session receives at its sequencer. From speech-api, four times a second and more: how far the client
 * has come. From a synthesizer: a stretch of a chunk, followed by its PCM.
 */
export const SequencerMail = Schema.Union([
  Schema.TaggedStruct("Credit", { consumedSamples: Count, windowSamples: Count }),
  Schema.TaggedStruct("Cancel", {}),
  Schema.TaggedStruct("Chunk", {
    chunk: Count,
    /** One delivery of the job; a redelivered job is another run and begins at sample 0 again. */
    run: Schema.String,
    synthesizer: Instance,
    /** Of the frame's first sample, from the chunk's beginning. */
    sample: Count,
    words: Schema.Array(WordStart),
    isLast: Schema.Boolean
  }),
  /** The engine could not make it; it may be asked for again. */
  Schema.TaggedStruct("ChunkFailed", { chunk: Count, synthesizer: Instance, reason: Schema.String })
])
export type SequencerMail = Schema.Schema.Type<typeof SequencerMail>
export type ChunkFrameHead = Extract<SequencerMail, { readonly _tag: "Chunk" }>
