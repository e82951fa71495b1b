/**
 * The pace of an endpoint with a rate: its requests leave evenly, each in a slot of its own, and no slot is saved up.
 * Every dispatcher that lives has an equal share of the rate. Pure but for the last slot.
 */
export interface Pace {
  /** Takes the next slot; returns how long it is until then. */
  readonly takeMs: (slot: { readonly perSecond: number; readonly nowMs: number }) => number
}

export const newPace = (): Pace => {
  let nextMs = 0
  return {
    takeMs: ({ perSecond, nowMs }) => {
      const atMs = Math.max(nowMs, nextMs)
      nextMs = atMs + 1_000 / perSecond
      return atMs - nowMs
    }
  }
}
