/**
 * When a payment whose end is not known is looked at again. Pure. The longer it has been asked for the later, from a
 * quarter of a second to half a minute: chains answer within seconds or are out for minutes.
 */
const delayMsMin = 250
const delayMsMax = 30_000

export const retryDelayMs = (requestedAtMs: number, nowMs: number): number =>
  Math.min(delayMsMax, Math.max(delayMsMin, Math.floor((nowMs - requestedAtMs) / 2)))
