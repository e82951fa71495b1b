/**
 * The roster: the endpoints that the fan-out knows, kept beside its cursor. It tells a newly configured endpoint, which
 * starts now, from one that was there all along. It also remembers since when an endpoint has been absent from the
 * configuration: within ArchiveAfterHours it can come back and miss nothing; after that its backlog goes to ABANDONED.
 *
 * The endpoints made at run time, as the fan-out knows them. Each has a message of its own beside the cursor, written in
 * the step that gives the endpoint its place, so that a change costs the same with ten endpoints as with ten thousand.
 * A removed endpoint is put away once no dispatcher sends to it any more.
 */
import { hash } from "node:crypto"
import { Clock, Effect, Option, type Scope } from "effect"
import { type BatchMessage, type BusError, header, StreamReader } from "#bus"
import { deliveryLaneOf } from "#webhooks/contract"
import { deliveryStream, subjects } from "#base"
import { Configuration } from "#configuration"
import {
  dispatchersBehind,
  emptyRoster,
  type FanOutCursor,
  firstNeeded,
  openPresences,
  park,
  placed,
  readRoster,
  type Roster,
  rosterCodec
} from "#webhooks"
import { AbandonedDeliveries, logGone, removed } from "../abandoned.ts"
import { type Admissions, DeliveryLanes, seldom, withoutLeft } from "../lanes.ts"
import { Endpoints, type LeavingEndpoint } from "../endpoints/Endpoints.ts"
import type { FanOutStep } from "./plan.ts"
import type { EndpointSettings } from "../endpoints/settings.ts"

/**
 * The roster and cursor after a change of configuration. `archived`: endpoints absent for too long, no longer known.
 */
interface RosterChange {
  readonly roster: Roster
  readonly cursor: FanOutCursor
  readonly archived: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

interface ConfiguredEndpoint {
  readonly id: string
  readonly name: string
}

/** Identifies a set of configured endpoints. */
export const fingerprint = (configured: ReadonlyArray<ConfiguredEndpoint>) =>
  hash("sha256", JSON.stringify(configured.map((endpoint) => endpoint.id).toSorted()), "hex").slice(0, 32)

interface RosterInput {
  readonly configured: ReadonlyArray<ConfiguredEndpoint>
  /** The last sequence of EVENTS. */
  readonly lastSequence: number
  readonly nowMs: number
  readonly archiveAfterMs: number
  /** Whether an endpoint made at run time has the name now: it goes on in the place of the configured one. */
  readonly isMadeAtRunTime: (id: string) => boolean
  /** Whether the fan-out knows an endpoint made at run time: its place stays. */
  readonly isKnown: (id: string) => boolean
  /** Whether another lane has an endpoint of the configuration, or is about to have it. */
  readonly isElsewhere?: (id: string) => boolean
  /** The first event that an endpoint needs which comes from another lane; undefined for a new one. */
  readonly placeOf?: (id: string) => number | undefined
}

/** Applies the configured endpoints to the roster. Pure. */
export const changeRoster = (roster: Roster, cursor: FanOutCursor, now: RosterInput): RosterChange => {
  const { configured, lastSequence, nowMs, archiveAfterMs, isMadeAtRunTime, isKnown, isElsewhere, placeOf } = now
  const endpoints: Record<string, { name: string; absentSinceMs: number | null }> = {}
  const archived: Array<ConfiguredEndpoint> = []
  const present = new Set(configured.map((endpoint) => endpoint.id))
  let changed = cursor
  for (const [id, known] of Object.entries(roster.endpoints)) {
    if (present.has(id) || isMadeAtRunTime(id)) continue
    if (isElsewhere?.(id) === true) {
      endpoints[id] = { name: known.name, absentSinceMs: null }
      continue
    }
    const absentSinceMs = known.absentSinceMs ?? nowMs
    if (nowMs - absentSinceMs >= archiveAfterMs) {
      archived.push({ id, name: known.name })
      continue
    }
    endpoints[id] = { name: known.name, absentSinceMs }
    if (changed.left?.[id] === undefined) changed = park(changed, id)
  }
  if (archived.length > 0 && changed.left !== undefined) {
    changed = withoutLeft(
      changed,
      archived.map(({ id }) => id)
    )
  }
  const next = { ...changed.next }
  for (const { id } of archived) delete next[id]
  const fresh = configured.filter(({ id }) => roster.endpoints[id] === undefined && !isKnown(id))
  const firstOf = (id: string) => placeOf?.(id) ?? Math.max(lastSequence + 1, firstNeeded(changed, id))
  const started = placed(
    { ...changed, next },
    fresh.map(({ id }) => [id, firstOf(id)])
  )
  for (const { id, name } of configured) endpoints[id] = { name, absentSinceMs: null }
  return { roster: { endpoints }, cursor: { ...started, roster: fingerprint(configured) }, archived }
}

const absent = "the endpoint is no longer configured"
// Absence is counted in hours, so one look a minute is enough.
const lookEveryMs = 60_000

/** Keeps a lane's stored roster equal to the configuration. */
export interface RosterKeeper extends Effect.Success<ReturnType<typeof rosterKeeper>> {}

export const rosterKeeper = Effect.fnUntraced(function* (lane: number) {
  const endpoints = yield* Endpoints
  const lanes = yield* DeliveryLanes
  const isMadeAtRunTime = (id: string) => endpoints.byId(id)?.madeAtRunTime != null
  const reader = yield* StreamReader
  const abandoned = yield* AbandonedDeliveries
  const { WebhookDelivery } = yield* Configuration
  const archiveAfterMs = WebhookDelivery.ArchiveAfterHours * 3_600_000
  const ours = fingerprint(endpoints.configured)
  const read = Effect.provideService(readRoster(lane), StreamReader, reader)
  const mine = configuredOf({ lane, lanes, endpoints, read })
  let lookedAtMs = 0

  /** A step when roster or cursor must change, otherwise nothing. */
  const keep = Effect.fnUntraced(function* (
    cursor: FanOutCursor,
    isKnown: (id: string) => boolean
  ): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
    const nowMs = yield* Clock.currentTimeMillis
    const { configured, admitted } = yield* mine.own(cursor, isKnown)
    if (cursor.roster === ours && admitted.size === 0 && nowMs - lookedAtMs < lookEveryMs) return []
    lookedAtMs = nowMs
    const roster = yield* read
    const { lastSequence } = yield* reader.bounds("EVENTS")
    const present = new Set(endpoints.configured.map(({ id }) => id))
    const change = changeRoster(roster, cursor, {
      configured,
      lastSequence,
      nowMs,
      archiveAfterMs,
      isMadeAtRunTime,
      isKnown,
      isElsewhere: (id) => present.has(id),
      placeOf: (id) => admitted.get(id)
    })
    if (cursor.roster === ours && admitted.size === 0 && change.archived.length === 0) return []
    if (change.archived.length > 0) {
      const below = yield* lanes.ends
      const putAway = (endpoint: ConfiguredEndpoint) => {
        const gone = { ...endpoint, reason: absent, below }
        return Effect.flatMap(abandoned.endpoint(gone), (deliveries) => logGone(gone, deliveries))
      }
      yield* Effect.forEach(change.archived, putAway, { discard: true })
    }
    mine.has(change.roster)
    const { message } = rosterWritten(lane, change.roster)
    return [{ messages: [message], cursor: { ...change.cursor, roster: ours } }]
  })

  /** The roster without endpoints that another lane has. */
  const without = Effect.fnUntraced(function* (ids: ReadonlySet<string>) {
    const { endpoints: before } = yield* read
    const after: Roster = { endpoints: Object.fromEntries(Object.entries(before).filter(([id]) => !ids.has(id))) }
    mine.has(after)
    return rosterWritten(lane, after).message
  })
  return {
    keep,
    without,
    /** The cursor was in other hands: what is known is read again. */
    forget: mine.forget,
    known: mine.known
  }
})

interface OwnSources {
  readonly lane: number
  readonly lanes: DeliveryLanes["Service"]
  readonly endpoints: Endpoints["Service"]
  readonly read: Effect.Effect<Roster, BusError>
}

/** The configured endpoints that are a lane's own. A fleet with one lane has all of them there. */
const configuredOf = ({ lane, lanes, endpoints, read }: OwnSources) => {
  const isAlone = lanes.all.length === 1
  const mayAsk = seldom(askEveryMs)
  let known: ReadonlySet<string> | undefined
  let settled: Arrangement | undefined
  let mine: ReadonlyArray<EndpointSettings> = endpoints.configured

  /** The configured endpoints of this lane: those that it has, and those that it may take now with their places. */
  const own = Effect.fnUntraced(function* (cursor: FanOutCursor, isKnown: (id: string) => boolean) {
    if (isAlone) return { configured: endpoints.configured, admitted: none }
    known ??= new Set(Object.keys((yield* read).endpoints))
    if (isArranged(settled, cursor)) {
      return { configured: mine, admitted: none }
    }
    const has = known
    const all = endpoints.configured.filter(({ id }) => isOwn(cursor, lane, id))
    const lacking = all.flatMap(({ id }) => (has.has(id) || isKnown(id) ? [] : [id]))
    const admitted = lacking.length > 0 && (yield* mayAsk) ? yield* lanes.admissions(lane, lacking) : none
    mine = all.filter(({ id }) => has.has(id) || isKnown(id) || admitted.has(id))
    if (lacking.length === 0) settled = { lanes: cursor.lanes, left: cursor.left }
    return { configured: mine, admitted }
  })

  return {
    own,
    has: (roster: Roster) => void (known = new Set(Object.keys(roster.endpoints))),
    known: (): ReadonlySet<string> => known ?? noIds,
    forget: () => {
      known = undefined
      settled = undefined
    }
  }
}

/** What of a cursor says whose an endpoint is. */
interface Arrangement {
  readonly lanes: number | undefined
  readonly left: FanOutCursor["left"]
}

// A question to every lane, while an endpoint waits for its old lane.
const askEveryMs = 200
const none: Admissions = new Map()
const noIds: ReadonlySet<string> = new Set()

/** Whether an endpoint is this lane's by the number that its cursor goes by. */
export const isOwn = (cursor: FanOutCursor, lane: number, id: string) =>
  deliveryLaneOf(id, cursor.lanes ?? 1) === lane && cursor.left?.[id] === undefined

const rosterWritten = (lane: number, roster: Roster) => {
  const { data } = rosterCodec.encode(roster)
  const message: BatchMessage = { subject: subjects.deliveries(lane).roster, data, headers: [[header.rollup, "sub"]] }
  return { message }
}

/** An endpoint and the last event that is not its own. */
interface Placed {
  readonly id: string
  readonly startsAfter: number
}

interface Arrival {
  /** The present endpoints made at run time. */
  readonly present: ReadonlyArray<Placed>
  /** Those with a place already. */
  readonly known: ReadonlySet<string>
  /** Those that the configuration had before: they go on where they were. */
  readonly hadPlace: (id: string) => boolean
  /** False for one that cannot be read any more; a removed one counts as there until it is put away. */
  readonly isThere: (id: string) => boolean
  readonly revision: number
  readonly lane?: number
}

// With the cursor they fill one atomic write of the broker's.
const arrivalsMax = 500

/** The steps that give new endpoints their place, and the cursor after them. Pure. */
export const planArrivals = (
  cursor: FanOutCursor,
  { present, known, hadPlace, isThere, revision, lane = 0 }: Arrival
): ReadonlyArray<FanOutStep> => {
  const fresh = present.filter(({ id }) => !known.has(id))
  const lost = [...known].filter((id) => !isThere(id) && cursor.next[id] === undefined)
  if (fresh.length === 0 && lost.length === 0) return []
  let current: FanOutCursor = { ...lost.reduce(park, cursor), revision }
  const steps: Array<FanOutStep> = []
  for (let from = 0; from === 0 || from < fresh.length; from += arrivalsMax) {
    const page = fresh.slice(from, from + arrivalsMax)
    const strangers = page.filter(({ id }) => !hadPlace(id))
    current = placed(
      current,
      strangers.map(({ id, startsAfter }) => [id, startsAfter + 1])
    )
    steps.push({ messages: page.map(({ id }) => rosterMessage(lane, id)), cursor: current })
  }
  return steps
}

const rosterMessage = (lane: number, id: string): BatchMessage => ({
  subject: subjects.deliveries(lane).rosterOf(id),
  data: new Uint8Array(0),
  headers: [[header.rollup, "sub"]]
})

/** Brings a lane's cursor in line with the endpoints made at run time. */
export interface Newcomers extends Effect.Success<ReturnType<typeof newcomersOf>> {}

export const newcomersOf = Effect.fnUntraced(function* (lane: number) {
  const endpoints = yield* Endpoints
  const lanes = yield* DeliveryLanes
  const reader = yield* StreamReader
  const leaves = leaving({
    endpoints,
    lanes,
    reader,
    presences: yield* openPresences,
    abandoned: yield* AbandonedDeliveries,
    scope: yield* Effect.scope
  })
  const isAlone = lanes.all.length === 1
  let known: Set<string> | undefined
  let targets: ReadonlyArray<EndpointSettings> = []
  const mayAsk = seldom(askEveryMs)
  let seen: Arrangement | undefined

  const forget = (ids: Iterable<string>) => {
    for (const id of ids) known?.delete(id)
  }
  const arrive = Effect.fnUntraced(function* (
    cursor: FanOutCursor
  ): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
    const isSeen = isAlone || isArranged(seen, cursor)
    if (known !== undefined && endpoints.all() === targets && isSeen) return []
    // A twin may have known changes that this process has yet to read.
    if ((cursor.revision ?? 0) > endpoints.revision()) yield* endpoints.catchUp
    const has = (known ??= yield* readKnown({ reader, endpoints, lane }))
    forget(endpoints.leaving().keys())
    const [all, revision] = [endpoints.all(), endpoints.revision()]
    const own = all.flatMap((endpoint) => (isOwn(cursor, lane, endpoint.id) ? placedOf(endpoint) : []))
    const lacking = isAlone ? [] : own.flatMap(({ id }) => (has.has(id) ? [] : [id]))
    const admitted = lacking.length > 0 && (yield* mayAsk) ? yield* lanes.admissions(lane, lacking) : none
    seen = lacking.length > admitted.size ? undefined : { lanes: cursor.lanes, left: cursor.left }
    const present = isAlone ? own : own.flatMap((each) => admittedAs(each, has, admitted))
    const steps = yield* arrivals({ reader, endpoints, lane, has, revision }, cursor, present)
    for (const { id } of present) has.add(id)
    targets = all
    return steps
  })
  /** The steps that bring the cursor in line with the endpoints made at run time. */
  const keep = Effect.fnUntraced(function* (
    cursor: FanOutCursor
  ): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
    // Before it is read who is there: nothing that this turn writes is for them, and one made again is new.
    const before = [...endpoints.leaving().values()]
    forget(endpoints.leaving().keys())
    const steps = yield* arrive(cursor)
    const last = steps.at(-1)?.cursor ?? cursor
    // One that was made again meanwhile has its new place.
    const gone = before.filter(({ id, revision }) => endpoints.leaving().get(id)?.revision === revision)
    if (!hasLetGo(last, gone)) return [...steps, { messages: [], cursor: letGo(last, gone) }]
    // The first lane puts them away, once every lane has let go of them.
    if (lane === 0 && gone.length > 0) yield* leaves.keep
    return steps
  })
  return {
    /** The cursor was in other hands: what is known is read again. */
    forget: () => void (known = undefined),
    keep,
    /** The endpoints to which events are given: those of the last `keep`. */
    targets: () => targets,
    knows: (id: string) => known?.has(id) === true,
    known: (): ReadonlySet<string> => known ?? noIds,
    /** Another lane has them. */
    release: forget
  }
})

interface ArrivalSources {
  readonly reader: StreamReader["Service"]
  readonly endpoints: Endpoints["Service"]
  readonly lane: number
  /** What the lane has. */
  readonly has: ReadonlySet<string>
  /** The change of endpoints up to which the present ones hold. */
  readonly revision: number
}

const arrivals = Effect.fnUntraced(function* (
  { reader, endpoints, lane, has, revision }: ArrivalSources,
  cursor: FanOutCursor,
  present: ReadonlyArray<Placed>
) {
  const { endpoints: configured } = present.every(({ id }) => has.has(id))
    ? emptyRoster
    : yield* Effect.provideService(readRoster(lane), StreamReader, reader)
  return planArrivals(cursor, {
    present,
    known: notLeft(cursor, has),
    hadPlace: (id) => configured[id] !== undefined,
    isThere: (id) => endpoints.byId(id) !== undefined || endpoints.leaving().has(id),
    revision,
    lane
  })
})

const placedOf = ({ id, madeAtRunTime }: EndpointSettings): ReadonlyArray<Placed> =>
  madeAtRunTime === null ? [] : [{ id, startsAfter: madeAtRunTime.startsAfter }]

const notLeft = ({ left }: FanOutCursor, known: ReadonlySet<string>) =>
  left === undefined ? known : new Set([...known].filter((id) => left[id] === undefined))

const isArranged = (seen: Arrangement | undefined, { lanes, left }: FanOutCursor) =>
  seen !== undefined && seen.lanes === lanes && seen.left === left

const admittedAs = (each: Placed, known: ReadonlySet<string>, admitted: Admissions): ReadonlyArray<Placed> => {
  const { id, startsAfter } = each
  if (known.has(id)) return [each]
  if (!admitted.has(id)) return []
  const place = admitted.get(id)
  return [{ id, startsAfter: place === undefined ? startsAfter : place - 1 }]
}

const hasPlace = ({ next, left }: FanOutCursor, id: string) => next[id] !== undefined || left?.[id] !== undefined

/**
 * Whether a lane had a turn in which it knew of these removals. Until then it may write what it planned before, or take
 * one that was made again under its name for the former, and give it the events in between.
 */
const hasLetGo = (cursor: FanOutCursor | undefined, gone: ReadonlyArray<LeavingEndpoint>) =>
  cursor !== undefined && (cursor.revision ?? 0) >= newestOf(gone) && !gone.some(({ id }) => hasPlace(cursor, id))

/** The cursor without the places of endpoints that leave; its revision tells the first lane so. */
const letGo = (cursor: FanOutCursor, gone: ReadonlyArray<LeavingEndpoint>): FanOutCursor => {
  const ids = gone.map(({ id }) => id)
  const next = { ...cursor.next }
  for (const id of ids) delete next[id]
  return withoutLeft({ ...cursor, next, revision: Math.max(cursor.revision ?? 0, newestOf(gone)) }, ids)
}

const newestOf = (gone: ReadonlyArray<LeavingEndpoint>) => Math.max(...gone.map(({ revision }) => revision))

const readKnown = ({ reader, endpoints, lane }: Pick<ArrivalSources, "reader" | "endpoints" | "lane">) =>
  Effect.suspend(() => {
    // Those may be put away, and made again, before the answer is here.
    const gone = new Set(endpoints.leaving().keys())
    return Effect.map(
      reader.countBySubject(deliveryStream(lane), subjects.deliveries(lane).rosterOfAll),
      (counts) =>
        new Set(
          Object.keys(counts)
            .map(lastToken)
            .filter((id) => !gone.has(id))
        )
    )
  })

const lastToken = (subject: string) => subject.slice(subject.lastIndexOf(".") + 1)

interface LeaveServices {
  readonly endpoints: Endpoints["Service"]
  readonly lanes: DeliveryLanes["Service"]
  readonly reader: StreamReader["Service"]
  readonly presences: Effect.Success<typeof openPresences>
  readonly abandoned: AbandonedDeliveries["Service"]
  readonly scope: Scope.Scope
}

// Few enough that a process which ends has little to do again.
const leavesAtOnce = 16
// One dispatcher that does not answer must not cost a question at every turn.
const newcomersEveryMs = 250

/**
 * Puts removed endpoints away once no dispatcher sends to them any more, and no lane makes deliveries for them. Beside
 * the turns, their deliveries go to ABANDONED, and then their records go. A process that dies in between leaves the
 * record, and the next one begins anew.
 */
const leaving = (services: LeaveServices) => {
  const { endpoints, lanes, presences, scope } = services
  let lookedAtMs = 0
  let isAtWork = false

  const putAll = (leaves: ReadonlyArray<LeavingEndpoint>) =>
    Effect.forEach(leaves, (endpoint) => putAway(services, endpoint), { discard: true }).pipe(
      Effect.catch((error) => Effect.logWarning("a removed endpoint is put away later", error)),
      Effect.ensuring(Effect.sync(() => (isAtWork = false)))
    )
  const keep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    if (isAtWork || nowMs - lookedAtMs < newcomersEveryMs) return
    lookedAtMs = nowMs
    const leaves = [...endpoints.leaving().values()].slice(0, leavesAtOnce)
    if ((yield* dispatchersBehind(presences, newestOf(leaves))).length > 0) return
    // As stored, this lane's too: another dispatcher may have taken it.
    const { cursors } = yield* lanes.read
    if (!cursors.every((cursor) => hasLetGo(cursor, leaves))) return
    isAtWork = true
    yield* Effect.forkIn(putAll(leaves), scope)
  })
  return { keep }
}

const looksEmpty = 2

const putAway = Effect.fnUntraced(function* (
  { endpoints, lanes, reader, abandoned }: LeaveServices,
  { id, name, revision }: LeavingEndpoint
) {
  const { bucket } = endpoints.store
  let [deliveries, empty] = [0, 0]
  let below: ReadonlyArray<number> = []
  // A delivery may be passed on meanwhile, from a lane that is looked at later to one that was: the next look finds it.
  while (empty < looksEmpty) {
    // What is stored from here on may belong to one that was made again under the name, if another process was faster.
    below = yield* lanes.ends
    const record = yield* bucket.get(id)
    if (Option.isNone(record) || record.value.revision !== revision) return
    const found = yield* abandoned.endpoint({ id, name, reason: removed, below })
    deliveries += found
    empty = found === 0 ? empty + 1 : 0
  }
  yield* logGone({ name, reason: removed }, deliveries)
  for (const lane of lanes.all) {
    yield* reader.purge(deliveryStream(lane), subjects.deliveries(lane).rosterOf(id), below[lane])
  }
  yield* Effect.catchTag(bucket.erase(id, revision), "RevisionConflict", () => Effect.void)
})
