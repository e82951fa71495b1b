/**
 * The messages between the speech roles. A session is the speaking of one answer: speech-api requests it from a
 * sequencer, which cuts the text and hands chunks to the synthesizers, and PCM and marks come back as frames. All
 * internal PCM is 24,000 Hz, mono, 16 bit. Samples count from the session's first between speech-api and a sequencer,
 * and from the chunk's first between a sequencer and a synthesizer.
 */
import { Result, Schema } from "effect"
import { type BoundedDecoder, boundedDecoder, Count, Fault, parseJsonText, pointedFaults, weightMaxOf } from "#base"
import { EngineVoice } from "./engine-voice.ts"
import { PhonemeMark, WordMark } from "./marks.ts"

export const speechSampleRateHz = 24_000

/** The name of a session, or of a process that takes part in one: safe as a subject token. */
const SubjectToken = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u))

/** A word of a lexicon, and how it is spoken: as these phonemes in canonical IPA, or as this text. */
export const Lexeme = Schema.Struct({
  grapheme: Schema.String,
  /** If there are phonemes, only engines that read none use it. */
  alias: Schema.optionalKey(Schema.String),
  ipa: Schema.optionalKey(Schema.String),
  /** The language of the texts that it applies to; any without one. */
  language: Schema.optionalKey(Schema.String)
})
export interface Lexeme extends Schema.Schema.Type<typeof Lexeme> {}

/** The voice that speaks the stretches of an input in another language, or in a script. */
export const OtherVoice = Schema.Struct({
  /** As in an element `lang`, `de-DE`; `und-Cyrl` for words in a script. */
  language: Schema.String,
  voiceId: Schema.String,
  voice: EngineVoice,
  locale: Schema.String
})
export interface OtherVoice extends Schema.Schema.Type<typeof OtherVoice> {}

/** One voice speaking one input; a dialogue has several. */
export const SpeechTurn = Schema.Struct({
  voiceId: Schema.String,
  /** How the voice speaks this locale. */
  voice: EngineVoice,
  input: Schema.String,
  locale: Schema.String,
  /** Absent from older speech-apis: then the one voice speaks everything. */
  otherVoices: Schema.optionalKey(Schema.Array(OtherVoice)),
  /** The words of lexicons that occur in the input; absent if there are none. */
  lexemes: Schema.optionalKey(Schema.Array(Lexeme)),
  /** What follows continues its sentence: without a punctuation mark no pause ends it. */
  goesOn: Schema.optionalKey(Schema.Literal(true)),
  /** The silence after it, beyond its last sentence's. */
  pauseAfterMs: Schema.optionalKey(Count)
})
export interface SpeechTurn extends Schema.Schema.Type<typeof SpeechTurn> {}

/**
 * Where to continue after a sequencer was lost: a chunk, the sample that it started at, and the first sample wanted.
 */
export const ResumePoint = Schema.Struct({ chunk: Count, chunkStartSample: Count, fromSample: Count })
export interface ResumePoint extends Schema.Schema.Type<typeof ResumePoint> {}

export const SessionRequest = Schema.Struct({
  sessionId: SubjectToken,
  /** The instance whose mailbox gets the frames. */
  api: SubjectToken,
  turns: Schema.Array(SpeechTurn).check(Schema.isMinLength(1)),
  textNormalization: Schema.Boolean,
  /** Phonemes are marked too, as far as engines tell them. */
  phonemes: Schema.optionalKey(Schema.Literal(true)),
  /** How many samples can be in flight before the first credit. */
  windowSamples: Count,
  resume: Schema.NullOr(ResumePoint),
  /** The caller was not refused while there was time for that, so it is accepted whatever the load. */
  isPromised: Schema.optionalKey(Schema.Boolean),
  /** Nobody listens: it gives way to all sessions with a listener. */
  isBackground: Schema.optionalKey(Schema.Literal(true))
})
export interface SessionRequest extends Schema.Schema.Type<typeof SessionRequest> {}

export const SessionAnswer = Schema.Union([
  Schema.TaggedStruct("Accepted", {
    sequencer: SubjectToken,
    /** The sentences of the input, in UTF-16 units, for answers that nest words in them. */
    sentences: Schema.Array(Schema.Struct({ turn: Count, start: Count, end: Count }))
  }),
  Schema.TaggedStruct("Busy", { retryAfterSeconds: Count }),
  /** The input is unreadable; paths start with `turns/0/input`. */
  Schema.TaggedStruct("Refused", { faults: Schema.Array(Fault) })
])
export type SessionAnswer = Schema.Schema.Type<typeof SessionAnswer>

const SpokenMark = Schema.Union([WordMark, PhonemeMark])
export type SpokenMark = Schema.Schema.Type<typeof SpokenMark>

/** The head before the PCM of a frame from a sequencer to speech-api. */
export const SessionFrameHead = Schema.Union([
  Schema.TaggedStruct("Audio", {
    /** Frames of one sequencer count from 0. */
    sequence: Count,
    sample: Count,
    /** The chunk of the frame's last sample, for a resume. */
    chunk: Count,
    chunkStartSample: Count,
    marks: Schema.Array(SpokenMark)
  }),
  Schema.TaggedStruct("Alive", {}),
  Schema.TaggedStruct("End", {
    sequence: Count,
    totalSamples: Count,
    marks: Schema.Array(SpokenMark),
    /** Those that made no sound, and are not billed. Absent from older sequencers, which refuse them. */
    silentTurns: Schema.optionalKey(Schema.Array(Count))
  }),
  Schema.TaggedStruct("Failed", {
    code: Schema.String,
    message: Schema.String,
    /** What is wrong with the input, if none of it was sent; from older sequencers. */
    faults: Schema.optionalKey(Schema.Array(Fault))
  })
])
export type SessionFrameHead = Schema.Schema.Type<typeof SessionFrameHead>

/**
 * A stretch of a piece's text, in UTF-16 units, and how it should sound: canonical IPA. An engine can speak the text
 * instead.
 */
const Pronunciation = Schema.Struct({ from: Count, to: Count, ipa: Schema.String })
export interface Pronunciation extends Schema.Schema.Type<typeof Pronunciation> {}

/**
 * A stretch of plain text in one style, for an engine. The style is relative to the voice: 100, 100, 100 and 0 leave it
 * unchanged.
 */
const ChunkPiece = Schema.Struct({
  text: Schema.String,
  ratePercent: Schema.Finite,
  pitchPercent: Schema.Finite,
  /** How far the melody moves away from its middle. */
  rangePercent: Schema.Finite,
  volumeDb: Schema.Finite,
  /** In text order, not overlapping. */
  pronunciations: Schema.optionalKey(Schema.Array(Pronunciation))
})
export interface ChunkPiece extends Schema.Schema.Type<typeof ChunkPiece> {}

/** A chunk to synthesize, on SPEECH. */
export const ChunkJob = Schema.Struct({
  sessionId: SubjectToken,
  sequencer: SubjectToken,
  chunk: Count,
  /** How long the listener has enough audio without this chunk; absent from older sequencers, which counts as 0. */
  neededInMs: Schema.optionalKey(Count),
  voiceId: Schema.String,
  voice: EngineVoice,
  /** The language of the text; a voice can speak others beside its own. */
  locale: Schema.String,
  pieces: Schema.Array(ChunkPiece),
  /** The sentence continues in the next chunk: without a punctuation mark no pause ends this one. */
  goesOn: Schema.optionalKey(Schema.Literal(true)),
  /** The engine tells when each phoneme starts, if it knows. */
  phonemes: Schema.optionalKey(Schema.Literal(true)),
  /** Of a session that nobody listens to: chunks of all others come first. */
  isBackground: Schema.optionalKey(Schema.Literal(true))
})
export interface ChunkJob extends Schema.Schema.Type<typeof ChunkJob> {}

/**
 * A word that starts in a chunk: `position` is the UTF-16 index in the piece's text, `sample` counts from the chunk's
 * first. An engine can report several for one word of the text, or none. With `phoneme`, it is that sound of the word
 * that starts, in IPA; an empty one is a pause.
 */
export const WordStart = Schema.Struct({
  piece: Count,
  position: Count,
  sample: Count,
  phoneme: Schema.optionalKey(Schema.String)
})
export interface WordStart extends Schema.Schema.Type<typeof WordStart> {}

/**
 * The messages to a session at its sequencer. From speech-api, four times a second or more: the client's progress. From
 * a synthesizer: a stretch of a chunk, followed by its PCM.
 */
export const SequencerMail = Schema.Union([
  Schema.TaggedStruct("Credit", { consumedSamples: Count, windowSamples: Count }),
  Schema.TaggedStruct("Cancel", {}),
  Schema.TaggedStruct("Chunk", {
    chunk: Count,
    /** One delivery of the job; a redelivered job is another run and starts at sample 0 again. */
    run: Schema.String,
    synthesizer: SubjectToken,
    /** The frame's first sample, counted from the start of the chunk. */
    sample: Count,
    words: Schema.Array(WordStart),
    isLast: Schema.Boolean
  }),
  /** The engine could not synthesize the chunk; another request may succeed. */
  Schema.TaggedStruct("ChunkFailed", { chunk: Count, synthesizer: SubjectToken, reason: Schema.String })
])
export type SequencerMail = Schema.Schema.Type<typeof SequencerMail>
export type ChunkFrameHead = Extract<SequencerMail, { readonly _tag: "Chunk" }>

export interface Frame<Head> {
  readonly head: Head
  readonly pcm: Int16Array
}

interface FrameCodec<Head> {
  readonly encode: (frame: Frame<Head>) => Uint8Array
  readonly decode: (bytes: Uint8Array) => Result.Result<Frame<Head>, ReadonlyArray<Fault>>
}

/** The largest stretch of PCM in one frame, so that a frame stays below 32 kB. */
export const frameSamplesMax = 12_000

const lengthBytes = 4
const space = 0x20
const utf8 = new TextEncoder()
const utf8Strict = new TextDecoder("utf-8", { fatal: true })

/**
 * A frame as bytes: the length of its head (4 bytes, big-endian), the head as JSON, then PCM as 16-bit little-endian
 * samples. The head is checked by its schema, PCM by its length. A space after a head of odd length puts PCM at an even
 * offset: there it is read in place, in the memory of the bytes, elsewhere from a copy.
 */
export const frameCodec = <Head>(schema: Schema.Codec<Head, Head>): FrameCodec<Head> => {
  const decodeHead = boundedDecoder(schema)
  return {
    encode: ({ head, pcm }) => {
      const text = utf8.encode(JSON.stringify(head))
      const headLength = text.length + (text.length % 2)
      const bytes = new Uint8Array(lengthBytes + headLength + pcm.length * 2)
      const view = new DataView(bytes.buffer)
      view.setUint32(0, headLength)
      bytes.set(text, lengthBytes)
      bytes.fill(space, lengthBytes + text.length, lengthBytes + headLength)
      bytes.set(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength), lengthBytes + headLength)
      return bytes
    },
    decode: (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const headEnd = bytes.length < lengthBytes ? Number.NaN : lengthBytes + view.getUint32(0)
      if (!(headEnd <= bytes.length)) return broken("the head is longer than the frame")
      if ((bytes.length - headEnd) % 2 !== 0) return broken("half a sample at the end")
      return Result.map(readHead(bytes.subarray(lengthBytes, headEnd), decodeHead), (head) => ({
        head,
        pcm: samplesIn(bytes.subarray(headEnd))
      }))
    }
  }
}

const samplesIn = (bytes: Uint8Array) => {
  const { buffer, byteOffset, length } = bytes.byteOffset % 2 === 0 ? bytes : new Uint8Array(bytes)
  return new Int16Array(buffer as ArrayBuffer, byteOffset, length / 2)
}

const broken = (message: string) => Result.fail([{ path: "", message }])

const readHead = <Head>(text: Uint8Array, decode: BoundedDecoder<Head>): Result.Result<Head, ReadonlyArray<Fault>> => {
  const parsed = parsedHead(text)
  if (parsed === undefined || Result.isFailure(parsed)) return broken("the head is not UTF-8 JSON")
  return Result.mapError(decode(parsed.success), pointedFaults)
}

// A frame stays below 32 kB, however many words it contains.
const headLimits = { depthMax: 32, weightMax: weightMaxOf(32_768) }

const parsedHead = (text: Uint8Array) => {
  try {
    return parseJsonText(utf8Strict.decode(text), headLimits)
  } catch {
    return undefined
  }
}
