/**
 * Acks that fall due in one turn of the event loop leave in one write: at thousands a second a write for
 * each would cost more than all the rest of an ack, here and at the broker. What a crash can lose this way
 * is one turn's acks, and those messages come again. A plain `setImmediate`, because this is a hot path.
 */
export interface AckBatch {
  readonly add: (ack: () => void) => void
}

export const ackBatch = (): AckBatch => {
  let waiting: Array<() => void> = []
  const flush = () => {
    const acks = waiting
    waiting = []
    for (const ack of acks) ack()
  }
  return {
    add: (ack) => {
      if (waiting.push(ack) === 1) setImmediate(flush)
    }
  }
}
