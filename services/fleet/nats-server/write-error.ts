/**
 * A server that cannot write, and its cure. It keeps the first write error of a stream until it is restarted, even
 * after its disk has room again: every write to that stream fails forever, while everything else is answered. Pure.
 */

/** The server's own wording in its health report, for any stream. */
export const isWriteError = (trouble: string | undefined): trouble is string =>
  trouble?.includes("write error") === true

/** The observed state of a server at one moment. */
export interface Seen {
  readonly trouble: string | undefined
  /** Undefined if unknown. */
  readonly freeBytes: number | undefined
  readonly nowMs: number
}

/** Restarts of a server for its write error. */
export interface Cures {
  readonly count: number
  readonly lastMs: number
}

export const noCures: Cures = { count: 0, lastMs: Number.NEGATIVE_INFINITY }

/** Room for the block files of several streams: with less the next write can fail again. */
export const freeBytesMin = 32 * 1_024 * 1_024
const waitMsMin = 10_000
const waitMsMax = 600_000
// A server that wrote for this long was cured: its next write error is a new one.
const curedAfterMs = 1_800_000

/** The cures after a restart now; undefined when the server must not be restarted now. */
export const cure = (before: Cures, { trouble, freeBytes = 0, nowMs }: Seen): Cures | undefined => {
  if (!isWriteError(trouble) || freeBytes < freeBytesMin) return undefined
  const sinceMs = nowMs - before.lastMs
  if (sinceMs >= curedAfterMs) return { count: 1, lastMs: nowMs }
  if (sinceMs < Math.min(waitMsMin * 2 ** (before.count - 1), waitMsMax)) return undefined
  return { count: before.count + 1, lastMs: nowMs }
}
