/** What was observed in the last five minutes, for people who look now; metrics keep the rest. */

export const recentMs = 300_000
const observationsMax = 1_024

export interface Recent {
  readonly note: (nowMs: number, value: number) => void
  /** The values of the last five minutes. */
  readonly values: (nowMs: number) => ReadonlyArray<number>
}

export const makeRecent = (): Recent => {
  let kept: Array<{ readonly atMs: number; readonly value: number }> = []
  return {
    note: (atMs, value) => {
      if (kept.length >= 2 * observationsMax) kept = kept.slice(-observationsMax)
      kept.push({ atMs, value })
    },
    values: (nowMs) =>
      kept
        .slice(-observationsMax)
        .filter(({ atMs }) => nowMs - atMs <= recentMs)
        .map(({ value }) => value)
  }
}

/** The value that this share of all values does not exceed; null for none. Pure. */
export const quantileOf = (values: ReadonlyArray<number>, part: number): number | null => {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null
}
