/** The part that each engine's thread provides itself; `serve.ts` has the rest. */
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
  readonly reset?: () => void
}

/** Thrown while opening: a package of the host is missing. */
export class MissingPart extends Error {}

/** Control characters steer engines (espeak takes U+0001 for a command) and end C strings: they become spaces. */
export const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, " ")

/** Whether the text ends where a speaker pauses: after punctuation and any closing marks behind it. */
export const endsWithPause = (text: string): boolean => /[.!?:;,…。！？、，；：؟،]["'”’»)\]\s]*$/u.test(text)
