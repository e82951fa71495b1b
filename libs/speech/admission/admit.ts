/**
 * Admission: whether another utterance can start, waits in the queue or is refused. It relies on measurements, not on
 * configuration. An utterance starts only with the capacity that present listeners leave, so it never takes their audio
 * away. A request that cannot be heard by its deadline is refused before that, with the time to come back. Pure.
 */

import { fullMs } from "./buffer.ts"

/** The measurements of an engine at the moment of a request. */
export interface Load {
  /** Listeners that have started and await their first audio. */
  readonly awaiting: number
  /** Listeners that have not had a full buffer, including those that await first audio. */
  readonly buffering: number
  /** Listeners that have had a full buffer, wait for audio and have little left. */
  readonly low: number
  /** Of those that buffer, the ones that are already playing and about to fall silent. */
  readonly starving: number
  /** Audio has arrived since one of those that await it started; also true if none awaits it. */
  readonly isMaking: boolean
  /** Time to first audio, from the latest starts and those in progress. */
  readonly firstMs: number
  /** Time to a full buffer, likewise. */
  readonly fullMs: number
  /** Time to first audio when the engine has nothing else to do; 0 before the first. */
  readonly aloneMs: number
  /** The time between two first audios, while several are awaited. */
  readonly firstEveryMs: number
  /** Seconds of audio to make per second so that no listener falls silent before its end. */
  readonly needs: number
  /** Seconds of audio made per second while any listener waits; infinite while that is unknown. */
  readonly makes: number
  /** Listeners wait for everything that can be made; otherwise more could be made. */
  readonly isSaturated: boolean
  /** The time between two ends of utterances. */
  readonly endsEveryMs: number
  /** The time between two starts in the last seconds; infinite without one. */
  readonly beganEveryMs: number
  /** How late this process's event loop is: a blocked loop starts nothing in time. */
  readonly lateMs: number
}

export interface Asker {
  /** Requests before it in the queue. */
  readonly ahead: number
  /** Time since the request arrived. */
  readonly waitedMs: number
  /** The request was not refused while there was time for that, so it is to be served. */
  readonly isPromised: boolean
  /** Requests that were refused recently and told to come back: they also count as ahead of it. */
  readonly recentlyRefused: number
}

export interface AdmissionLimits {
  /**
   * At most this many listeners await first audio at once: enough to keep the processors busy while some wait for the
   * bus.
   */
  readonly awaitingMax: number
  /** A refusal is sent within this time. */
  readonly decideWithinMs: number
  /**
   * An utterance that would be heard later than this is refused, before it has waited so long. With an engine that is
   * slow even when idle, a few times its idle delay. 0: it starts at once or is refused.
   */
  readonly beginWithinMs: number
  /** A request behind this many others is refused. */
  readonly waitingMax: number
}

type RefusalReason = "beginnings" | "listeners" | "stalled"

export type AdmissionVerdict =
  | { readonly _tag: "Begin" }
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Promise" }
  | { readonly _tag: "Refuse"; readonly reason: RefusalReason; readonly retryAfterSeconds: number }

// A loop that is later than this gets more work than it can do.
export const lateMsMax = 250
// First audio is as late as everything else that is due: if it is later than this, others are about to starve.
const firstMsMax = 500
// A caller that must wait longer would rather ask elsewhere.
const retryAfterSecondsMax = 60
// A promise that cannot be kept: the request stops waiting after this many times its limit, at the earliest after the
// time below.
const patience = 4
const patienceMsMin = 10_000
// A crowd refused all at once gets its refusals late, so hopeless requests are refused as they arrive.
const hopeless = 2
// The slowest of a crowd takes this many times as long to be heard as the others.
const slowest = 1.5
// A request that starts may wait for each listener that awaits first audio, and for as many that are playing and want
// more.
const turnsPerAwaiting = 2
// A caller of an engine that is slow even alone waits for a few of those before it, but no longer than this.
const timesAlone = 4
const aloneWithinMsMax = 2_500
// What is made per second varies, so even with the new request it must exceed what is needed by this factor.
const reserve = 1.05
const bufferingPerAwaiting = 4
// More at once would only take the engine from each other.
const fullWithinMs = 800

export const admit = (load: Load, asker: Asker, limits: AdmissionLimits): AdmissionVerdict => {
  const blocked = blockingReason(load, limits)
  if (blocked === undefined && asker.ahead === 0 && isInTime(load, asker, limits)) return { _tag: "Begin" }
  const refuse: AdmissionVerdict = {
    _tag: "Refuse",
    reason: blocked ?? "beginnings",
    retryAfterSeconds: retryAfter(load, asker, limits)
  }
  if (asker.isPromised) return asker.waitedMs > promisedMsMax(limits) ? refuse : { _tag: "Wait" }
  const withinMs = firstAudioWithinMs(load, limits)
  const beginsInMs = asker.waitedMs + queueMs(load, asker, limits)
  if (asker.ahead >= limits.waitingMax || beginsInMs > hopeless * withinMs) return refuse
  if (asker.waitedMs < decideByMs(load, limits)) return { _tag: "Wait" }
  const isFirstAudioInTime = beginsInMs + slowest * load.firstMs <= withinMs
  return isQueueMoving(load, limits) && isFirstAudioInTime ? { _tag: "Promise" } : refuse
}

const blockingReason = (load: Load, limits: AdmissionLimits): RefusalReason | undefined => {
  if (load.low > 0 || isOverbooked(load)) return "listeners"
  const isLate = load.awaiting > 0 && load.firstMs > firstMsMax
  const isFull = load.awaiting >= limits.awaitingMax || load.buffering >= bufferingMax(load, limits)
  if (load.starving > 0 || isLate || isFull) return "beginnings"
  // Without a start in progress nothing would show that the loop is on time again.
  return load.buffering > 0 && load.lateMs > lateMsMax ? "stalled" : undefined
}

const isOverbooked = ({ isSaturated, makes, needs }: Load) => isSaturated && needs > 0 && (needs + 1) * reserve > makes

/** As many as get full buffers in time, given what is made per second. */
const bufferingMax = ({ makes }: Load, { awaitingMax }: AdmissionLimits) =>
  Math.max(1, Math.min(bufferingPerAwaiting * awaitingMax, Math.floor((fullWithinMs * makes) / fullMs)))

/** If starting listeners do not get full buffers soon, no end can be promised. */
const isQueueMoving = (load: Load, limits: AdmissionLimits) => {
  const reason = blockingReason(load, limits)
  const isBlocked = reason === "listeners" || reason === "stalled" || load.buffering >= bufferingMax(load, limits)
  return load.isMaking && !isBlocked
}

/** A loop that is late read the request that late. */
const isInTime = (load: Load, { isPromised, waitedMs }: Asker, limits: AdmissionLimits) => {
  const { aloneMs, awaiting, firstEveryMs, lateMs } = load
  if (awaiting === 0 || isPromised || limits.beginWithinMs === 0) return true
  return lateMs + waitedMs + aloneMs + turnsPerAwaiting * awaiting * firstEveryMs <= firstAudioWithinMs(load, limits)
}

const promisedMsMax = ({ beginWithinMs }: AdmissionLimits) => Math.max(patienceMsMin, patience * beginWithinMs)

const firstAudioWithinMs = ({ aloneMs }: Load, { beginWithinMs }: AdmissionLimits) =>
  beginWithinMs === 0 ? 0 : Math.max(beginWithinMs, Math.min(aloneWithinMsMax, timesAlone * aloneMs))

/** At least half of the time, however long first audio takes just now: the next one may be faster. */
const decideByMs = (load: Load, limits: AdmissionLimits) => {
  const withinMs = firstAudioWithinMs(load, limits)
  return Math.min(limits.decideWithinMs, Math.max(withinMs / 2, withinMs - slowest * load.firstMs))
}

const turnEveryMs = ({ firstEveryMs, firstMs }: Load, { awaitingMax }: AdmissionLimits) =>
  Math.max(firstEveryMs, firstMs / awaitingMax)

/** Until those ahead have started and one more slot is free. */
const queueMs = (load: Load, { ahead }: Asker, limits: AdmissionLimits) =>
  Math.max(0, load.awaiting + ahead + 1 - limits.awaitingMax) * turnEveryMs(load, limits)

/** When all earlier requests have had their turn: by the pace of starts, or of ends if one must end first. */
const retryAfter = (load: Load, { ahead, recentlyRefused }: Asker, limits: AdmissionLimits) => {
  const placeEveryMs = Math.max(turnEveryMs(load, limits), load.low > 0 || isOverbooked(load) ? load.endsEveryMs : 0)
  const seconds = Math.ceil(((ahead + recentlyRefused + 1) * Math.min(load.beganEveryMs, placeEveryMs)) / 1_000)
  return Math.min(retryAfterSecondsMax, Math.max(1, seconds))
}
