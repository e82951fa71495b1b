/**
 * Sends what falls due in one turn of the event loop in one write: at thousands a second a write for each
 * ack and publish would cost more than all the rest of it, here and at the broker. What a crash can lose
 * this way is one turn's acks, and those messages come again; a publish is confirmed or it is not. A plain
 * `setImmediate`, because this is a hot path.
 */
export interface Turn {
  /** `send` must not throw. */
  readonly add: (send: () => void) => void
}

export const turns = (): Turn => {
  let waiting: Array<() => void> = []
  const flush = () => {
    const sends = waiting
    waiting = []
    for (const send of sends) send()
  }
  return {
    add: (send) => {
      if (waiting.push(send) === 1) setImmediate(flush)
    }
  }
}
