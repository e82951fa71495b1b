/** What an engine's thread must be able to do; everything else is the same for all of them (see serve.ts). */
import type { WordStart } from "#contracts"
import type { EngineJob } from "../Engine.ts"
import type { Outcome } from "./protocol.ts"

export interface Sink {
  /** Takes over the samples, at the engine's own rate. False when the engine is to stop. */
  readonly audio: (pcm: Int16Array, gainDb: number) => boolean
  /** `sample` counts from the job's first one, at the engine's own rate. */
  readonly word: (word: WordStart) => void
}

export interface Speaker {
  readonly hz: number
  /** Any voice of it: a thread speaks a word to itself before it says that it is ready; null where that helps nobody. */
  readonly firstVoice: string | null
  /** Speaks to the end, or until the sink says stop; null when all went well. */
  readonly speak: (job: EngineJob, sink: Sink) => Outcome | null | Promise<Outcome | null>
  /** Called after each job, its outcome told already: for engines whose next job would hear of the last one. */
  readonly settle?: () => void
}

/** Thrown while opening: the host lacks something. */
export class MissingPart extends Error {
  readonly packages: string
  constructor(packages: string, detail: string) {
    super(detail)
    this.packages = packages
  }
}
