/** A map that keeps the entries used last and forgets the others. */
export interface Newest<A> {
  readonly get: (key: string) => A | undefined
  readonly set: (key: string, value: A) => void
  readonly remove: (key: string) => void
}

export const makeNewest = <A>(entriesMax: number): Newest<A> => {
  const entries = new Map<string, A>()
  const set = (key: string, value: A) => {
    entries.delete(key)
    entries.set(key, value)
    if (entries.size <= entriesMax) return
    for (const oldest of entries.keys()) {
      entries.delete(oldest)
      if (entries.size <= entriesMax) return
    }
  }
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    remove: (key) => void entries.delete(key)
  }
}
