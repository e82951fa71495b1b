/** Holds what was published against what arrived, by event id. */
import type { Arrival } from "./receiver.ts"

export interface Verdict {
  /** Confirmed, but never seen by the receiver. */
  readonly lost: number
  /** Arrivals beyond the first of the same event log entry. */
  readonly twice: number
  /** Repeats under another delivery id: there may be none. */
  readonly foreign: number
}

export const verify = (confirmed: Iterable<string>, arrivals: ReadonlyArray<Arrival>): Verdict => {
  const seen = new Set(arrivals.map(([id]) => id))
  const bySequence = Map.groupBy(arrivals, ([, endpoint, , , sequence]) => `${endpoint} ${sequence}`)
  let [twice, foreign] = [0, 0]
  for (const all of bySequence.values()) {
    twice += all.length - 1
    foreign += new Set(all.map(([, , delivery]) => delivery)).size - 1
  }
  return { lost: [...confirmed].filter((id) => !seen.has(id)).length, twice, foreign }
}

/** First arrivals of each work item that came before an earlier event of the same item. */
export const outOfOrder = (arrivals: ReadonlyArray<Arrival>): number => {
  const last = new Map<string, number>()
  const seen = new Set<number>()
  let count = 0
  for (const [id, endpoint, , , sequence] of arrivals.toSorted((left, right) => left[3] - right[3])) {
    if (seen.has(sequence)) continue
    seen.add(sequence)
    const item = `${endpoint} ${Math.floor(Number(id.slice(1)) / 10)}`
    if (sequence < (last.get(item) ?? 0)) count += 1
    last.set(item, Math.max(sequence, last.get(item) ?? 0))
  }
  return count
}
