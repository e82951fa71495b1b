/**
 * How long to wait before a server that died is started again. Pure. One that had lived a while comes back at
 * once; one that keeps dying comes back ever later, up to ten seconds.
 */

export interface Deaths {
  /** Deaths in a row, each soon after the start before it. */
  readonly quick: number
  readonly delayMs: number
}

export const noDeaths: Deaths = { quick: 0, delayMs: 0 }

// A server that stood for a minute did not die of the reason for which the one before it died.
const quickMs = 60_000
const delayMsMin = 200
const delayMsMax = 10_000

export const afterDeath = (before: Deaths, livedMs: number): Deaths => {
  if (livedMs >= quickMs) return { quick: 1, delayMs: 0 }
  const quick = before.quick + 1
  return { quick, delayMs: quick === 1 ? 0 : Math.min(delayMsMin * 2 ** (quick - 2), delayMsMax) }
}
