/**
 * Counts per key in fixed windows, which begin with a key's first request. The number of keys is bounded:
 * past it the window that ends first is forgotten, for all windows are equally long. Pure but for the table.
 */

export type RateDecision =
  | { readonly _tag: "Taken"; readonly remaining: number; readonly resetAtMs: number }
  | { readonly _tag: "Refused"; readonly limit: number; readonly resetAtMs: number; readonly retryAfterMs: number }

export interface RateTableOptions {
  readonly limit: number
  readonly windowMs: number
  readonly keysMax: number
}

export interface RateTable {
  /** What `take` would say. */
  readonly look: (key: string, nowMs: number, cost?: number) => RateDecision
  readonly take: (key: string, nowMs: number, cost?: number) => RateDecision
  /** Undoes a `take` that turned out not to count. */
  readonly giveBack: (key: string, nowMs: number, cost?: number) => void
  readonly size: () => number
}

interface Window {
  readonly endsAtMs: number
  used: number
}

export const rateTable = ({ limit, windowMs, keysMax }: RateTableOptions): RateTable => {
  // In the order of their ends: a window is put in when it begins and never moved.
  const windows = new Map<string, Window>()

  const current = (key: string, nowMs: number): Window => {
    const known = windows.get(key)
    return known !== undefined && nowMs < known.endsAtMs ? known : { endsAtMs: nowMs + windowMs, used: 0 }
  }
  const decide = (window: Window, nowMs: number, cost: number): RateDecision => {
    const { endsAtMs: resetAtMs, used } = window
    if (used + cost <= limit) return { _tag: "Taken", remaining: limit - used - cost, resetAtMs }
    return { _tag: "Refused", limit, resetAtMs, retryAfterMs: resetAtMs - nowMs }
  }
  const keep = (key: string, window: Window) => {
    if (windows.get(key) === window) return
    windows.delete(key)
    for (const oldest of windows.keys()) {
      if (windows.size < keysMax) break
      windows.delete(oldest)
    }
    windows.set(key, window)
  }
  return {
    look: (key, nowMs, cost = 1) => decide(current(key, nowMs), nowMs, cost),
    take: (key, nowMs, cost = 1) => {
      const window = current(key, nowMs)
      const decision = decide(window, nowMs, cost)
      if (decision._tag === "Taken") {
        window.used += cost
        keep(key, window)
      }
      return decision
    },
    giveBack: (key, nowMs, cost = 1) => {
      const window = current(key, nowMs)
      window.used = Math.max(0, window.used - cost)
    },
    size: () => windows.size
  }
}
