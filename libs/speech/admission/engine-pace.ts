/** An engine's pace as its listeners measure it: until first audio, between two of them, and audio made a second. */

export interface EnginePace {
  /** Until first audio. */
  readonly first: RecentTime
  /** Until a full buffer. */
  readonly full: RecentTime
  /** Until a listener is heard when the engine has nothing else to do; 0 before the first. */
  aloneMs: number
  /** Between two listeners that are heard while several await that, and since when the next one is awaited. */
  readonly every: { ms: number; count: number; sinceMs: number }
  /** The audio that was made, the time in which any heard listener waited, and the sum of all their waits; all fade. */
  readonly made: { audioMs: number; busyMs: number; waitedMs: number; atMs: number }
}

/** How long something took lately: a crowd that has gone says nothing about later listeners. */
interface RecentTime {
  readonly assumedMs: number
  ms: number
  measuredAtMs: number
}

// Of an idle fleet, until the first measurements.
const assumed = { firstMs: 50, fullMs: 150, everyMs: 10 }
const recentHalfLifeMs = 2_000
const madeHalfLifeMs = 1_000
// In less time there is little to see of what can be made.
const busyMsMin = 1_000
// While listeners get more than this for each second that they wait, more can be made than is heard.
const spareFactor = 1.1

// How much a measurement counts. An engine that was once faster alone may share its machine now.
const weight = { recent: 1 / 4, everyMin: 1 / 8, slowerAlone: 1 / 16 }

const assumedTime = (assumedMs: number): RecentTime => ({
  assumedMs,
  ms: assumedMs,
  measuredAtMs: Number.NEGATIVE_INFINITY
})

export const assumedPace = (): EnginePace => ({
  first: assumedTime(assumed.firstMs),
  full: assumedTime(assumed.fullMs),
  aloneMs: 0,
  every: { ms: assumed.everyMs, count: 1, sinceMs: Number.NEGATIVE_INFINITY },
  made: { audioMs: 0, busyMs: 0, waitedMs: 0, atMs: 0 }
})

export const recentMs = ({ assumedMs, ms, measuredAtMs }: RecentTime, nowMs: number) =>
  assumedMs + (ms - assumedMs) * 2 ** -(Math.max(0, nowMs - measuredAtMs) / recentHalfLifeMs)

export const measure = (time: RecentTime, tookMs: number, nowMs: number) => {
  const before = recentMs(time, nowMs)
  time.ms = before + (tookMs - before) * weight.recent
  time.measuredAtMs = nowMs
}

interface Heard {
  readonly tookMs: number
  /** Nobody else awaited first audio when it began. */
  readonly wasAlone: boolean
  /** Others await it still. */
  readonly isCrowd: boolean
}

export const measureHeard = (pace: EnginePace, { isCrowd, tookMs, wasAlone }: Heard, nowMs: number) => {
  const { aloneMs, every } = pace
  if (isCrowd) {
    every.count += 1
    every.ms += (nowMs - every.sinceMs - every.ms) * Math.max(weight.everyMin, 1 / every.count)
    // One that is alone shows how long the way is, and two that are heard lie no further apart.
  } else every.ms = Math.min(every.ms, tookMs)
  every.sinceMs = nowMs
  if (aloneMs === 0 || tookMs <= aloneMs) pace.aloneMs = tookMs
  else if (wasAlone) pace.aloneMs += (tookMs - aloneMs) * weight.slowerAlone
}

/** Called before the number of those that wait changes. */
export const passTime = ({ made }: EnginePace, waiting: number, nowMs: number) => {
  const passedMs = Math.max(0, nowMs - made.atMs)
  const kept = 2 ** -(passedMs / madeHalfLifeMs)
  made.audioMs *= kept
  made.busyMs = made.busyMs * kept + (waiting > 0 ? passedMs : 0)
  made.waitedMs = made.waitedMs * kept + waiting * passedMs
  made.atMs = Math.max(made.atMs, nowMs)
}

/** Seconds of audio that the engine makes in a second while any heard listener waits; infinite while that is unknown. */
export const realTimeFactor = ({ made: { audioMs, busyMs } }: EnginePace) =>
  busyMs < busyMsMin ? Number.POSITIVE_INFINITY : audioMs / busyMs

/** Heard listeners wait for all that can be made; else more could be. */
export const isSaturated = ({ made: { audioMs, waitedMs } }: EnginePace) => audioMs <= spareFactor * waitedMs
