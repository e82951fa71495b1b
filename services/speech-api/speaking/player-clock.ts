/**
 * The player clock simulates a client that plays from the first byte on, and tells when it would have fallen silent
 * because we were late. Time that the client itself took before reading on does not count against us. No IO.
 */
export interface PlayerClock {
  readonly started: (nowMs: number) => void
  /**
   * Takes in seconds of audio that became ready after a wait for us; true if the player ran dry meanwhile. A client
   * that reads slower than it plays waits for nothing, and is not counted.
   */
  readonly fed: (seconds: number, nowMs: number, waitedMs: number) => boolean
}

// A frame of the coarsest codec: a shorter gap is inaudible.
const toleranceMs = 40

export const playerClock = (): PlayerClock => {
  let startedAtMs: number | undefined
  let readyMs = 0
  return {
    started: (nowMs) => (startedAtMs ??= nowMs),
    fed: (seconds, nowMs, waitedMs) => {
      const isBehind = startedAtMs !== undefined && nowMs - startedAtMs > readyMs + toleranceMs
      const isDry = isBehind && waitedMs > toleranceMs
      // However late it came, the ready audio is ahead of the player from now on.
      if (isBehind) startedAtMs = nowMs - readyMs
      readyMs += seconds * 1_000
      return isDry
    }
  }
}
