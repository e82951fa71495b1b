/** The messages between the pool and its threads. A thread loads nothing of Effect. */
import type { speechSampleRateHz } from "#speech/contract"
import type { EngineFrame, EngineJob } from "../Engine.ts"

/** The contracts' rate, which a thread cannot import: they load Effect. The type keeps the two equal. */
export const engineHz: typeof speechSampleRateHz = 24_000

/** Which speaker a thread loads. */
export type SpeakerKind = "espeak" | "flite" | "acoustic" | "sherpa" | "zero-shot" | "program"

export interface ThreadData {
  readonly speaks: SpeakerKind
  /** One cell, the number of the cancelled job: the thread reads it in every callback of the engine. */
  readonly cancelled: Int32Array
  /** The model of an engine that has one, as its own pool describes it. */
  readonly model?: object
}

export interface ThreadJob {
  readonly number: number
  readonly job: EngineJob
}

/** `end`: no more jobs follow. */
export type ToThread = ThreadJob | "end"

/** The number of the warm-up, which comes before the first job. */
export const warmUpNumber = -1

export type Outcome =
  | { readonly kind: "spoken" | "cancelled" }
  | { readonly kind: "failed"; readonly reason: "voice" | "too_long"; readonly detail: string }

export interface Ended {
  readonly kind: "end"
  readonly number: number
  readonly outcome: Outcome
  readonly busyMs: number
  readonly samples: number
  /** The engine speaks words by their phonemes, not by their text. */
  readonly readsPhonemes: boolean
}

/** A function of C with one pointer, for a thread other than the one that names it. */
export interface NativeCall {
  readonly function: bigint
  readonly argument: bigint
}

export type FromThread =
  /** `stop` ends what the thread computes without a callback, once its job is cancelled. */
  | { readonly kind: "ready"; readonly stop?: NativeCall }
  | { readonly kind: "missing"; readonly detail: string }
  /** A line for the log: what an engine's program writes to its standard error. */
  | { readonly kind: "log"; readonly line: string }
  | { readonly kind: "frame"; readonly number: number; readonly frame: EngineFrame }
  | Ended
