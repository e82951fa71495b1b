/** The messages between the pool and its threads. A thread loads nothing of Effect. */
import type { EngineFrame, EngineJob } from "../Engine.ts"

export interface ThreadData {
  /** One cell, the number of the cancelled job: the thread reads it in every callback of the engine. */
  readonly cancelled: Int32Array
  /** Folders to search for the engine's libraries before the usual ones. */
  readonly libraryFolders: ReadonlyArray<string>
  /** The model of an engine that has one, as its own pool describes it. */
  readonly model?: object
}

export interface ThreadJob {
  readonly number: number
  readonly job: EngineJob
}

/** `end`: no job will follow. */
export type ToThread = ThreadJob | "end"

/** The number of the warm-up, which comes before the first job. */
export const warmUpNumber = -1

export type Outcome =
  | { readonly kind: "spoken" | "cancelled" }
  | { readonly kind: "failed"; readonly reason: "voice" | "too_long" | "refused"; readonly detail: string }

export interface Ended {
  readonly kind: "end"
  readonly number: number
  readonly outcome: Outcome
  readonly busyMs: number
  readonly samples: number
}

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "missing"; readonly packages: string; readonly detail: string }
  | { readonly kind: "frame"; readonly number: number; readonly frame: EngineFrame }
  | Ended
