/**
 * A server that cannot write, and its cure. It keeps the first write error of a stream until it is restarted, also when
 * its disk has room again: every write to that stream fails for ever, and everything else is answered. Pure.
 */

/** The server's own word for it in its health, whichever stream it is. */
export const isWriteError = (trouble: string | undefined): trouble is string =>
  trouble?.includes("write error") === true

/** What was seen of a server at one moment. */
export interface Seen {
  readonly trouble: string | undefined
  /** Undefined where the disk does not say. */
  readonly freeBytes: number | undefined
  readonly nowMs: number
}

/** Restarts of a server for its write error. */
export interface Cures {
  readonly count: number
  readonly lastMs: number
}

export const noCures: Cures = { count: 0, lastMs: Number.NEGATIVE_INFINITY }

/** Room for the block files of some streams: with less the next write may fail again. */
export const freeBytesMin = 32 * 1_024 * 1_024
const waitMsMin = 10_000
const waitMsMax = 600_000
// A server that wrote for this long was cured: its next write error is another one.
const curedAfterMs = 1_800_000

/** The cures after a restart now; undefined when the server is not to be restarted now. */
export const cure = (before: Cures, { trouble, freeBytes = 0, nowMs }: Seen): Cures | undefined => {
  if (!isWriteError(trouble) || freeBytes < freeBytesMin) return undefined
  const sinceMs = nowMs - before.lastMs
  if (sinceMs >= curedAfterMs) return { count: 1, lastMs: nowMs }
  if (sinceMs < Math.min(waitMsMin * 2 ** (before.count - 1), waitMsMax)) return undefined
  return { count: before.count + 1, lastMs: nowMs }
}
