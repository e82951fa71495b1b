/**
 * Shares the event loop between consumers. The broker hands over scheduled messages in bursts; worked off in
 * the order of arrival, a burst for one consumer would hold up a lone message for another by milliseconds.
 * So a turn of the event loop starts a few messages at once and then one of each waiting lane in rotation.
 * A plain `setImmediate`, because every message comes through here.
 */
export interface Lane<A> {
  /** Starts `item` now, or when this lane's turn comes; a lane keeps its order. */
  readonly take: (item: A) => void
  /** Gives back what waits, unstarted. */
  readonly empty: () => ReadonlyArray<A>
}

export interface FairShare {
  readonly lane: <A>(start: (item: A) => void) => Lane<A>
}

// Starting a message takes some 50 microseconds: a turn stays below two milliseconds.
const startsPerTurnMax = 32

export const fairShare = (): FairShare => {
  /** Starts one item of each lane that has some waiting; the next in rotation first. */
  const rotation = new Set<() => boolean>()
  let startedThisTurn = 0
  let isTurnEnding = false

  const endTurn = () => {
    isTurnEnding = false
    startedThisTurn = 0
    for (const startOne of rotation) {
      if (startedThisTurn >= startsPerTurnMax) break
      rotation.delete(startOne)
      // Added again while iterating, it comes up again behind the others.
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
