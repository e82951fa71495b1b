/**
 * One turn of the event loop: which messages it starts, and which sends leave in one write. Uses plain `setImmediate`,
 * because every message passes through here.
 */

interface Lane<A> {
  /** Starts `item` now, or when this lane's turn comes; order within a lane is kept. */
  readonly take: (item: A) => void
  /** Returns the waiting items, unstarted. */
  readonly empty: () => ReadonlyArray<A>
}

/**
 * Shares the event loop between consumers: a burst for one must not delay a lone message for another by milliseconds. A
 * turn starts a few messages at once, then one of each waiting lane in rotation.
 */
export interface FairShare {
  readonly lane: <A>(start: (item: A) => void) => Lane<A>
}

// Starting a message takes about 50 microseconds, so a turn stays below two milliseconds.
const startsPerTurnMax = 32

export const fairShare = (): FairShare => {
  /** Starts one item of each non-empty lane, beginning with the next in rotation. */
  const rotation = new Set<() => boolean>()
  let startedThisTurn = 0
  let isTurnEnding = false

  const endTurn = () => {
    isTurnEnding = false
    startedThisTurn = 0
    for (const startOne of rotation) {
      if (startedThisTurn >= startsPerTurnMax) break
      rotation.delete(startOne)
      // Added again during iteration, it is visited again after the others.
      if (startOne()) rotation.add(startOne)
    }
    if (rotation.size > 0) endTurnSoon()
  }
  const endTurnSoon = () => {
    if (isTurnEnding) return
    isTurnEnding = true
    setImmediate(endTurn)
  }

  return {
    lane: <A>(start: (item: A) => void): Lane<A> => {
      let waiting: Array<A> = []
      const run = (item: A) => {
        startedThisTurn += 1
        endTurnSoon()
        start(item)
      }
      const startOne = () => {
        const [item] = waiting.splice(0, 1)
        if (item !== undefined) run(item)
        return waiting.length > 0
      }
      return {
        take: (item) => {
          if (waiting.length === 0 && startedThisTurn < startsPerTurnMax) return run(item)
          waiting.push(item)
          rotation.add(startOne)
          endTurnSoon()
        },
        empty: () => {
          const rest = waiting
          waiting = []
          rotation.delete(startOne)
          return rest
        }
      }
    }
  }
}

/**
 * Sends everything due in one turn of the event loop in one write: a write for each ack and publish would cost more
 * than all the rest. A crash can lose one turn's acks, and those messages are redelivered; a publish is either
 * confirmed or not.
 */
export interface SendBuffer {
  /** `send` must not throw. */
  readonly add: (send: () => void) => void
}

export const sendBuffer = (): SendBuffer => {
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
