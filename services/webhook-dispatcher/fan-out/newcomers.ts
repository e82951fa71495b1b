/**
 * The endpoints made at run time, as the fan-out knows them. Each has a message of its own beside the cursor, written in
 * the step that gives the endpoint its place, so that a change costs the same with ten endpoints as with ten thousand.
 * A removed endpoint is put away once no dispatcher sends to it any more.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { type BatchMessage, type BusError, header, StreamReader } from "#bus"
import { subjects } from "#contracts"
import { dispatchersBehind, type FanOutCursor, emptyRoster, openPresences, readRoster } from "#webhooks"
import { AbandonedDeliveries } from "../abandoned.ts"
import { Endpoints, type LeavingEndpoint } from "../endpoints/Endpoints.ts"
import type { EndpointSettings } from "../endpoints/settings.ts"
import { firstNeeded, park } from "./cursor.ts"
import type { FanOutStep } from "./plan.ts"

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
      const leave = leaving({
        endpoints,
        reader,
        presences: yield* openPresences,
        abandoned: yield* AbandonedDeliveries
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
          const steps = yield* arrive(cursor)
          if (endpoints.leaving().size === 0) return steps
          const left = yield* leave(steps.at(-1)?.cursor ?? cursor)
          for (const id of left.gone) known?.delete(id)
          return [...steps, ...left.steps]
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
}

// A few each turn: live events wait for them.
const leavesPerTurn = 4
// One dispatcher that does not answer must not cost a question at every turn.
const lookEveryMs = 250

/**
 * Puts removed endpoints away, each in two turns at most: its deliveries go to ABANDONED, then its place in the cursor,
 * then its record. A process that dies in between leaves the record, and the next one begins anew.
 */
const leaving = ({ endpoints, reader, presences, abandoned }: LeaveServices) => {
  let lookedAtMs = 0
  const putAway = Effect.fnUntraced(function* ({ id, name, revision }: LeavingEndpoint) {
    yield* abandoned.endpoint(id, name, "the endpoint was removed")
    yield* reader.purge("DELIVERIES", subjects.deliveriesRosterOf(id))
    yield* Effect.catchTag(endpoints.store.bucket.erase(id, revision), "RevisionConflict", () => Effect.void)
  })
  return Effect.fnUntraced(function* (cursor: FanOutCursor) {
    const nothing = { steps: [] as ReadonlyArray<FanOutStep>, gone: [] as ReadonlyArray<string> }
    const nowMs = yield* Clock.currentTimeMillis
    if (nowMs - lookedAtMs < lookEveryMs) return nothing
    lookedAtMs = nowMs
    const leaves = [...endpoints.leaving().values()].slice(0, leavesPerTurn)
    const newest = Math.max(...leaves.map(({ revision }) => revision))
    if ((yield* dispatchersBehind(presences, newest)).length > 0) return nothing
    const placed = leaves.filter(({ id }) => cursor.next[id] !== undefined)
    if (placed.length > 0) {
      const next = { ...cursor.next }
      for (const { id } of placed) delete next[id]
      return { steps: [{ messages: [], cursor: { ...cursor, next } }], gone: [] }
    }
    yield* Effect.forEach(leaves, putAway, { discard: true })
    return { steps: [], gone: leaves.map(({ id }) => id) }
  })
}
