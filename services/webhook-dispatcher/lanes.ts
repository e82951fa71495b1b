/**
 * The lanes of deliveries. An endpoint's deliveries all take one lane, by a hash of the endpoint, and each lane has a
 * stream, a fan-out and a cursor of its own. Lane 0's cursor holds the number of lanes. When that number changes,
 * endpoints move one by one: the old lane's cursor names the event from which an endpoint resumes elsewhere; the new
 * lane takes it over there once nothing of it is due in the old one; retries that come due in the old lane later are
 * forwarded. A fleet with one lane reads none of this.
 */
import { Clock, Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { ack, type AckDecision, type BusError, nak, Publisher, type Received, StreamReader } from "#bus"
import { deliveryLaneOf, deliveryPartitionOf } from "#webhooks/contract"
import { deliveryStream, subjects } from "#base"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import {
  beginCursor,
  deliveryHeaders,
  type DueDelivery,
  type FanOutCursor,
  type Members,
  openPresences,
  readFanOutCursor,
  readMembers
} from "#webhooks"
import { areAligned, hasMoved, type LaneCursors, lanesOf } from "./lane-cursors.ts"
import { lanesMoving } from "./metrics.ts"

/** An endpoint that a lane can take over, and the first event it needs there; undefined for a new one. */
export type Admissions = ReadonlyMap<string, number | undefined>

/** The fleet's progress towards a number of lanes, as one lane needs it. */
export interface LaneFacts {
  /** The number that the lane should use. */
  readonly count: number
  /** For the first lane: whether a change of the number has completed. */
  readonly isMoved: boolean
  /** By lane: the others' numbers and members. Empty while nothing leaves this one. */
  readonly others: ReadonlyArray<{ readonly count: number; readonly has: ReadonlySet<string> } | undefined>
}

export class DeliveryLanes extends Context.Service<
  DeliveryLanes,
  {
    /** The lanes that this process works on: its configured ones, and those that can still hold deliveries. */
    readonly all: ReadonlyArray<number>
    /** As read at most a second ago. */
    readonly state: () => LaneCursors
    /**
     * The lane to which a delivery found in this one must be forwarded; undefined if it is to be made here. Nothing is
     * forwarded from the lane that an endpoint moves to, because it would end up behind later deliveries.
     */
    readonly elsewhere: (endpointId: string, lane: number) => Effect.Effect<number | undefined, BusError>
    /** Reads all cursors now. */
    readonly read: Effect.Effect<LaneCursors, BusError>
    /** The endpoints among `ids` that the lane lacks but can take now; none while the lanes disagree. */
    readonly admissions: (lane: number, ids: ReadonlyArray<string>) => Effect.Effect<Admissions, BusError>
    /** A lane's endpoints, including leaving ones. */
    readonly membersOf: (lane: number) => Effect.Effect<Members, BusError>
    /** What the lane of this cursor needs in order to follow the number of lanes. */
    readonly factsFor: (lane: number, cursor: FanOutCursor) => Effect.Effect<LaneFacts, BusError>
    /** One past the last sequence of each lane's stream, by lane. */
    readonly ends: Effect.Effect<ReadonlyArray<number>, BusError>
    /** Forwards a delivery to the lane that its endpoint moved to. */
    readonly forward: (received: Received<DueDelivery>, lane: number) => Effect.Effect<AckDecision>
    /** Sets what runs when endpoints can have changed lanes. */
    readonly onChange: (act: Effect.Effect<void>) => Effect.Effect<void>
  }
>()("starling/webhook-dispatcher/DeliveryLanes") {
  static readonly layer = Layer.effect(
    DeliveryLanes,
    Effect.gen(function* () {
      const { Lanes } = (yield* Configuration).WebhookDelivery
      const reader = yield* StreamReader
      const stored = yield* readFanOutCursor(0)
      const first = Option.getOrElse(stored, () => ({ ...beginCursor(0), lanes: Lanes }))
      const width = Math.max(Lanes, lanesOf(first), first.lanesBefore ?? 1)
      const all = Array.from({ length: width }, (_, lane) => lane)
      const deps: Dependencies = {
        reader,
        publisher: yield* Publisher,
        presences: yield* openPresences,
        all,
        set: Lanes
      }
      let state: LaneCursors = { count: lanesOf(first), before: first.lanesBefore, cursors: [first] }
      let act: Effect.Effect<void> = Effect.void
      if (width > 1) {
        const gauge = (yield* Metrics).gauge(lanesMoving)
        const look = Effect.gen(function* () {
          const now = yield* readLanes(deps)
          const isChanged = shapeOf(now) !== shapeOf(state)
          state = now
          gauge.set(
            {},
            now.cursors.reduce((sum, cursor) => sum + Object.keys(cursor?.left ?? {}).length, 0)
          )
          if (isChanged) yield* act
        })
        yield* Effect.ignore(look)
        yield* look.pipe(
          Effect.catch((error) => Effect.logDebug("the lanes could not be read", error)),
          Effect.repeat(Schedule.spaced(lookEvery)),
          Effect.forkScoped
        )
      }
      return DeliveryLanes.of({
        all,
        state: () => state,
        elsewhere: (id, lane) => (hasMoved(state, id, lane) ? movedFrom(deps, id, lane) : Effect.undefined),
        read: readLanes(deps),
        admissions: (lane, ids) => admissions(deps, lane, ids),
        membersOf: (lane) => membersOf(reader, lane),
        factsFor: (lane, cursor) => factsFor(deps, lane, cursor),
        ends: Effect.forEach(all, (lane) =>
          Effect.map(reader.bounds(deliveryStream(lane)), ({ lastSequence }) => lastSequence + 1)
        ),
        forward: (received, lane) => forward(deps, received, lane),
        onChange: (next) => Effect.sync(() => void (act = next))
      })
    })
  )
}

// The cursors of some lanes; one small read for each.
const lookEvery = "500 millis"

/** The part of the cursors that decides where an endpoint's deliveries are made. */
const shapeOf = ({ count, before, cursors }: LaneCursors) =>
  JSON.stringify([count, before, cursors.map((cursor) => [cursor?.lanes, Object.keys(cursor?.left ?? {})])])

interface Dependencies {
  readonly reader: StreamReader["Service"]
  readonly publisher: Publisher["Service"]
  readonly presences: Effect.Success<typeof openPresences>
  readonly all: ReadonlyArray<number>
  /** This process's configured number. */
  readonly set: number
}

/**
 * The first lane is read last: then no other can appear to use a newer number than the fleet's, and a lagging one is
 * waited for.
 */
const readLanes = Effect.fnUntraced(function* ({ reader, all, set }: Dependencies) {
  const cursorOf = (lane: number) =>
    Effect.map(Effect.provideService(readFanOutCursor(lane), StreamReader, reader), Option.getOrUndefined)
  const others = yield* Effect.forEach(all.slice(1), cursorOf, { concurrency: 4 })
  const cursors = [yield* cursorOf(0), ...others]
  const count = cursors[0] === undefined ? set : lanesOf(cursors[0])
  const state: LaneCursors = { count, before: cursors[0]?.lanesBefore, cursors }
  return state
})

/** This process may know the state before the move, or before an earlier one: it reads again. */
const movedFrom = Effect.fnUntraced(function* (deps: Dependencies, endpointId: string, lane: number) {
  const now = yield* readLanes(deps)
  return hasMoved(now, endpointId, lane) ? deliveryLaneOf(endpointId, now.count) : undefined
})

const membersOf = (reader: StreamReader["Service"], lane: number) =>
  Effect.provideService(readMembers(lane), StreamReader, reader)

/** The ids of all members. */
export const idsOf = ({ configured, atRunTime }: Members): ReadonlySet<string> =>
  new Set([...Object.keys(configured), ...atRunTime])

const knownIn = (reader: StreamReader["Service"], lane: number) => Effect.map(membersOf(reader, lane), idsOf)

/** The cursors are read before the others' members: a lane that uses this number has finished its earlier work. */
const factsFor = Effect.fnUntraced(function* (
  deps: Dependencies,
  lane: number,
  cursor: FanOutCursor
): Effect.fn.Return<LaneFacts, BusError> {
  const isChanging = cursor.lanesBefore !== undefined
  const isMovedNow = isChanging && (yield* isMoved(deps))
  const next = lane === 0 && !isChanging ? yield* wanted(deps) : undefined
  if (next !== undefined) {
    yield* Effect.logInfo("deliveries go over another number of lanes").pipe(Effect.annotateLogs({ lanes: next }))
  }
  const { count, cursors } = yield* readLanes(deps)
  const other = (each: number) =>
    each === lane
      ? Effect.undefined
      : Effect.map(knownIn(deps.reader, each), (has) => ({ count: lanesOf(cursors[each]), has }))
  return {
    count: lane === 0 ? (next ?? lanesOf(cursor)) : count,
    isMoved: isMovedNow,
    others: cursor.left === undefined ? [] : yield* Effect.forEach(deps.all, other)
  }
})

/** The cursors are read before the lanes' members: a lane that uses this number has finished its earlier work. */
const admissions = Effect.fnUntraced(function* (
  deps: Dependencies,
  lane: number,
  ids: ReadonlyArray<string>
): Effect.fn.Return<Admissions, BusError> {
  const { reader, all } = deps
  const admitted = new Map<string, number | undefined>()
  const now = yield* readLanes(deps)
  if (!areAligned(now)) return admitted
  const others = all.filter((other) => other !== lane)
  const known = yield* Effect.forEach(others, (other) => knownIn(reader, other))
  for (const id of ids) {
    if (deliveryLaneOf(id, now.count) !== lane) continue
    const from = others.find((other) => now.cursors[other]?.left?.[id] !== undefined)
    if (from !== undefined) {
      const due = yield* reader.countBySubject(deliveryStream(from), subjects.deliveries(from).dueOf(id))
      if (Object.keys(due).length === 0) admitted.set(id, now.cursors[from]?.left?.[id])
    } else if (!known.some((ofLane) => ofLane.has(id))) admitted.set(id, undefined)
  }
  return admitted
})

/** The number that lane 0 now changes to: every dispatcher must have the same one. Undefined until they agree. */
const wanted = Effect.fnUntraced(function* (deps: Dependencies): Effect.fn.Return<number | undefined, BusError> {
  const now = yield* readLanes(deps)
  if (now.cursors[0] === undefined || now.before !== undefined || now.count === deps.set || !areAligned(now))
    return undefined
  const present = yield* Stream.runCollect(deps.presences.scan("*"))
  return present.every(({ value }) => (value.lanes ?? 1) === deps.set) ? deps.set : undefined
})

const lastToken = (subject: string) => subject.slice(subject.lastIndexOf(".") + 1)

/** Whether no lane still holds anything of an endpoint that has left it. */
const isMoved = Effect.fnUntraced(function* (deps: Dependencies): Effect.fn.Return<boolean, BusError> {
  const { reader, all } = deps
  const now = yield* readLanes(deps)
  if (!areAligned(now) || now.cursors.some((cursor) => cursor?.left !== undefined)) return false
  for (const lane of all) {
    const ofLane = subjects.deliveries(lane)
    const isForeign = (id: string) => deliveryLaneOf(id, now.count) !== lane
    // A temporarily absent endpoint stays in its lane, and is moved on its return.
    if ([...(yield* knownIn(reader, lane))].some(isForeign)) return false
    const due = yield* reader.countBySubject(deliveryStream(lane), ofLane.dueAll)
    if (Object.keys(due).some((subject) => isForeign(lastToken(subject)))) return false
    const waiting = yield* reader.countBySubject(deliveryStream(lane), ofLane.waitAll)
    if (Object.keys(waiting).some((subject) => isForeign(subject.split(".")[2] ?? ""))) return false
  }
  return true
})

const againAfter = "500 millis"
const refusedDelayMs = 5_000

/** Stored there before it is acked here. It keeps its id: a message forwarded again after a crash is stored once. */
const forward = (
  { publisher }: Dependencies,
  { value, subject, sequence }: Received<DueDelivery>,
  lane: number
): Effect.Effect<AckDecision> => {
  const { delivery, body } = value
  const to = subjects.deliveries(lane).due(deliveryPartitionOf(delivery.endpointId), delivery.endpointId)
  return publisher
    .publishRaw(to, body, {
      messageId: `${subject.slice(0, subject.indexOf("."))}:${sequence}:moved`,
      headers: deliveryHeaders(delivery)
    })
    .pipe(
      Effect.retry({ schedule: Schedule.spaced(againAfter), while: (error) => error._tag === "BusUnavailable" }),
      Effect.as(ack),
      Effect.catch((error) =>
        Effect.logError("the broker refused a delivery that moves to another lane", error).pipe(
          Effect.as(nak(refusedDelayMs))
        )
      )
    )
}

/** True at most once in `everyMs`. */
export const throttled = (everyMs: number) => {
  let lastMs = 0
  return Effect.map(Clock.currentTimeMillis, (nowMs) => {
    if (nowMs - lastMs < everyMs) return false
    lastMs = nowMs
    return true
  })
}
