/**
 * An engine's pace as its listeners measure it: time to first audio, time between two first audios, and audio made per
 * second.
 */

export interface EnginePace {
  /** Time to first audio. */
  readonly first: RecentTime
  /** Time to a full buffer. */
  readonly full: RecentTime
  /** Time to first audio when the engine has nothing else to do; 0 before the first. */
  aloneMs: number
  /** The time between two first audios while several are awaited, and since when the next one is awaited. */
  readonly every: { ms: number; count: number; sinceMs: number }
  /** The audio made, the time in which any playing listener waited, and the sum of all their waits; all decay. */
  readonly made: { audioMs: number; busyMs: number; waitedMs: number; atMs: number }
}

/** How long something took recently: a crowd that has gone says nothing about later listeners. */
interface RecentTime {
  readonly assumedMs: number
  ms: number
  measuredAtMs: number
}

// For an idle fleet, until the first measurements.
const assumed = { firstMs: 50, fullMs: 150, everyMs: 10 }
const recentHalfLifeMs = 2_000
const madeHalfLifeMs = 1_000
// In less time there is too little data on what can be made.
const busyMsMin = 1_000
// While listeners get more than this for each second that they wait, more can be made than is taken.
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

interface FirstAudio {
  readonly tookMs: number
  /** Nobody else awaited first audio when it started. */
  readonly wasAlone: boolean
  /** Others still await it. */
  readonly isCrowd: boolean
}

export const measureFirstAudio = (pace: EnginePace, { isCrowd, tookMs, wasAlone }: FirstAudio, nowMs: number) => {
  const { aloneMs, every } = pace
  if (isCrowd) {
    every.count += 1
    every.ms += (nowMs - every.sinceMs - every.ms) * Math.max(weight.everyMin, 1 / every.count)
    // A lone listener shows the latency, and two first audios are no further apart than that.
  } else every.ms = Math.min(every.ms, tookMs)
  every.sinceMs = nowMs
  if (aloneMs === 0 || tookMs <= aloneMs) pace.aloneMs = tookMs
  else if (wasAlone) pace.aloneMs += (tookMs - aloneMs) * weight.slowerAlone
}

/** Called before the number of waiting listeners changes. */
export const passTime = ({ made }: EnginePace, waiting: number, nowMs: number) => {
  const passedMs = Math.max(0, nowMs - made.atMs)
  const kept = 2 ** -(passedMs / madeHalfLifeMs)
  made.audioMs *= kept
  made.busyMs = made.busyMs * kept + (waiting > 0 ? passedMs : 0)
  made.waitedMs = made.waitedMs * kept + waiting * passedMs
  made.atMs = Math.max(made.atMs, nowMs)
}

/**
 * Seconds of audio that the engine makes per second while any playing listener waits; infinite while that is unknown.
 */
export const realTimeFactor = ({ made: { audioMs, busyMs } }: EnginePace) =>
  busyMs < busyMsMin ? Number.POSITIVE_INFINITY : audioMs / busyMs

/** Playing listeners wait for everything that can be made; otherwise more could be made. */
export const isSaturated = ({ made: { audioMs, waitedMs } }: EnginePace) => audioMs <= spareFactor * waitedMs
