/**
 * The port to every engine that turns text into audio. A job is one chunk of plain text in one voice, cut into pieces
 * where the style changes. The result is PCM in the fleet's format (24,000 Hz, mono, 16 bit) and the position of each
 * word in it. An engine never gets markup: style is four numbers, and text is only ever spoken.
 */
import { Schema, type Stream, type SubscriptionRef } from "effect"
import type { ChunkPiece, EngineState, EngineVoice, WordStart } from "#speech/contract"

export interface EngineJob {
  readonly voice: EngineVoice
  /** The recording that a zero-shot voice refers to: 16,000 Hz, mono. */
  readonly reference?: { readonly samples: Int16Array }
  readonly pieces: ReadonlyArray<ChunkPiece>
  /** The sentence continues in the next job: without a punctuation mark no pause ends this one. */
  readonly goesOn?: true
  /** Phonemes are reported beside words, by engines that know them. */
  readonly phonemes?: true
  /**
   * Only these frames: it ends before frame `to`, with at least one, and those before `from` are synthesized but not
   * handed over.
   */
  readonly frames?: { readonly from?: number; readonly to?: number }
}

/** A run of the job's PCM and the words that start in it; runs follow each other without a gap. */
export interface EngineFrame {
  readonly pcm: Int16Array
  readonly words: ReadonlyArray<WordStart>
}

export interface SpeechEngine {
  readonly name: string
  /** Absent if the engine can always speak. */
  readonly state?: SubscriptionRef.SubscriptionRef<EngineState>
  /** Jobs that it speaks at once, if that differs from the configured number of threads. */
  readonly threads?: number
  /** The same job gives the same samples, in the same frames: it can be spoken in parts. */
  readonly isRepeatable?: boolean
  /** Interrupting the stream ends the synthesis within one callback of the engine. */
  readonly synthesize: (job: EngineJob) => Stream.Stream<EngineFrame, EngineError>
}

/** The host lacks the named packages. */
export class EngineMissing extends Schema.TaggedError<EngineMissing>()("EngineMissing", {
  engine: Schema.String,
  packages: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `the engine ${this.engine} needs ${this.packages}: ${this.detail}`
  }
}

/** `crashed` and `stalled` are the engine's fault, and a retry may succeed; the other reasons are the job's. */
export class EngineFailed extends Schema.TaggedError<EngineFailed>()("EngineFailed", {
  engine: Schema.String,
  reason: Schema.Literals(["crashed", "stalled", "voice", "too_long"]),
  detail: Schema.String
}) {
  override get message() {
    return `the engine ${this.engine} failed (${this.reason}): ${this.detail}`
  }
}

/** Stops the start: the configured model is missing, or is not a model. */
export class ZeroShotModelUnusable extends Schema.TaggedError<ZeroShotModelUnusable>()("ZeroShotModelUnusable", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `VoiceCloning.ZeroShotModelFolder ${this.folder} cannot be used: ${this.detail}`
  }
}

/** A configured model cannot speak: a file is missing or broken, or its speaker differs from the configuration. */
export class VoiceModelUnusable extends Schema.TaggedError<VoiceModelUnusable>()("VoiceModelUnusable", {
  model: Schema.String,
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `the voice model ${this.model} in ${this.folder} cannot be used: ${this.detail}`
  }
}

/** Too many jobs wait; another synthesizer may have a free thread. */
export class EngineBusy extends Schema.TaggedError<EngineBusy>()("EngineBusy", {
  engine: Schema.String,
  waiting: Schema.Int
}) {
  override get message() {
    return `the engine ${this.engine} has ${this.waiting} jobs waiting and takes no more`
  }
}

export type EngineError = EngineMissing | EngineFailed | EngineBusy
