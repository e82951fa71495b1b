/**
 * A running encoder, whatever it runs in: PCM in, bytes out, from the first byte and with no queue in between. Only the
 * reader reports its end.
 */
import { Effect } from "effect"
import type { EncoderFailed, FfmpegMissing } from "../errors.ts"

/** The priority of a piece over other pieces. */
export interface PieceTurn {
  /** The answer's listener awaits first audio. */
  readonly isUrgent: boolean
  /** The audio that its listener has received and not played yet: the listener with the least comes first. */
  readonly bufferedMs: number
}

export interface EncoderProcess {
  /** An answer starts: its listener awaits first audio. Called before its first write. */
  readonly begin: Effect.Effect<void>
  /** Feeds the process; waits while it has enough. Does nothing once the process has ended. */
  readonly write: (pcm: Int16Array, turn: PieceTurn) => Effect.Effect<void>
  readonly end: Effect.Effect<void>
  /** The bytes since the last read, or null once everything is read and the process ended well. */
  readonly read: Effect.Effect<Uint8Array | null, FfmpegMissing | EncoderFailed>
  /** Waits for the first sign of life. */
  readonly started: Effect.Effect<void, FfmpegMissing | EncoderFailed>
  readonly hasStarted: () => boolean
  /** Whether the process has ended, by itself or killed. */
  readonly hasEnded: () => boolean
  readonly kill: () => void
  readonly closed: Effect.Effect<void>
}

/** Readers that wait for a change. */
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
  // A check that resumes can remove another one.
  for (const check of process.waiting) if (process.waiting.includes(check)) check()
}
