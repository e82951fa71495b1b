/**
 * Whether another utterance may begin, waits for its turn or is refused: pure. The decision rests on measurements and
 * not on configuration: how long a beginning takes now, and whether every listener already has sound in store. An
 * utterance begins only with the capacity that those listeners leave, so it never takes their sound away. A request
 * that cannot begin in time learns so at once, and when to come again.
 */

/** The measurements at the moment of a request. */
export interface Load {
  /** Utterances that began and have not yet given their listener a store of sound. */
  readonly young: number
  /** How long a beginning takes until that store is there, in milliseconds, by the last ones and those in progress. */
  readonly growMs: number
  /** Listeners that wait for sound and have little left. */
  readonly thin: number
  /** All listeners, the beginning ones included. */
  readonly listening: number
  /** How long an utterance lasts, in milliseconds, by the last ones. */
  readonly lastsMs: number
  /** How late this process's event loop is: a loop that is held up starts nothing in time. */
  readonly lateMs: number
}

export interface Asker {
  /** Requests before it in line. */
  readonly ahead: number
  /** Time since the request came. */
  readonly waitedMs: number
  /** The request was not refused while it could have been told in time, so it is to be served. */
  readonly isPromised: boolean
  /** Requests that were refused just now and told to come again: they count as before it too. */
  readonly sentAway: number
}

export interface AdmissionLimits {
  /** Beginnings at once, at most: enough to keep the processors busy while some of them wait for the bus. */
  readonly youngMax: number
  /** A request that is refused learns so within this time. */
  readonly decideWithinMs: number
  /** An utterance that would be heard later than this is refused. */
  readonly beginWithinMs: number
  /** A request behind this many others is refused. */
  readonly waitingMax: number
}

export type RefusalReason = "beginnings" | "listeners" | "stalled"

export type AdmissionVerdict =
  | { readonly _tag: "Begin" }
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Promise" }
  | { readonly _tag: "Refuse"; readonly reason: RefusalReason; readonly retryAfterSeconds: number }

// A loop that is later than this gets more work than it can do.
export const lateMsMax = 250
// A caller that must wait longer would rather ask elsewhere.
const retryAfterSecondsMax = 60
// The wait after a refusal whose reason has just come up, and may be over as soon.
const retryAfterSecondsMin = 1
// A promise that cannot be kept: after this many times its limit the request waits no more.
const patience = 4

// A request with others before it is refused early when even twice the measured pace would not serve it in time: a
// crowd that is refused all at once is told late.
const hopeless = 2

// Only as many begin at once as still take no longer than this; more would only take the processors from each other.
const growMsWanted = 800

const begin: AdmissionVerdict = { _tag: "Begin" }
const wait: AdmissionVerdict = { _tag: "Wait" }
const promise: AdmissionVerdict = { _tag: "Promise" }

export const admit = (load: Load, asker: Asker, limits: AdmissionLimits): AdmissionVerdict => {
  const hindrance = hindranceOf(load, limits)
  if (hindrance === undefined && asker.ahead === 0) return begin
  const refuse: AdmissionVerdict = {
    _tag: "Refuse",
    reason: hindrance ?? "beginnings",
    retryAfterSeconds: comeAgain(load, asker, limits)
  }
  if (asker.isPromised) return asker.waitedMs > patience * limits.beginWithinMs ? refuse : wait
  if (asker.ahead >= limits.waitingMax) return refuse
  const heardInMs = asker.waitedMs + growsPerPlaceMs(load, limits) * (asker.ahead + 1) + load.growMs
  const isHopeless = asker.ahead >= limits.youngMax && heardInMs > hopeless * limits.beginWithinMs
  if (asker.waitedMs < limits.decideWithinMs) return isHopeless ? refuse : wait
  const isLineMoving = hindrance === undefined || hindrance === "beginnings"
  return isLineMoving && heardInMs <= limits.beginWithinMs ? promise : refuse
}

const hindranceOf = (load: Load, limits: AdmissionLimits): RefusalReason | undefined => {
  if (load.thin > 0) return "listeners"
  if (load.young >= placesNow(load, limits)) return "beginnings"
  // Without a beginning in progress nothing would show that the loop is on time again.
  return load.young > 0 && load.lateMs > lateMsMax ? "stalled" : undefined
}

/** How many may begin at once at the measured pace. */
const placesNow = ({ growMs }: Load, { youngMax }: AdmissionLimits) =>
  Math.max(1, Math.min(youngMax, Math.floor((youngMax * growMsWanted) / growMs)))

/** The time between two places for a beginning that become free. */
const growsPerPlaceMs = (load: Load, limits: AdmissionLimits) => load.growMs / placesNow(load, limits)

/**
 * When all earlier requests have had their turn: by the pace of beginnings, or by that of ends when one must end first.
 */
const comeAgain = (load: Load, { ahead, sentAway }: Asker, limits: AdmissionLimits) => {
  const endsEveryMs = load.thin > 0 ? load.lastsMs / Math.max(1, load.listening) : 0
  const everyMs = Math.max(growsPerPlaceMs(load, limits), endsEveryMs)
  const seconds = Math.ceil(((ahead + sentAway + 1) * everyMs) / 1_000)
  return Math.min(retryAfterSecondsMax, Math.max(retryAfterSecondsMin, seconds))
}
