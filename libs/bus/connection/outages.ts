/**
 * Parts of the broker that a role cannot use although it is connected: streams that take no write, answer no reader, or
 * provide no consumer. A broker whose disk was full refuses every write to a stream until it is restarted, but answers
 * everything else.
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
  /** All most recent failures, whether or not they count yet. */
  readonly failing: () => ReadonlyArray<Outage>
  /** The failures that count at this moment. */
  readonly at: (nowMs: number) => ReadonlyArray<Outage>
}

// Electing a leader takes seconds; an unready role would meanwhile lose calls that it could have served.
const graceMs = 8_000
// A stream without any more writers cannot show that it has recovered, so the next call is allowed to try it.
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
 * Whether an error means that the stream is unusable. A conflict or a refusal is an answer, and so is a stream at its
 * own limit: its callers learn of that.
 */
export const isOutage = ({ _tag, message }: BusError): boolean =>
  _tag === "BusUnavailable" || _tag === "BusNotFound" || (_tag === "StreamFull" && !message.includes("maximum "))
