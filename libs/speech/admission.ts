/**
 * Admission: whether another utterance may begin, waits for its turn or is refused. The decision is pure, and rests on
 * measurements and not on configuration: how long a beginning takes now, whether every listener already has sound in
 * store, and whether all that they still need can be made in time. An utterance begins only with the capacity that those
 * listeners leave, so it never takes their sound away. A request that cannot begin in time learns so at once, and when to
 * come again.
 */
import type { SpeechTurn } from "#speech/contract"

/** The measurements at the moment of a request. */
export interface Load {
  /** Utterances that began and have not been heard yet: a player has not got what it begins with. */
  readonly unheard: number
  /** How long a beginning takes until it is heard, in milliseconds, by the last ones and those in progress. */
  readonly firstMs: number
  /** Sound has come since one of those that are unheard began; also when none is unheard. */
  readonly isMaking: boolean
  /** How long the engine takes until one is heard when it has nothing else to do, by the fastest; 0 before the first. */
  readonly aloneMs: number
  /** The time between two that are heard, while several are not. */
  readonly heardEveryMs: number
  /** Utterances that began and have not yet given their listener a store of sound. */
  readonly young: number
  /** How long a beginning takes until that store is there, in milliseconds, by the last ones and those in progress. */
  readonly growMs: number
  /** The time in which the young get as much sound together as one store. */
  readonly storeEveryMs: number
  /** Listeners that wait for sound and have little left. */
  readonly thin: number
  /** Of the young, those that are heard already, wait for their next sound and are about to fall silent. */
  readonly lean: number
  /**
   * Seconds of sound that those with a store get for each second that they wait, lately; below 1 they have less and
   * less. Infinite when nobody waits.
   */
  readonly gain: number
  /** The same for each second that they wait with however much in store. */
  readonly share: number
  /** Seconds of sound that are made in a second while anybody waits, lately; infinite when hardly anybody does. */
  readonly makes: number
  /** Seconds of sound to be made in a second so that none of the listeners falls silent before its end. */
  readonly needs: number
  /** All listeners, the beginning ones included. */
  readonly listening: number
  /** How long an utterance lasts, in milliseconds, by the last ones. */
  readonly lastsMs: number
  /** The time between two beginnings in the last seconds, in milliseconds; infinite without one. */
  readonly beganEveryMs: number
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
  /**
   * Beginnings that are unheard at once, at most: enough to keep the processors busy while some of them wait for the
   * bus. Their first sound goes before any later one, so others may begin while these get their store.
   */
  readonly unheardMax: number
  /** A request that is refused learns so within this time. */
  readonly decideWithinMs: number
  /**
   * An utterance that would be heard later than this is refused, before it has waited so long. With an engine that is slow
   * even when it is idle, some times as long as it takes then. 0: it begins at once or is refused.
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
// An engine makes first sounds as late as all else that is due: when it is later than this, others are about to lack it.
const firstMsMax = 500
// A caller that must wait longer would rather ask elsewhere.
const retryAfterSecondsMax = 60
// The wait after a refusal whose reason has just come up, and may be over as soon.
const retryAfterSecondsMin = 1
// A promise that cannot be kept: after this many times its limit the request waits no more, nor after less than that time.
const patience = 4
const patienceMsMin = 10_000

// A request with others before it is refused early when even twice the measured pace would not serve it in time: a
// crowd that is refused all at once is told late.
const hopeless = 2

// Only as many are without a store at once as still take no longer than this to have it; more would only take the
// processors from each other.
const growMsWanted = 800

// The slowest of a crowd takes so many times as long to be heard as the others.
const slowest = 1.5
// One that begins among others may wait for each of them, and for as many that are heard and want more.
const perUnheard = 2
// A caller of an engine that is slow even alone waits for a few of those before it, but no longer than this.
const timesAlone = 4
const aloneWithinMsMax = 2_500

// With a larger share than this stores grow: more can be made than is heard.
const shareEnough = 1.1
// What is made in a second changes, and with it must be left more than is needed.
const reserve = 1.05

// As many times as many may be without a store as may be unheard.
const heardPerUnheard = 4

const begin: AdmissionVerdict = { _tag: "Begin" }
const wait: AdmissionVerdict = { _tag: "Wait" }
const promise: AdmissionVerdict = { _tag: "Promise" }

export const admit = (load: Load, asker: Asker, limits: AdmissionLimits): AdmissionVerdict => {
  const hindrance = hindranceOf(load, limits)
  if (hindrance === undefined && asker.ahead === 0 && isInTime(load, asker, limits)) return begin
  const refuse: AdmissionVerdict = {
    _tag: "Refuse",
    reason: hindrance ?? "beginnings",
    retryAfterSeconds: comeAgain(load, asker, limits)
  }
  if (asker.isPromised) return asker.waitedMs > promisedMsMax(limits) ? refuse : wait
  if (asker.ahead >= limits.waitingMax) return refuse
  const withinMs = heardWithinMs(load, limits)
  const heardInMs = asker.waitedMs + beginsInMs(load, asker, limits) + slowest * load.firstMs
  const isHopeless = asker.ahead >= limits.unheardMax && heardInMs > hopeless * withinMs
  if (asker.waitedMs < decideByMs(load, limits)) return isHopeless ? refuse : wait
  const isLineMoving = hindrance === undefined || hindrance === "beginnings"
  // Beginnings that all wait for their first sound, for an engine that is being opened perhaps, promise nothing.
  return load.isMaking && isLineMoving && heardInMs <= withinMs ? promise : refuse
}

const promisedMsMax = ({ beginWithinMs }: AdmissionLimits) => Math.max(patienceMsMin, patience * beginWithinMs)

const heardWithinMs = ({ aloneMs }: Load, { beginWithinMs }: AdmissionLimits) =>
  beginWithinMs === 0 ? 0 : Math.max(beginWithinMs, Math.min(aloneWithinMsMax, timesAlone * aloneMs))

/**
 * While it would still be heard in time. Half of that time at least, however long a first sound takes just now: the next
 * one may be faster.
 */
const decideByMs = (load: Load, limits: AdmissionLimits) => {
  const withinMs = heardWithinMs(load, limits)
  return Math.min(limits.decideWithinMs, Math.max(withinMs / 2, withinMs - slowest * load.firstMs))
}

/**
 * Whether it would be heard in time if it began now, after those who are not heard yet. A loop that is late read the
 * request as late as that.
 */
const isInTime = (load: Load, { isPromised, waitedMs }: Asker, limits: AdmissionLimits) => {
  const { aloneMs, heardEveryMs, lateMs, unheard } = load
  if (unheard === 0 || isPromised || limits.beginWithinMs === 0) return true
  return lateMs + waitedMs + aloneMs + perUnheard * unheard * heardEveryMs <= heardWithinMs(load, limits)
}

const hindranceOf = (load: Load, limits: AdmissionLimits): RefusalReason | undefined => {
  if (isShort(load) || isOverbooked(load)) return "listeners"
  const isLate = load.unheard > 0 && load.firstMs > firstMsMax
  if (load.lean > 0 || isLate) return "beginnings"
  if (load.unheard >= limits.unheardMax || load.young >= placesNow(load, limits)) return "beginnings"
  // Without a beginning in progress nothing would show that the loop is on time again.
  return load.young > 0 && load.lateMs > lateMsMax ? "stalled" : undefined
}

const isShort = ({ gain, thin }: Load) => thin > 0 || gain < 1

/** Stores hide for a while that too many listen: all have enough now, and long texts would lack sound before their end. */
const isOverbooked = ({ makes, needs, share }: Load) =>
  needs > 0 && share < shareEnough && (needs + 1) * reserve > makes

/** How many may be without a store at once, so that the last of them has it in time, at the measured pace. */
const placesNow = ({ growMs, storeEveryMs }: Load, { unheardMax }: AdmissionLimits) =>
  Math.max(
    1,
    Math.min(
      heardPerUnheard * unheardMax,
      Math.floor((unheardMax * growMsWanted) / growMs),
      Math.floor(growMsWanted / storeEveryMs)
    )
  )

/** When the last of those ahead has begun, and one more place is free: for one that is unheard, and for one without a store. */
const beginsInMs = (load: Load, { ahead }: Asker, limits: AdmissionLimits) => {
  const places = placesNow(load, limits)
  const mustBeHeard = Math.max(0, load.unheard + ahead + 1 - limits.unheardMax)
  const mustHaveStore = Math.max(0, load.young + ahead + 1 - places)
  const storesInMs = Math.max(mustHaveStore * load.storeEveryMs, ((ahead + 1) * load.growMs) / places)
  const heardInMs = Math.max(mustBeHeard * load.heardEveryMs, ((ahead + 1) * load.firstMs) / limits.unheardMax)
  return Math.max(heardInMs, storesInMs)
}

/**
 * When all earlier requests have had their turn: by the pace of beginnings, or by that of ends when one must end first.
 * While places are few, both take a stall for the rule; others began all the same, and no slower than that.
 */
const comeAgain = (load: Load, { ahead, sentAway }: Asker, { unheardMax }: AdmissionLimits) => {
  const endsEveryMs = isShort(load) || isOverbooked(load) ? load.lastsMs / Math.max(1, load.listening) : 0
  const placeEveryMs = Math.max(load.heardEveryMs, load.firstMs / unheardMax, load.storeEveryMs)
  const everyMs = Math.min(load.beganEveryMs, Math.max(placeEveryMs, endsEveryMs))
  const seconds = Math.ceil(((ahead + sentAway + 1) * everyMs) / 1_000)
  return Math.min(retryAfterSecondsMax, Math.max(retryAfterSecondsMin, seconds))
}

export interface Listener {
  /** The listener would take sound now. */
  readonly wants: (nowMs: number) => void
  /** The listener got this many seconds of sound. */
  readonly got: (seconds: number, nowMs: number) => void
  /** The listener would take no sound now. */
  readonly rests: (nowMs: number) => void
  /** Sound in store: all that it got, until its player begins. */
  readonly storeMs: (nowMs: number) => number
  /** A player that begins with the sound it got outlasts the way of the next; once it may, it is heard. */
  readonly mayBegin: (nowMs: number, hasAll?: boolean) => boolean
  readonly isHeard: () => boolean
  readonly leave: (nowMs: number) => void
}

export interface Entry {
  /** Listeners of one group share a source, an engine: a slow engine's listeners say nothing about another's. */
  readonly group: string
  readonly nowMs: number
  /** Whether the listener plays sound as it comes; one that waits for the whole never falls silent. */
  readonly plays: boolean
  /** How long its sound will be, about. */
  readonly soundMs: number
}

// A voice's own pace in European languages. In denser ones a sound lasts longer than thought, and counts as about to end.
const msPerCharacter = 65

/** How long texts take to be heard, about. */
export const soundMsOf = (turns: ReadonlyArray<Pick<SpeechTurn, "input" | "voice">>) =>
  turns.reduce((sum, { input, voice }) => sum + (input.length * msPerCharacter * 100) / voice.ratePercent, 0)

/**
 * How much sound each listener has in store: the sound that a player has not played yet if it began with the first. A
 * listener that takes nothing has enough, whatever the clock says. Keeps state, does no IO; times are the caller's, in
 * milliseconds.
 */
export interface Listeners {
  readonly enter: (entry: Entry) => Listener
  readonly load: (group: string, nowMs: number) => Omit<Load, "lateMs">
  /** A listener waits for sound and has little left, or takes long to begin. */
  readonly isAnyInNeed: (nowMs: number) => boolean
  readonly counts: (nowMs: number) => { readonly unheard: number; readonly young: number; readonly thin: number }
}

// The sound that a listener should have before the next one begins: the capacity of a busy machine changes within
// seconds.
const grownMs = 3_000
// A waiting listener with less than this is in need, and comes before all that have not begun.
const thinMs = 2_000
// The same for one without a store: it has that only for as long as its first words last.
const leanMs = 400
// A store that is to be thicker than this would hold all that a crowded window lets through.
const takenMsMax = 2_000
// A listener that has more may wait: it is no sign of a lack.
const plentyMs = 5_000
// What listeners got and how long they waited loses half of its weight in this time.
const gainHalfLifeMs = 1_000
// The same for what was made: it is compared with needs that change slowly.
const madeHalfLifeMs = 4_000
// In less time than this there is little to see of what can be made.
const busyMsLeast = 1_000
// The moments by which sound must be there, looked at from now: up to some four minutes.
const horizonsMs = Array.from({ length: 13 }, (_, nth) => 2_000 * 1.5 ** nth)
// A listener that is still there needs at least so much.
const restMsLeast = 2_000
// Less says nothing: one listener's wait for a chunk of text.
const waitedMsLeast = 2_000
// The first pieces of an answer hold 0.05, 0.09 and 0.22 s, and each crosses six threads: as long as all of them take on
// a full machine. With more, the first byte would be late for nothing.
const beginsWithMsMax = 400
// How often the time beyond an idle fleet's that a first sound takes.
const beginsWithWays = 4
// Sound reaches most listeners that ask within a frame of the coarsest codec and a turn of the loop.
const waitsMs = 100
// A beginning that takes longer lacks capacity that other listeners have in plenty.
const beginsSlowlyMs = 500
// The weight of the newest measurement in an average.
const newest = 1 / 4
// Assumed until the first measurements: a sentence's first sound, a listener's store, and a paragraph.
const firstMsAssumed = 50
// What one takes alone grows by this part of what a later one takes longer: the machine may have become slower.
const slowerWeight = 1 / 16
const growMsAssumed = 150
const lastsMsAssumed = 10_000
const storeEveryMsAssumed = 10
const heardEveryMsAssumed = 10
// A measurement of them loses half of its weight with so many more that are heard.
const heardKept = 8
// A crowd that is taken begins within this time.
const rushMs = 500
// What the young got and how long it took loses half of its weight with so much more sound.
const youngKeptMs = 12_000
// A beginning that has not come through may take this many times as long: nothing is promised on its account.
const unseenFactor = 3
// An old measurement loses half of its weight in this time.
const halfLifeMs = 2_000
// Beginnings are counted over this time.
const begunWithinMs = 10_000

interface Group {
  readonly present: Set<State>
  /** Until the first sound comes. */
  readonly first: Pace
  /** Until there is enough to begin with. */
  readonly heard: Pace
  aloneMs: number | undefined
  /** How many were heard while several were not, in which time, and up to when that is counted; earlier ones fade. */
  crowd: { heard: number; tookMs: number; untilMs: number }
  readonly grow: Pace
  lastsMs: number
  begunAtMs: ReadonlyArray<number>
  /** What the young got together, in which time, and since when they wait: from the first sound of one of them on. */
  youngGot: { gotMs: number; tookMs: number; sinceMs: number | undefined }
  /** Until when a crowd begins that came while nobody listened, and the time in which the young got a store before it. */
  rush: { readonly untilMs: number; readonly storeEveryMs: number }
  /** What those with a store got after they had waited, how long, and how long with less than plenty; all fade. */
  gained: { gotMs: number; waitedMs: number; lackedMs: number; atMs: number }
  /** What all got, and the time in which anybody waited; both fade. */
  made: { gotMs: number; busyMs: number; atMs: number }
  /** Those that wait now. */
  waiting: number
}

/** How long something took lately. */
interface Pace {
  readonly assumedMs: number
  ms: number
  /** When it was measured last. */
  atMs: number
}

interface State {
  readonly enteredAtMs: number
  /** When the first sound came. */
  firstAtMs: number | undefined
  /** When its player began. */
  startedAtMs: number | undefined
  gotMs: number
  wantsSinceMs: number | undefined
  tookAtMs: number
  isYoung: boolean
  /** Nobody else was unheard when it began. */
  readonly isAlone: boolean
  readonly plays: boolean
  readonly soundMs: number
}

type Groups = Map<string, Group>

export const listeners = (): Listeners => {
  const groups: Groups = new Map()
  return {
    enter: (entry) => enter(groupOf(groups, entry.group), entry),
    load: (group, nowMs) => loadOf(groupOf(groups, group), nowMs),
    isAnyInNeed: (nowMs) =>
      [...groups.values()].some((group) => {
        const takesMs = takenByOne(group, nowMs)
        return [...group.present].some((state) => isInNeed(state, nowMs, takesMs))
      }),
    counts: (nowMs) => {
      for (const group of groups.values()) settle(group, [...group.present], nowMs)
      const present = allOf(groups)
      const thin = [...groups.values()].map((group) => loadOf(group, nowMs).thin)
      return {
        unheard: present.filter(isUnheard).length,
        young: present.filter(({ isYoung }) => isYoung).length,
        thin: thin.reduce((sum, one) => sum + one, 0)
      }
    }
  }
}

const groupOf = (groups: Groups, name: string): Group => {
  const known = groups.get(name)
  if (known !== undefined) return known
  const group: Group = {
    present: new Set(),
    first: paceAssumed(firstMsAssumed),
    heard: paceAssumed(firstMsAssumed),
    aloneMs: undefined,
    crowd: { heard: 1, tookMs: heardEveryMsAssumed, untilMs: 0 },
    grow: paceAssumed(growMsAssumed),
    lastsMs: lastsMsAssumed,
    begunAtMs: [],
    youngGot: { gotMs: grownMs, tookMs: storeEveryMsAssumed, sinceMs: undefined },
    rush: { untilMs: Number.NEGATIVE_INFINITY, storeEveryMs: storeEveryMsAssumed },
    gained: { gotMs: 0, waitedMs: 0, lackedMs: 0, atMs: 0 },
    made: { gotMs: 0, busyMs: 0, atMs: 0 },
    waiting: 0
  }
  groups.set(name, group)
  return group
}

const allOf = (groups: Groups) => [...groups.values()].flatMap(({ present }) => [...present])

const enter = (group: Group, { nowMs, plays, soundMs }: Entry): Listener => {
  const state: State = {
    enteredAtMs: nowMs,
    firstAtMs: undefined,
    startedAtMs: undefined,
    gotMs: 0,
    wantsSinceMs: undefined,
    tookAtMs: nowMs,
    isYoung: true,
    isAlone: !isAnyUnheard(group),
    plays,
    soundMs
  }
  if (group.present.size === 0) group.rush = { untilMs: nowMs + rushMs, storeEveryMs: storeEveryMsOf(group, nowMs) }
  if (!isAnyYoungWaiting(group)) group.youngGot = { ...group.youngGot, sinceMs: undefined }
  passCrowd(group, nowMs)
  group.present.add(state)
  group.begunAtMs = [...lately(group, nowMs), nowMs]
  return {
    wants: (atMs) => {
      if (state.wantsSinceMs !== undefined || !group.present.has(state)) return
      pass(group, atMs)
      group.waiting += 1
      state.wantsSinceMs = atMs
    },
    got: (seconds, atMs) => {
      if (seconds <= 0) return
      if (state.isYoung) youngGot(group, seconds * 1_000, atMs)
      else if (state.plays) gain(group, { gotMs: seconds * 1_000, ...waitOf(state, atMs) }, atMs)
      // The player stood still, so the new sound is ahead of it, however late it came.
      const isBehind = state.startedAtMs !== undefined && storeOf(state, atMs) < 0
      if (isBehind) state.startedAtMs = atMs - state.gotMs
      if (state.firstAtMs === undefined) measure(group.first, atMs - state.enteredAtMs, atMs)
      state.firstAtMs ??= atMs
      state.gotMs += seconds * 1_000
      begins(group, state, atMs)
      pass(group, atMs)
      group.made.gotMs += seconds * 1_000
      rest(group, state)
      state.tookAtMs = atMs
      if (storeOf(state, atMs) >= grownMs) grow(group, state, atMs)
    },
    rests: (atMs) => {
      pass(group, atMs)
      rest(group, state)
    },
    storeMs: (atMs) => storeOf(state, atMs),
    mayBegin: (atMs, hasAll = false) => !plays || begins(group, state, atMs, hasAll),
    isHeard: () => !isUnheard(state),
    leave: (atMs) => {
      passCrowd(group, atMs)
      if (!group.present.delete(state)) return
      pass(group, atMs)
      rest(group, state)
      if (state.firstAtMs === undefined) return
      group.lastsMs += (atMs - state.enteredAtMs - group.lastsMs) * newest
    }
  }
}

/** Called before the number of those that wait changes. */
const pass = ({ made, waiting }: Group, nowMs: number) => {
  const passedMs = Math.max(0, nowMs - made.atMs)
  const kept = 2 ** -(passedMs / madeHalfLifeMs)
  made.gotMs *= kept
  made.busyMs = made.busyMs * kept + (waiting > 0 ? passedMs : 0)
  made.atMs = Math.max(made.atMs, nowMs)
}

const rest = (group: Group, state: State) => {
  if (state.wantsSinceMs !== undefined) group.waiting -= 1
  state.wantsSinceMs = undefined
}

const loadOf = (group: Group, nowMs: number): Omit<Load, "lateMs"> => {
  const present = [...group.present]
  settle(group, present, nowMs)
  const young = present.filter(({ isYoung }) => isYoung)
  const unheard = present.filter(isUnheard)
  const takesMs = takenByOne(group, nowMs)
  return {
    unheard: unheard.length,
    firstMs: expectedMs(group, group.heard, { inProgress: unheard, nowMs }),
    isMaking: unheard.length === 0 || isSeenIn(group.first, unheard),
    aloneMs: group.aloneMs ?? 0,
    heardEveryMs: heardEveryMsOf(group, nowMs),
    young: young.length,
    growMs: isRush(group, nowMs) ? growMsAssumed : expectedMs(group, group.grow, { inProgress: young, nowMs }),
    storeEveryMs: storeEveryMsOf(group, nowMs),
    thin: present.filter((state) => isThin(state, nowMs, takesMs)).length,
    lean: present.filter((state) => isLean(state, nowMs)).length,
    ...gainOf(group, present, nowMs),
    makes: makesOf(group, nowMs),
    needs: needsOf(present, nowMs),
    listening: present.length,
    lastsMs: group.lastsMs,
    beganEveryMs: begunWithinMs / lately(group, nowMs).length
  }
}

interface Wait {
  readonly waitedMs: number
  /** While it had less than plenty. */
  readonly lackedMs: number
}

const waitOf = (state: State, nowMs: number): Wait => {
  const waitedMs = state.wantsSinceMs === undefined ? 0 : nowMs - state.wantsSinceMs
  return { waitedMs, lackedMs: Math.min(waitedMs, Math.max(0, plentyMs - storeOf(state, nowMs))) }
}

const gain = ({ gained }: Group, more: Wait & { readonly gotMs: number }, nowMs: number) => {
  const kept = 2 ** -(Math.max(0, nowMs - gained.atMs) / gainHalfLifeMs)
  gained.gotMs = gained.gotMs * kept + more.gotMs
  gained.waitedMs = gained.waitedMs * kept + more.waitedMs
  gained.lackedMs = gained.lackedMs * kept + more.lackedMs
  gained.atMs = nowMs
}

/** With the waits that are not over. */
const gainOf = (group: Group, present: ReadonlyArray<State>, nowMs: number) => {
  gain(group, { gotMs: 0, waitedMs: 0, lackedMs: 0 }, nowMs)
  const { gained } = group
  const waits = present.filter(({ isYoung, plays }) => !isYoung && plays).map((state) => waitOf(state, nowMs))
  const gotFor = (ms: number) => (ms < waitedMsLeast ? Number.POSITIVE_INFINITY : gained.gotMs / ms)
  return {
    gain: gotFor(waits.reduce((sum, { lackedMs }) => sum + lackedMs, gained.lackedMs)),
    share: gotFor(waits.reduce((sum, { waitedMs }) => sum + waitedMs, gained.waitedMs))
  }
}

const makesOf = (group: Group, nowMs: number) => {
  pass(group, nowMs)
  const { busyMs, gotMs } = group.made
  return busyMs < busyMsLeast ? Number.POSITIVE_INFINITY : gotMs / busyMs
}

/** It has played all that it got, and takes no more. */
const hasPaused = (state: State, nowMs: number) =>
  !isUnheard(state) && state.wantsSinceMs === undefined && storeOf(state, nowMs) <= 0

/**
 * Until each of the moments a listener needs the sound that it has not got, as far as it has more to come, and what it
 * should always have in store.
 */
const needsOf = (present: ReadonlyArray<State>, nowMs: number) => {
  const playing = present
    .filter((state) => state.plays && !hasPaused(state, nowMs))
    .map((state) => ({
      storeMs: Math.max(0, storeOf(state, nowMs) - thinMs),
      restMs: Math.max(restMsLeast, state.soundMs - state.gotMs)
    }))
  const neededUntil = (horizonMs: number) =>
    playing.reduce((sum, { restMs, storeMs }) => sum + Math.min(restMs, Math.max(0, horizonMs - storeMs)), 0)
  return Math.max(...horizonsMs.map((horizonMs) => neededUntil(horizonMs) / horizonMs))
}

const lately = ({ begunAtMs }: Group, nowMs: number) => begunAtMs.filter((atMs) => nowMs - atMs < begunWithinMs)

/** A listener that has begun and takes no more has as much as it can hold. */
const settle = (group: Group, present: ReadonlyArray<State>, nowMs: number) => {
  for (const state of present) {
    const isFull = state.startedAtMs !== undefined && state.wantsSinceMs === undefined
    if (state.isYoung && isFull && nowMs - state.tookAtMs > waitsMs) grow(group, state, state.tookAtMs)
  }
}

const grow = (group: Group, state: State, atMs: number) => {
  if (!state.isYoung) return
  state.isYoung = false
  measure(group.grow, atMs - state.enteredAtMs, atMs)
}

const isAnyUnheard = ({ present }: Group) => [...present].some(isUnheard)

const isAnyYoungWaiting = ({ present }: Group) =>
  [...present].some(({ isYoung, wantsSinceMs }) => isYoung && wantsSinceMs !== undefined)

/**
 * In the beginning of a crowd nearly all work is for first sounds, and the young get little beside these: that says
 * nothing about how soon they will have their stores.
 */
const isRush = ({ rush }: Group, nowMs: number) => nowMs < rush.untilMs

const storeEveryMsOf = (group: Group, nowMs: number) => {
  if (isRush(group, nowMs)) return group.rush.storeEveryMs
  const { gotMs, tookMs, sinceMs: waitingSinceMs = nowMs } = group.youngGot
  return Math.max((tookMs * grownMs) / gotMs, isAnyYoungWaiting(group) ? nowMs - waitingSinceMs : 0)
}

/**
 * Measures an engine's speed and not its load: each beginning shows it anew, so it is not forgotten. By their sound and
 * not by their stores, for a crowd that begins together gets those together.
 */
const youngGot = (group: Group, gotMs: number, nowMs: number) => {
  const { sinceMs, ...before } = group.youngGot
  // How long the first one takes says how long the way is, and not how much comes by it.
  if (sinceMs === undefined) return void (group.youngGot = { ...before, sinceMs: nowMs })
  const kept = 2 ** -(gotMs / youngKeptMs)
  const tookMs = before.tookMs * kept + nowMs - sinceMs
  group.youngGot = { gotMs: before.gotMs * kept + gotMs, tookMs, sinceMs: nowMs }
}

const isUnheard = ({ startedAtMs }: State) => startedAtMs === undefined

const paceAssumed = (assumedMs: number): Pace => ({ assumedMs, ms: assumedMs, atMs: Number.NEGATIVE_INFINITY })

const measure = (pace: Pace, tookMs: number, atMs: number) => {
  const before = paceNow(pace, atMs)
  pace.ms = before + (tookMs - before) * newest
  pace.atMs = atMs
}

/** The measurement of the last seconds: a crowd that has gone says nothing about later listeners. */
const paceNow = ({ assumedMs, ms, atMs }: Pace, nowMs: number) =>
  assumedMs + (ms - assumedMs) * 2 ** -(Math.max(0, nowMs - atMs) / halfLifeMs)

/**
 * Beginnings in progress show a slower pace before any of them comes through. Until one does, the pace is unknown, but to a
 * crowd that came while nobody listened.
 */
const expectedMs = (group: Group, pace: Pace, { inProgress, nowMs }: Progress) => {
  if (inProgress.length === 0) return paceNow(pace, nowMs)
  const ageMs = inProgress.reduce((sum, { enteredAtMs }) => sum + nowMs - enteredAtMs, 0) / inProgress.length
  const isSeen = isRush(group, nowMs) || isSeenIn(pace, inProgress)
  return Math.max(paceNow(pace, nowMs), isSeen ? ageMs : ageMs * unseenFactor)
}

const isSeenIn = ({ atMs }: Pace, inProgress: ReadonlyArray<State>) =>
  inProgress.some(({ enteredAtMs }) => atMs >= enteredAtMs)

interface Progress {
  readonly inProgress: ReadonlyArray<State>
  readonly nowMs: number
}

const isCrowd = ({ present }: Group) => [...present].filter(isUnheard).length > 1

/** Called before the number of those that are unheard changes. */
const passCrowd = (group: Group, nowMs: number) => {
  const { crowd } = group
  if (isCrowd(group)) crowd.tookMs += Math.max(0, nowMs - crowd.untilMs)
  crowd.untilMs = nowMs
}

/** One that is alone shows how long the way is, and two that are heard lie no further apart. */
const countHeard = (group: Group, tookMs: number, nowMs: number) => {
  const { crowd } = group
  passCrowd(group, nowMs)
  if (!isCrowd(group)) return void (crowd.tookMs = Math.min(crowd.tookMs, crowd.heard * tookMs))
  const kept = 2 ** (-1 / heardKept)
  crowd.heard = crowd.heard * kept + 1
  crowd.tookMs *= kept
}

const heardEveryMsOf = (group: Group, nowMs: number) => {
  passCrowd(group, nowMs)
  return group.crowd.tookMs / group.crowd.heard
}

const storeOf = ({ startedAtMs, gotMs }: State, nowMs: number) =>
  startedAtMs === undefined ? gotMs : gotMs - (nowMs - startedAtMs)

/** Whether its player begins now, or has. */
const begins = (group: Group, state: State, nowMs: number, hasAll = false) => {
  if (state.startedAtMs !== undefined) return true
  const isEnough = hasAll || !state.plays || state.gotMs >= beginsWithMs(group, state, nowMs)
  if (!isEnough || state.firstAtMs === undefined) return isEnough
  const tookMs = nowMs - state.enteredAtMs
  countHeard(group, tookMs, nowMs)
  state.startedAtMs = nowMs
  measure(group.heard, tookMs, nowMs)
  const { aloneMs = tookMs } = group
  if (tookMs <= aloneMs) group.aloneMs = tookMs
  else if (state.isAlone) group.aloneMs = aloneMs + (tookMs - aloneMs) * slowerWeight
  return true
}

/**
 * While first sounds take long, every later sound may come as late: a player that begins with the first has nothing to
 * outlast that. One that would have fallen silent meanwhile has taken as much longer.
 */
const beginsWithMs = ({ first }: Group, { enteredAtMs, firstAtMs }: State, nowMs: number) => {
  const wayMs = Math.max(paceNow(first, nowMs), (firstAtMs ?? nowMs) - enteredAtMs)
  return Math.min(beginsWithMsMax, beginsWithWays * Math.max(0, wayMs - first.assumedMs))
}

/** What the next beginning may take from the store of the others, beyond what an idle fleet takes for one. */
const takenByOne = ({ grow: pace }: Group, nowMs: number) =>
  Math.min(takenMsMax, Math.max(0, paceNow(pace, nowMs) - pace.assumedMs))

const isThin = (state: State, nowMs: number, takesMs: number) =>
  !state.isYoung && isWaiting(state, nowMs) && storeOf(state, nowMs) < thinMs + takesMs

const isLean = (state: State, nowMs: number) =>
  state.isYoung && !isUnheard(state) && isWaiting(state, nowMs) && storeOf(state, nowMs) < leanMs

const isWaiting = ({ plays, wantsSinceMs }: State, nowMs: number) =>
  plays && wantsSinceMs !== undefined && nowMs - wantsSinceMs >= waitsMs

const isInNeed = (state: State, nowMs: number, takesMs: number) =>
  isThin(state, nowMs, takesMs) || isLean(state, nowMs) || isSlowToBegin(state, nowMs)

const isSlowToBegin = ({ isYoung, enteredAtMs, wantsSinceMs }: State, nowMs: number) =>
  isYoung && wantsSinceMs !== undefined && nowMs - enteredAtMs > beginsSlowlyMs
