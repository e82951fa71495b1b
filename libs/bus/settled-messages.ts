/**
 * Remembers the last messages this process has finished. After a broker is killed it has forgotten the acks
 * of its last moments and delivers those messages again: what is remembered here is acked again without
 * being handled twice.
 */

/** A message's identity within a stream's life: its sequence and the time it was stored. */
export type MessageKey = string

export const messageKey = (sequence: number, timestampNanos: number): MessageKey => `${sequence}@${timestampNanos}`

export interface SettledMessages {
  readonly add: (key: MessageKey) => void
  readonly has: (key: MessageKey) => boolean
}

/** Holds `capacity` keys or more, and at most twice as many: the older half is dropped whole. */
export const settledMessages = (capacity: number): SettledMessages => {
  let recent = new Set<MessageKey>()
  let older = new Set<MessageKey>()
  return {
    add: (key) => {
      recent.add(key)
      if (recent.size < capacity) return
      older = recent
      recent = new Set()
    },
    has: (key) => recent.has(key) || older.has(key)
  }
}
