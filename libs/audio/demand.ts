/**
 * How many encoders to hold ready: as many as are asked for while one starts, and twice the spread of that
 * number, for requests come in clumps. The rate is the larger of two averages: a quick one that sees a
 * rush begin, and a slow one that remembers it.
 */
export interface Demand {
  readonly quickPerSecond: number
  readonly slowPerSecond: number
  readonly atMs: number
}

const quickSeconds = 2
const slowSeconds = 30
// One request in 200 s: below it nothing is held ready.
const idlePerSecond = 1 / 200

export const noDemand: Demand = { quickPerSecond: 0, slowPerSecond: 0, atMs: 0 }

const decayed = (demand: Demand, nowMs: number): Demand => {
  const seconds = Math.max(0, nowMs - demand.atMs) / 1_000
  return {
    quickPerSecond: demand.quickPerSecond * Math.exp(-seconds / quickSeconds),
    slowPerSecond: demand.slowPerSecond * Math.exp(-seconds / slowSeconds),
    atMs: nowMs
  }
}

export const withArrival = (demand: Demand, nowMs: number): Demand => {
  const { quickPerSecond, slowPerSecond } = decayed(demand, nowMs)
  return {
    quickPerSecond: quickPerSecond + 1 / quickSeconds,
    slowPerSecond: slowPerSecond + 1 / slowSeconds,
    atMs: nowMs
  }
}

export interface DepthLimits {
  readonly startSeconds: number
  readonly depthMin: number
  readonly depthMax: number
}

export const depthFor = (demand: Demand, nowMs: number, limits: DepthLimits): number => {
  const { quickPerSecond, slowPerSecond } = decayed(demand, nowMs)
  const perSecond = Math.max(quickPerSecond, slowPerSecond)
  if (perSecond < idlePerSecond) return Math.min(limits.depthMin, limits.depthMax)
  const whileStarting = perSecond * limits.startSeconds
  const depth = Math.ceil(whileStarting + 2 * Math.sqrt(whileStarting))
  return Math.min(limits.depthMax, Math.max(1, limits.depthMin, depth))
}
