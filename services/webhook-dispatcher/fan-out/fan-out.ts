/**
 * The fan-out relays EVENTS: one due delivery per event and endpoint, exactly once. An endpoint that is paused or has
 * too large a backlog is parked: it is passed over, and the cursor keeps the event from which it resumes.
 */
import { Clock, Effect, Latch, Layer, Schedule, Stream } from "effect"
import { type BusError, type Refused, Rejections, relay, runMessagesMax, type SourceMessage, StreamReader } from "#bus"
import { deliveryStream, storedEventName, subjects } from "#base"
import { EventTypes } from "#events"
import { Health, Metrics, supervise } from "#runtime"
import {
  beginCursor,
  EndpointStates,
  type FanOutCursor,
  fanOutRecordCodec,
  type ReadEvent,
  readFanOutCursor
} from "#webhooks"
import { Backlogs } from "../backlogs.ts"
import { Endpoints } from "../endpoints/Endpoints.ts"
import { type EndpointSettings, isEnabled } from "../endpoints/settings.ts"
import { eventsReceived, parkedEvents } from "../metrics.ts"
import { areAligned } from "../lane-cursors.ts"
import { DeliveryLanes, idsOf } from "../lanes.ts"
import { catchUpsOf } from "./catch-up.ts"
import { eventsOf, readRun, rejectEvents } from "./events.ts"
import { fingerprint } from "./members.ts"
import { membershipOf } from "./membership.ts"
import { advance, type FanOutStep, isFlood, planAhead, planRun, wanting } from "./plan.ts"

// Own events that a flood must not hold up: a page of them between two of its runs.
const aheadPageMessages = 256
// Shorter than others, because they wait for it.
const floodRunMessagesMax = 64
// A relay that has neither read nor been idle for this long is stuck.
const stallMs = 30_000

export const FanOut = {
  /** Runs each lane's fan-out while the scope is open. Without a stored cursor they begin with the first endpoint. */
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const { all, first } = yield* Endpoints
      const lanes = yield* DeliveryLanes
      const past = yield* readFanOutCursor(0)
      const started = yield* Effect.forEach(lanes.all, () => Latch.make())
      const work = Effect.forEach(
        started,
        ({ open }, lane) =>
          Effect.flatMap(fanOut(lane, open), (relaying) => supervise(nameOf(lane), relaying, isNeeded)),
        { concurrency: "unbounded", discard: true }
      )
      if (all().length === 0 && past._tag === "None") {
        yield* Effect.forkScoped(Effect.andThen(first, work))
        return yield* Effect.logInfo("there are no endpoints; events are only stored")
      }
      yield* Effect.forkScoped(work)
      // From here on every event is accounted for; a new endpoint is not meant to get earlier ones.
      yield* Effect.forEach(started, (latch) => latch.await, { discard: true })
      if (lanes.all.length > 1) yield* untilPlaced
    })
  )
}

// Without its fan-out a dispatcher makes no deliveries.
const isNeeded = { isNeeded: true }

const nameOf = (lane: number) => (lane === 0 ? "fan-out" : `fan-out-${lane}`)

// A lane that another dispatcher works on answers within its timeout; nothing is lost when this one starts earlier.
const placedWithinMs = 15_000

/** Waits until every configured endpoint has its place in a lane. */
const untilPlaced = Effect.gen(function* () {
  const lanes = yield* DeliveryLanes
  const { configured } = yield* Endpoints
  const arePlaced = Effect.gen(function* () {
    const now = yield* lanes.read
    if (!areAligned(now)) return false
    const members = yield* Effect.forEach(lanes.all, lanes.membersOf)
    const known = members.map(idsOf)
    return configured.every(({ id }) => known.some((ids) => ids.has(id)))
  })
  yield* arePlaced.pipe(
    Effect.repeat({ until: (placed) => placed, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout(placedWithinMs),
    Effect.catchTag("TimeoutError", () => Effect.logWarning("the lanes do not agree yet on where endpoints belong"))
  )
})

const fanOut = Effect.fnUntraced(function* (lane: number, onStarted: Effect.Effect<unknown>) {
  const deps = yield* dependenciesOfFanOut(lane)
  const ours = fingerprint(deps.endpoints.configured)
  const loop = yield* (yield* Health).loop(nameOf(lane), { stallMs })
  return relay({
    name: nameOf(lane),
    source: "EVENTS",
    target: deliveryStream(lane),
    place: { subject: subjects.deliveries(lane).cursor, codec: fanOutRecordCodec },
    begin: (lastSequence) => ({
      ...beginCursor(lastSequence),
      ...(lane === 0 && deps.lanes.state().count > 1 ? { lanes: deps.lanes.state().count } : {})
    }),
    onTaken: Effect.sync(() => {
      deps.skipped.through = 0
      deps.membership.forget()
    }),
    position: (cursor) => cursor.position,
    isOurs: (cursor) => cursor.roster === ours,
    translate: (run, cursor) => translate(deps, run, cursor),
    nextRunMax: () => runMaxOf(deps.flood),
    aside: (cursor, messagesMax) => aside(deps, cursor, messagesMax),
    onRefused: (refused) => rejectEvents(deps, refused),
    onCursor: (cursor, written) => Effect.sync(() => count(deps, cursor, written)),
    onStarted: Effect.asVoid(onStarted),
    loop
    // Retrying while the broker is away is not a stall: the process must outlive it.
  }).pipe(Effect.tapErrorTag("BusUnavailable", () => Effect.sync(loop.beat)))
})

const runMaxOf = ({ isOn }: { readonly isOn: boolean }) => (isOn ? floodRunMessagesMax : runMessagesMax)

/** The services and state that the steps of a fan-out use. */
interface Dependencies extends Effect.Success<ReturnType<typeof dependenciesOfFanOut>> {}

const dependenciesOfFanOut = Effect.fnUntraced(function* (lane: number) {
  const endpoints = yield* Endpoints
  const states = yield* EndpointStates
  const backlogs = yield* Backlogs
  const metrics = yield* Metrics
  const lanes = yield* DeliveryLanes
  const membership = yield* membershipOf(lane)
  // An absent endpoint stays in place until it returns or is archived.
  const isParked = (id: string) => {
    const endpoint = endpoints.byId(id)
    return endpoint === undefined || !isEnabled(endpoint) || states.isPaused(id) || backlogs.isOverfull(id)
  }
  return {
    lane,
    lanes,
    isAlone: lanes.all.length === 1,
    skipped: { through: 0, writtenAtMs: 0 },
    flood: { isOn: false },
    endpoints,
    backlogs,
    isParked,
    catchUps: yield* catchUpsOf(lane, isParked),
    reader: yield* StreamReader,
    types: yield* EventTypes,
    rejections: yield* Rejections,
    membership,
    newDeliveryId: () => crypto.randomUUID(),
    received: metrics.counter(eventsReceived),
    /** The last event counted as received: a run that is split in halves is read again. */
    counted: { through: 0 },
    parked: metrics.gauge(parkedEvents),
    /** Endpoints whose number of missing events can be nonzero in the metric. */
    shownParked: new Set<string>()
  }
})

/** The deliveries of a run of events, for every endpoint in step. */
const translate = Effect.fnUntraced(function* (
  deps: Dependencies,
  run: ReadonlyArray<SourceMessage>,
  cursor: FanOutCursor
) {
  const { lane, membership, isParked, newDeliveryId, flood } = deps
  const targets = membership.targets()
  const { read, refused } = yield* readRun(
    deps,
    lane === 0 ? run : run.filter(({ subject }) => isWanted(targets, subject))
  )
  // Every lane reads every event; only the first counts them.
  if (lane === 0) countReceived(deps, read, refused)
  const lastSequence = run.at(-1)?.sequence ?? cursor.position
  const events = read.map(({ event }) => event)
  flood.isOn = isFlood(
    run.map(({ subject }) => storedEventName(subject)?.from),
    runMaxOf(flood)
  )
  const steps = planRun({ events, lastSequence, targets, lane, isParked, newDeliveryId }, cursor)
  return deps.isAlone ? steps : yield* withoutIdle(deps, steps, cursor)
})

const countReceived = (
  { received, counted }: Dependencies,
  read: ReadonlyArray<ReadEvent>,
  refused: ReadonlyArray<Refused>
) => {
  const { through } = counted
  for (const { subject, sequence } of refused) {
    if ((sequence ?? 0) <= through) continue
    received.inc({ event: "other", publisher: storedEventName(subject)?.from ?? "fleet" })
    counted.through = Math.max(counted.through, sequence ?? 0)
  }
  for (const { event, isDeclared } of read) {
    if (event.sequence <= through) continue
    received.inc({ event: isDeclared ? event.event : "other", publisher: event.from ?? "fleet" })
    counted.through = Math.max(counted.through, event.sequence)
  }
}

/** Whether an endpoint of a lane wants the event of this subject. */
const isWanted = (targets: ReadonlyArray<EndpointSettings>, subject: string) =>
  wanting(targets, { event: storedEventName(subject)?.name ?? "" }).length > 0

// Any longer, and a standby twin would take the lane for abandoned.
const idleWriteEveryMs = 200

/** A lane without matching events reports its progress a few times a second, not for each event. */
const withoutIdle = Effect.fnUntraced(function* (
  { skipped }: Dependencies,
  steps: ReadonlyArray<FanOutStep>,
  cursor: FanOutCursor
) {
  const nowMs = yield* Clock.currentTimeMillis
  const last = steps.at(-1)
  const isIdle = last !== undefined && steps.every(({ messages }) => messages.length === 0)
  if (isIdle && last.cursor.next === cursor.next && nowMs - skipped.writtenAtMs < idleWriteEveryMs) {
    skipped.through = last.cursor.position
    return []
  }
  skipped.writtenAtMs = nowMs
  return steps
})

/** Between two runs: the members are updated, and a few endpoints that are behind catch up by a page. */
const aside = Effect.fnUntraced(function* (deps: Dependencies, stored: FanOutCursor, messagesMax: number) {
  // An endpoint's place is counted from what was read, not from what was written.
  const cursor = advance(stored, deps.skipped.through)
  const steps = [...(yield* idleSteps(deps, cursor)), ...(yield* deps.membership.keep(cursor))]
  steps.push(...(yield* giveAhead(deps, steps.at(-1)?.cursor ?? cursor, messagesMax)))
  return [...steps, ...(yield* deps.catchUps(steps.at(-1)?.cursor ?? cursor, messagesMax))]
})

/** Progress skipped without a write is written when the source has gone quiet. */
const idleSteps = Effect.fnUntraced(function* ({ isAlone, skipped }: Dependencies, cursor: FanOutCursor) {
  if (isAlone || cursor.ahead !== undefined || skipped.through !== cursor.position) return []
  const nowMs = yield* Clock.currentTimeMillis
  if (nowMs - skipped.writtenAtMs < idleWriteEveryMs) return []
  skipped.writtenAtMs = nowMs
  skipped.through = 0
  const step: FanOutStep = { messages: [], cursor }
  return [step]
})

/** While a flood is read: the fleet's own events from behind it. */
const giveAhead = Effect.fnUntraced(function* (
  { flood, reader, types, membership, lane, isParked, newDeliveryId }: Dependencies,
  cursor: FanOutCursor,
  messagesMax: number
): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
  if (!flood.isOn || cursor.through !== null) return []
  const fromSequence = Math.max(cursor.position, cursor.ahead ?? 0) + 1
  const toSequence = Number.MAX_SAFE_INTEGER
  const own = reader.range("EVENTS", { fromSequence, toSequence, subject: subjects.event(">") })
  const page = yield* Stream.runCollect(Stream.take(own, Math.min(aheadPageMessages, messagesMax)))
  if (page.length === 0) return []
  const step = planAhead(
    { events: eventsOf(page, types), targets: membership.targets(), lane, isParked, newDeliveryId },
    cursor
  )
  return step.cursor === cursor ? [] : [step]
})

/** Shows a stored cursor in the metrics; `written` is what the broker confirmed. */
const count = (deps: Dependencies, cursor: FanOutCursor, written: FanOutStep["messages"]) => {
  const { endpoints, backlogs, parked, shownParked } = deps
  const missing = (id: string) => Math.max(0, cursor.position + 1 - (cursor.next[id] ?? cursor.position + 1))
  for (const id of Object.keys(cursor.next)) shownParked.add(id)
  for (const id of shownParked) {
    const endpoint = endpoints.byId(id)
    if (endpoint !== undefined) parked.set({ endpoint: endpoint.name }, missing(id))
    if (cursor.next[id] === undefined) shownParked.delete(id)
  }
  for (const message of written) {
    const endpoint = endpoints.byId(message.subject.slice(message.subject.lastIndexOf(".") + 1))
    // The rosters are written the same way, but are not deliveries.
    if (endpoint === undefined || !message.subject.startsWith(subjects.deliveries(deps.lane).dueAll.slice(0, -1)))
      continue
    backlogs.added(endpoint.id, 1)
  }
}
