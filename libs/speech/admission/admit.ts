/**
 * Whether another speech may begin, wait for its turn or be refused: pure. What decides is measured, not configured:
 * how long a beginning takes just now, and whether everybody who listens already has sound in store. A speech is
 * begun only out of what is left over when these have theirs, so it never takes a listener's sound away; what
 * cannot be begun in time is told so at once, and when to come again.
 */

/** What is measured at the moment somebody asks. */
export interface Load {
  /** Speeches begun that have not brought their listener a store of sound yet. */
  readonly young: number
  /** How long it takes to grow up, in milliseconds, as the last ones and those that are at it show. */
  readonly growMs: number
  /** Listeners that wait for sound and have little left. */
  readonly thin: number
  /** Everybody who listens, the young ones too. */
  readonly listening: number
  /** How long a speech lasts, in milliseconds, as the last ones did. */
  readonly lastsMs: number
  /** How late this process itself is: a loop that is held up starts nothing in time. */
  readonly lateMs: number
}

export interface Asker {
  /** Those before it in line. */
  readonly ahead: number
  /** Since its request came. */
  readonly waitedMs: number
  /** It was not refused when it could have been told in time, and is to be served. */
  readonly isPromised: boolean
  /** Those that were sent away just now and told to come again: they are before it too. */
  readonly sentAway: number
}

export interface AdmissionLimits {
  /** Young ones at once, at most: enough that the processors are busy while some of them wait for the bus. */
  readonly youngMax: number
  /** By then an asker is told when it is refused. */
  readonly decideWithinMs: number
  /** What would be heard later than this is refused. */
  readonly beginWithinMs: number
  /** A line that is longer is none. */
  readonly waitingMax: number
}

export type RefusalReason = "beginnings" | "listeners" | "stalled"

export type AdmissionVerdict =
  | { readonly _tag: "Begin" }
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Promise" }
  | { readonly _tag: "Refuse"; readonly reason: RefusalReason; readonly retryAfterSeconds: number }

// A loop that is later than this has more to do than it gets done.
export const lateMsMax = 250
// Who was told to wait for longer would rather ask elsewhere.
const retryAfterSecondsMax = 60
// Of a refusal whose reason has just come up; it may be over as soon.
const retryAfterSecondsMin = 1
// What was promised in good faith and cannot be held: beyond this many times its limit nobody waits any more.
const patience = 4

// Behind others who wait, whom even twice the pace would not serve is refused before the time to decide is over: a crowd
// that is told all at once is told late.
const hopeless = 2

// As many are begun at once as need no longer than this; more would only take the processors from each other.
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
  // With nobody at it, there would be nobody to show that the loop is on time again.
  return load.young > 0 && load.lateMs > lateMsMax ? "stalled" : undefined
}

/** How many may begin at once at the pace that is measured. */
const placesNow = ({ growMs }: Load, { youngMax }: AdmissionLimits) =>
  Math.max(1, Math.min(youngMax, Math.floor((youngMax * growMsWanted) / growMs)))

/** A place for a beginning becomes free as often. */
const growsPerPlaceMs = (load: Load, limits: AdmissionLimits) => load.growMs / placesNow(load, limits)

/** When all who were here first have had their turn: by the beginnings, and by the ends when nobody may begin before one. */
const comeAgain = (load: Load, { ahead, sentAway }: Asker, limits: AdmissionLimits) => {
  const endsEveryMs = load.thin > 0 ? load.lastsMs / Math.max(1, load.listening) : 0
  const everyMs = Math.max(growsPerPlaceMs(load, limits), endsEveryMs)
  const seconds = Math.ceil(((ahead + sentAway + 1) * everyMs) / 1_000)
  return Math.min(retryAfterSecondsMax, Math.max(retryAfterSecondsMin, seconds))
}
