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
import { Clock, Context, Effect, Layer, Option, type Scope } from "effect"
import { type BatchMessage, type BusError, header, StreamReader } from "#bus"
import { subjects } from "#contracts"
import { Configuration } from "#runtime"
import {
  dispatchersBehind,
  emptyRoster,
  type FanOutCursor,
  firstNeeded,
  openPresences,
  park,
  readRoster,
  type Roster,
  rosterCodec
} from "#webhooks"
import { AbandonedDeliveries, logGone } from "../abandoned.ts"
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
}

/** Applies the configured endpoints to the roster. Pure. */
export const changeRoster = (roster: Roster, cursor: FanOutCursor, now: RosterInput): RosterChange => {
  const { configured, lastSequence, nowMs, archiveAfterMs, isMadeAtRunTime, isKnown } = now
  const endpoints: Record<string, { name: string; absentSinceMs: number | null }> = {}
  const archived: Array<ConfiguredEndpoint> = []
  const present = new Set(configured.map((endpoint) => endpoint.id))
  let changed = cursor
  for (const [id, known] of Object.entries(roster.endpoints)) {
    if (present.has(id) || isMadeAtRunTime(id)) continue
    const absentSinceMs = known.absentSinceMs ?? nowMs
    if (nowMs - absentSinceMs >= archiveAfterMs) {
      archived.push({ id, name: known.name })
      continue
    }
    endpoints[id] = { name: known.name, absentSinceMs }
    changed = park(changed, id)
  }
  const next = { ...changed.next }
  for (const { id } of archived) delete next[id]
  for (const { id, name } of configured) {
    const isNew = roster.endpoints[id] === undefined && !isKnown(id)
    if (isNew && lastSequence + 1 > firstNeeded(changed, id)) next[id] = lastSequence + 1
    endpoints[id] = { name, absentSinceMs: null }
  }
  return { roster: { endpoints }, cursor: { ...changed, next, roster: fingerprint(configured) }, archived }
}

const absent = "the endpoint is no longer configured"
// Absence is counted in hours, so one look a minute is enough.
const lookEveryMs = 60_000

/** Keeps the stored roster equal to the configuration. */
export class RosterKeeper extends Context.Service<
  RosterKeeper,
  {
    /** A step when roster or cursor must change, otherwise nothing. */
    readonly keep: (
      cursor: FanOutCursor,
      isKnown: (id: string) => boolean
    ) => Effect.Effect<ReadonlyArray<FanOutStep>, BusError>
  }
>()("starling/webhook-dispatcher/RosterKeeper") {
  static readonly layer = Layer.effect(
    RosterKeeper,
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const all = endpoints.configured
      const isMadeAtRunTime = (id: string) => endpoints.byId(id)?.madeAtRunTime != null
      const reader = yield* StreamReader
      const abandoned = yield* AbandonedDeliveries
      const { WebhookDelivery } = yield* Configuration
      const archiveAfterMs = WebhookDelivery.ArchiveAfterHours * 3_600_000
      const ours = fingerprint(all)
      let lookedAtMs = 0

      const keep = Effect.fnUntraced(function* (cursor: FanOutCursor, isKnown: (id: string) => boolean) {
        const nowMs = yield* Clock.currentTimeMillis
        if (cursor.roster === ours && nowMs - lookedAtMs < lookEveryMs) return []
        lookedAtMs = nowMs
        const roster = yield* Effect.provideService(readRoster, StreamReader, reader)
        const { lastSequence } = yield* reader.bounds("EVENTS")
        const change = changeRoster(roster, cursor, {
          configured: all,
          lastSequence,
          nowMs,
          archiveAfterMs,
          isMadeAtRunTime,
          isKnown
        })
        if (cursor.roster === ours && change.archived.length === 0) return []
        if (change.archived.length > 0) {
          const below = (yield* reader.bounds("DELIVERIES")).lastSequence + 1
          const putAway = (endpoint: ConfiguredEndpoint) => {
            const gone = { ...endpoint, reason: absent, below }
            return Effect.flatMap(abandoned.endpoint(gone), (deliveries) => logGone(gone, deliveries))
          }
          yield* Effect.forEach(change.archived, putAway, { discard: true })
        }
        const data = rosterCodec.encode(change.roster).data
        const message = { subject: subjects.deliveriesRoster, data, headers: [[header.rollup, "sub"]] as const }
        return [{ messages: [message], cursor: change.cursor }]
      })
      return RosterKeeper.of({ keep })
    })
  )
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
}

// With the cursor they fill one atomic write of the broker's.
const arrivalsMax = 500

/** The steps that give new endpoints their place, and the cursor after them. Pure. */
export const planArrivals = (
  cursor: FanOutCursor,
  { present, known, hadPlace, isThere, revision }: Arrival
): ReadonlyArray<FanOutStep> => {
  const fresh = present.filter(({ id }) => !known.has(id))
  const lost = [...known].filter((id) => !isThere(id) && cursor.next[id] === undefined)
  if (fresh.length === 0 && lost.length === 0) return []
  let current: FanOutCursor = { ...lost.reduce(park, cursor), revision }
  const steps: Array<FanOutStep> = []
  for (let from = 0; from === 0 || from < fresh.length; from += arrivalsMax) {
    const page = fresh.slice(from, from + arrivalsMax)
    const next = { ...current.next }
    for (const { id, startsAfter } of page) {
      const first = startsAfter + 1
      if (!hadPlace(id) && first !== firstNeeded(current, id)) next[id] = first
    }
    current = { ...current, next }
    steps.push({ messages: page.map(({ id }) => rosterMessage(id)), cursor: current })
  }
  return steps
}

const rosterMessage = (id: string): BatchMessage => ({
  subject: subjects.deliveriesRosterOf(id),
  data: new Uint8Array(0),
  headers: [[header.rollup, "sub"]]
})

export class Newcomers extends Context.Service<
  Newcomers,
  {
    /** The steps that bring the cursor in line with the endpoints made at run time. */
    readonly keep: (cursor: FanOutCursor) => Effect.Effect<ReadonlyArray<FanOutStep>, BusError>
    /** The cursor was in other hands: what is known is read again. */
    readonly forget: () => void
    /** The endpoints to which events are given: those of the last `keep`. */
    readonly targets: () => ReadonlyArray<EndpointSettings>
    readonly knows: (id: string) => boolean
  }
>()("starling/webhook-dispatcher/Newcomers") {
  static readonly layer = Layer.effect(
    Newcomers,
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const reader = yield* StreamReader
      const leaves = leaving({
        endpoints,
        reader,
        presences: yield* openPresences,
        abandoned: yield* AbandonedDeliveries,
        scope: yield* Effect.scope
      })
      let known: Set<string> | undefined
      let targets: ReadonlyArray<EndpointSettings> = []

      const arrive = Effect.fnUntraced(function* (cursor: FanOutCursor) {
        if (known !== undefined && endpoints.all() === targets) return []
        // A twin may have known changes that this process has yet to read.
        if ((cursor.revision ?? 0) > endpoints.revision()) yield* endpoints.catchUp
        known ??= yield* readKnown(reader)
        const all = endpoints.all()
        const present = all.flatMap(({ id, madeAtRunTime }) =>
          madeAtRunTime === null ? [] : [{ id, startsAfter: madeAtRunTime.startsAfter }]
        )
        const { endpoints: configured } = present.every(({ id }) => known?.has(id))
          ? emptyRoster
          : yield* Effect.provideService(readRoster, StreamReader, reader)
        const steps = planArrivals(cursor, {
          present,
          known,
          hadPlace: (id) => configured[id] !== undefined,
          isThere: (id) => endpoints.byId(id) !== undefined || endpoints.leaving().has(id),
          revision: endpoints.revision()
        })
        for (const { id } of present) known.add(id)
        targets = all
        return steps
      })
      return Newcomers.of({
        forget: () => void (known = undefined),
        keep: Effect.fnUntraced(function* (cursor) {
          // First: one that was made again under its name is new.
          for (const id of leaves.takeGone()) known?.delete(id)
          const steps = yield* arrive(cursor)
          if (endpoints.leaving().size === 0) return steps
          return [...steps, ...(yield* leaves.keep(steps.at(-1)?.cursor ?? cursor))]
        }),
        targets: () => targets,
        knows: (id) => known?.has(id) === true
      })
    })
  )
}

const readKnown = (reader: StreamReader["Service"]) =>
  Effect.map(reader.countBySubject("DELIVERIES", subjects.deliveriesRosterOfAll), (counts) => {
    const ids = Object.keys(counts).map((subject) => subject.slice(subject.lastIndexOf(".") + 1))
    return new Set(ids)
  })

interface LeaveServices {
  readonly endpoints: Endpoints["Service"]
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
 * Puts removed endpoints away once no dispatcher sends to them any more: first their places in the cursor go, in a turn;
 * then, beside the turns, their deliveries go to ABANDONED, and their records. A process that dies in between leaves the
 * record, and the next one begins anew.
 */
const leaving = (services: LeaveServices) => {
  const { endpoints, presences, scope } = services
  const gone: Array<string> = []
  let lookedAtMs = 0
  let isAtWork = false

  const putAll = (leaves: ReadonlyArray<LeavingEndpoint>) =>
    Effect.forEach(leaves, (endpoint) => putAway(services, endpoint, (id) => gone.push(id)), { discard: true }).pipe(
      Effect.catch((error) => Effect.logWarning("a removed endpoint is put away later", error)),
      Effect.ensuring(Effect.sync(() => (isAtWork = false)))
    )
  const keep = Effect.fnUntraced(function* (
    cursor: FanOutCursor
  ): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
    const nowMs = yield* Clock.currentTimeMillis
    if (isAtWork || nowMs - lookedAtMs < newcomersEveryMs) return []
    lookedAtMs = nowMs
    const leaves = [...endpoints.leaving().values()].slice(0, leavesAtOnce)
    const newest = Math.max(...leaves.map(({ revision }) => revision))
    if ((yield* dispatchersBehind(presences, newest)).length > 0) return []
    const placed = leaves.filter(({ id }) => cursor.next[id] !== undefined)
    if (placed.length > 0) {
      const next = { ...cursor.next }
      for (const { id } of placed) delete next[id]
      return [{ messages: [], cursor: { ...cursor, next } }]
    }
    isAtWork = true
    yield* Effect.forkIn(putAll(leaves), scope)
    return []
  })
  return { keep, takeGone: () => gone.splice(0) }
}

const removed = "the endpoint was removed"

const putAway = Effect.fnUntraced(function* (
  { endpoints, reader, abandoned }: LeaveServices,
  { id, name, revision }: LeavingEndpoint,
  onGone: (id: string) => void
) {
  const { bucket } = endpoints.store
  let [below, deliveries, found] = [0, 0, 0]
  do {
    deliveries += found
    // What is stored from here on may belong to one that was made again under the name, if another process was faster.
    below = (yield* reader.bounds("DELIVERIES")).lastSequence + 1
    const record = yield* bucket.get(id)
    if (Option.isNone(record) || record.value.revision !== revision) return
    found = yield* abandoned.endpoint({ id, name, reason: removed, below })
  } while (found > 0)
  yield* logGone({ name, reason: removed }, deliveries)
  yield* reader.purge("DELIVERIES", subjects.deliveriesRosterOf(id), below)
  // Before the name is free.
  onGone(id)
  yield* Effect.catchTag(bucket.erase(id, revision), "RevisionConflict", () => Effect.void)
})
