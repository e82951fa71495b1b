/** The part that every engine's thread must provide itself; all else is the same for all of them (see serve.ts). */
import type { WordStart } from "#contracts"
import type { EngineJob } from "../Engine.ts"
import type { Outcome } from "./protocol.ts"

export interface Sink {
  /** Takes over the samples, at the engine's own rate. Returns false when the engine is to stop. */
  readonly audio: (pcm: Int16Array, gainDb: number) => boolean
  /** `sample` counts from the job's first one, at the engine's own rate. */
  readonly word: (word: WordStart) => void
}

export interface Speaker {
  readonly hz: number
  /**
   * Any voice of the engine: a thread speaks a word to itself before it reports that it is ready; null where that gains
   * nothing.
   */
  readonly firstVoice: string | null
  /** Speaks to the end, or until the sink stops it; null when all went well. */
  readonly speak: (job: EngineJob, sink: Sink) => Outcome | null | Promise<Outcome | null>
  /** Called after each job, when its outcome is already sent: for engines whose last job would be heard in the next. */
  readonly settle?: () => void
}

/** Thrown while opening: the host lacks a package. */
export class MissingPart extends Error {
  readonly packages: string
  constructor(packages: string, detail: string) {
    super(detail)
    this.packages = packages
  }
}
