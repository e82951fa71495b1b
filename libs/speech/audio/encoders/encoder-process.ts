/**
 * An encoder at work, whatever it runs in: PCM in, bytes out, from the first byte and with no queue in between. Only the
 * reader reports its end.
 */
import { Effect } from "effect"
import type { EncoderFailed, FfmpegMissing } from "../errors.ts"

/** Before whose pieces one goes. */
export interface PieceTurn {
  /** The answer is not heard yet. */
  readonly isUrgent: boolean
  /** The sound that its listener has and has not played yet: whoever has least comes first. */
  readonly bufferedMs: number
}

export interface EncoderProcess {
  /** An answer begins: nobody hears it yet. Called before its first write. */
  readonly begin: Effect.Effect<void>
  /** Feeds the process; waits while it has enough. Does nothing when the process has ended. */
  readonly write: (pcm: Int16Array, turn: PieceTurn) => Effect.Effect<void>
  readonly end: Effect.Effect<void>
  /** The bytes since the last read, or null when all is read and the process ended well. */
  readonly read: Effect.Effect<Uint8Array | null, FfmpegMissing | EncoderFailed>
  /** Waits for the first sign of life. */
  readonly started: Effect.Effect<void, FfmpegMissing | EncoderFailed>
  readonly hasStarted: () => boolean
  /** Whether the process has ended, by itself or killed. */
  readonly hasEnded: () => boolean
  readonly kill: () => void
  readonly closed: Effect.Effect<void>
}

/** Readers that wait for something to change. */
export interface Waiting {
  /** Not a Set: a Set with an addition and a removal for each piece keeps its old content until a slow collection. */
  waiting: ReadonlyArray<() => void>
}

/** Resumes with the first effect that `look` returns. */
export const when = <A, E>(process: Waiting, look: () => Effect.Effect<A, E> | undefined) =>
  Effect.callback<A, E>((resume) => {
    const check = () => {
      const found = look()
      if (found === undefined) return
      leave(process, check)
      resume(found)
    }
    process.waiting = [...process.waiting, check]
    check()
    return Effect.sync(() => leave(process, check))
  })

const leave = (process: Waiting, check: () => void) => {
  process.waiting = process.waiting.filter((other) => other !== check)
}

export const wake = (process: Waiting) => {
  // A check that resumes may remove another one.
  for (const check of process.waiting) if (process.waiting.includes(check)) check()
}
