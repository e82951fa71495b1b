/**
 * Keys that were met a while ago at the longest, in bounded memory: the oldest are forgotten first. It is a hint for the
 * order in which things are asked, never a proof; whoever is forgotten is only met anew.
 */
export interface RecentKeys {
  /** Anew, if it was there. */
  readonly add: (key: string, nowMs: number) => void
  readonly has: (key: string, nowMs: number) => boolean
}

export interface RecentKeysOptions {
  readonly keysMax: number
  readonly keptMs: number
}

export const recentKeys = ({ keysMax, keptMs }: RecentKeysOptions): RecentKeys => {
  // In the order of adding: a map keeps it.
  const addedAtMs = new Map<string, number>()
  return {
    add: (key, nowMs) => {
      addedAtMs.delete(key)
      addedAtMs.set(key, nowMs)
      const [oldest] = addedAtMs.keys()
      if (addedAtMs.size > keysMax && oldest !== undefined) addedAtMs.delete(oldest)
    },
    has: (key, nowMs) => {
      const atMs = addedAtMs.get(key)
      return atMs !== undefined && nowMs - atMs < keptMs
    }
  }
}
