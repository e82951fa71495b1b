/**
 * What of the broker a role cannot use though it is connected: streams that take no write, answer no reader, or give no
 * consumer. A broker whose disk was full refuses every write to a stream until it is restarted, and answers all else.
 */
import type { BusError } from "../errors.ts"

export const uses = ["write", "read", "consume"] as const
export type Use = (typeof uses)[number]

export interface Outage {
  readonly use: Use
  readonly stream: string
  readonly reason: string
}

/** An attempt that failed. Times in epoch milliseconds. */
interface Failure extends Outage {
  /** When it began. */
  readonly sinceMs: number
  readonly nowMs: number
}

export interface Outages {
  readonly failed: (failure: Failure) => void
  readonly worked: (use: Use, stream: string) => void
  readonly forget: () => void
  readonly isNone: () => boolean
  /** All that failed last, whether or not it counts yet. */
  readonly failing: () => ReadonlyArray<Outage>
  /** Those that count at this moment. */
  readonly at: (nowMs: number) => ReadonlyArray<Outage>
}

// An election of leaders takes seconds; who is unready meanwhile gets no calls, which would have been served.
const graceMs = 8_000
// A stream that nobody writes to any more cannot show that it is well again: the next call may try it.
const forgottenAfterMs = 30_000

interface Failing extends Outage {
  readonly sinceMs: number
  readonly lastMs: number
}

export const makeOutages = (): Outages => {
  const entries = new Map<string, Failing>()
  const keyOf = (use: Use, stream: string) => `${use} ${stream}`
  return {
    failed: ({ use, stream, reason, sinceMs, nowMs }) => {
      const before = entries.get(keyOf(use, stream))
      const isFirst = before === undefined || nowMs - before.lastMs >= forgottenAfterMs
      const entry = { use, stream, reason, sinceMs: isFirst ? sinceMs : before.sinceMs, lastMs: nowMs }
      entries.set(keyOf(use, stream), entry)
    },
    worked: (use, stream) => {
      entries.delete(keyOf(use, stream))
    },
    forget: () => entries.clear(),
    isNone: () => entries.size === 0,
    failing: () => [...entries.values()],
    at: (nowMs) =>
      [...entries.values()].filter(
        ({ sinceMs, lastMs }) => lastMs - sinceMs >= graceMs && nowMs - lastMs < forgottenAfterMs
      )
  }
}

/**
 * Whether an error says that the stream cannot be used. A conflict or a refusal is an answer, and so is that a stream is
 * at its own limit: its callers are told.
 */
export const isOutage = ({ _tag, message }: BusError): boolean =>
  _tag === "BusUnavailable" || _tag === "BusNotFound" || (_tag === "StreamFull" && !message.includes("maximum "))
