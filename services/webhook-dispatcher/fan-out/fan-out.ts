/**
 * The fan-out relays EVENTS: one due delivery per event and endpoint, exactly once. An endpoint that is paused or has
 * too large a backlog is parked: it is passed over, and the cursor keeps the event from which it goes on. Parked
 * endpoints that may go on are caught up between runs, without holding up the others. An envelope that breaks the
 * schema goes to REJECTED and holds up nothing; so does one whose deliveries the broker refuses.
 */
import { Clock, Effect, Latch, Layer, Option, Result, Schedule, Stream } from "effect"
import {
  type BusError,
  type Refused,
  type RefusedMessage,
  Rejections,
  relay,
  runMessagesMax,
  type SourceMessage,
  StreamReader
} from "#bus"
import { deliveryLaneOf } from "#webhooks/contract"
import { deliveryStream, storedEventName, subjects } from "#base"
import { Configuration } from "#configuration"
import { Health, Metrics, supervise } from "#runtime"
import {
  beginCursor,
  EndpointStates,
  type FanOutCursor,
  fanOutRecordCodec,
  placed,
  type ReadEvent,
  readFanOutCursor,
  readStoredEvent
} from "#webhooks"
import { Backlogs } from "../backlogs.ts"
import { Endpoints } from "../endpoints/Endpoints.ts"
import { type EndpointSettings, isEnabled } from "../endpoints/settings.ts"
import { eventsReceived, parkedEvents, parkedExpired } from "../metrics.ts"
import { areAligned, DeliveryLanes, rearranged, seldom, withoutLeft } from "../lanes.ts"
import { advance, type FanOutStep, isFlood, planAhead, planCatchUp, planRun, sequenceOf, wanting } from "./plan.ts"
import { fingerprint, isOwn, type Newcomers, newcomersOf, type RosterKeeper, rosterKeeper } from "./roster.ts"

// One page of history per endpoint and turn, and a few endpoints a turn: live events wait at most for these.
const catchUpsPerTurn = 4
const catchUpPageMessages = 256
// Own events that a flood may not hold up: a page of them between two of its runs.
const aheadPageMessages = 256
// Shorter than others, for they wait for it.
const floodRunMessagesMax = 64
const dayMs = 86_400_000
// A relay that has neither read nor been idle for this long is stuck.
const stallMs = 30_000

export const FanOut = {
  /** Runs each lane's fan-out for the life of the scope. Without a stored cursor they begin with the first endpoint. */
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
        return yield* Effect.logInfo("there are no endpoints, events are only kept")
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

// A lane that another dispatcher works on answers within its patience; nothing is lost when this one starts before.
const placedWithinMs = 15_000

/** Waits until every configured endpoint has its place in a lane. */
const untilPlaced = Effect.gen(function* () {
  const lanes = yield* DeliveryLanes
  const { configured } = yield* Endpoints
  const arePlaced = Effect.gen(function* () {
    const now = yield* lanes.read
    if (!areAligned(now)) return false
    const known = yield* Effect.forEach(lanes.all, lanes.knownIn)
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
      deps.newcomers.forget()
      deps.roster.forget()
    }),
    position: (cursor) => cursor.position,
    isOurs: (cursor) => cursor.roster === ours,
    translate: (run, cursor) => translate(deps, run, cursor),
    nextRunMax: () => runMaxOf(deps.flood),
    aside: (cursor, messagesMax) => aside(deps, cursor, messagesMax),
    onRefused: (refused) => putAway(deps, refused),
    onCursor: (cursor, written) => Effect.sync(() => count(deps, cursor, written)),
    onStarted: Effect.asVoid(onStarted),
    loop
    // Retrying while the broker is away is no stall: the process must outlive it.
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
  const roster = yield* rosterKeeper(lane)
  const newcomers = yield* newcomersOf(lane)
  return {
    lane,
    lanes,
    isAlone: lanes.all.length === 1,
    mayArrange: seldom(arrangeEveryMs),
    mayLook: seldom(lookEveryMs),
    skipped: { through: 0, writtenAtMs: 0 },
    flood: { isOn: false },
    targets: lanes.all.length === 1 ? () => newcomers.targets() : laneTargets({ lane, endpoints, roster, newcomers }),
    endpoints,
    backlogs,
    // An endpoint that is absent stays where it is until it is back, or archived.
    isParked: (id: string) => {
      const endpoint = endpoints.byId(id)
      return endpoint === undefined || !isEnabled(endpoint) || states.isPaused(id) || backlogs.isOverfull(id)
    },
    parkedMaxMs: (yield* Configuration).WebhookDelivery.ParkedMaxDays * dayMs,
    reader: yield* StreamReader,
    rejections: yield* Rejections,
    roster,
    newcomers,
    newDeliveryId: () => crypto.randomUUID(),
    received: metrics.counter(eventsReceived),
    /** The last event that is counted as received: a run that is given in halves is read again. */
    counted: { through: 0 },
    parked: metrics.gauge(parkedEvents),
    /** Whose number of missing events may not be 0 in the metric. */
    shownParked: new Set<string>(),
    expired: metrics.counter(parkedExpired),
    /** Endpoints that are behind take turns. */
    turn: { count: 0 }
  }
})

/** The deliveries of a run of events, for every endpoint in step. */
const translate = Effect.fnUntraced(function* (
  deps: Dependencies,
  run: ReadonlyArray<SourceMessage>,
  cursor: FanOutCursor
) {
  const { lane, targets: targetsOf, isParked, newDeliveryId, flood } = deps
  const targets = targetsOf(cursor)
  const { read, refused } = yield* readRun(
    deps,
    lane === 0 ? run : run.filter(({ subject }) => isWanted(targets, subject))
  )
  // Every lane reads every event; the first one counts them.
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
  for (const { event, known } of read) {
    if (event.sequence <= through) continue
    received.inc({ event: known ? event.event : "other", publisher: event.from ?? "fleet" })
    counted.through = Math.max(counted.through, event.sequence)
  }
}

/** Whether an endpoint of a lane wants the event of this subject. */
const isWanted = (targets: ReadonlyArray<EndpointSettings>, subject: string) =>
  wanting(targets, storedEventName(subject)?.name ?? "").length > 0

// Longer, and a twin that stands by would take the lane for abandoned.
const idleWriteEveryMs = 200

/** A lane that has nothing for its endpoints tells how far it read a few times a second, and not for each event. */
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

interface TargetSources {
  readonly lane: number
  readonly endpoints: Endpoints["Service"]
  readonly roster: RosterKeeper
  readonly newcomers: Newcomers
}

/** The endpoints that a lane gives events to: its own that it has. The same array until that changes. */
const laneTargets = ({ lane, endpoints, roster, newcomers }: TargetSources) => {
  let made: ReadonlyArray<EndpointSettings> = []
  let from: ReadonlyArray<unknown> = []
  return (cursor: FanOutCursor) => {
    const inputs = [newcomers.targets(), roster.known(), newcomers.known().size, cursor.lanes, cursor.left]
    if (inputs.some((input, index) => input !== from[index])) {
      from = inputs
      made = newcomers
        .targets()
        .filter(({ id }) => isOwn(cursor, lane, id) && (roster.known().has(id) || newcomers.knows(id)))
    }
    return endpoints.all().length === 0 ? noTargets : made
  }
}

const noTargets: ReadonlyArray<EndpointSettings> = []

/** The broken ones of a run are put away side by side: many of them hold up the others as little as good ones do. */
const readRun = Effect.fnUntraced(function* ({ rejections }: Dependencies, run: ReadonlyArray<SourceMessage>) {
  const read: Array<ReadEvent> = []
  const refused: Array<Refused> = []
  for (const message of run) {
    // The actor log's own cursor stands among the events, and is none.
    if (message.subject === subjects.eventsCursor) continue
    const event = readStoredEvent(message)
    const { subject, sequence, data: payload } = message
    if (Result.isSuccess(event)) read.push(event.success)
    else refused.push({ origin: "events", subject, sequence, faults: event.failure, payload })
  }
  yield* Effect.forEach(refused, rejections.reject, { concurrency: "unbounded", discard: true })
  return { read, refused }
})

/** Of one event, all that the broker will never take as a delivery; an event is put away once. */
const putAway = Effect.fnUntraced(function* (
  { lane, reader, rejections }: Dependencies,
  refused: ReadonlyArray<RefusedMessage>
): Effect.fn.Return<void, BusError> {
  const isDue = ({ message: { subject } }: RefusedMessage) =>
    subject.startsWith(subjects.deliveries(lane).dueAll.slice(0, -1))
  const bySequence = Map.groupBy(refused.filter(isDue), ({ message }) => sequenceOf(message))
  for (const [sequence, [first]] of bySequence) {
    if (first === undefined) continue
    const { message, refusal } = first
    const event = Option.filter(
      sequence === null ? Option.none() : yield* reader.next("EVENTS", sequence),
      (found) => found.sequence === sequence
    )
    yield* rejections.reject({
      origin: "events",
      sequence,
      subject: Option.match(event, { onNone: () => message.subject, onSome: ({ subject }) => subject }),
      faults: [{ path: "", message: `the broker refused its deliveries: ${refusal.detail}` }],
      payload: message.data
    })
  }
  // The rosters are written the same way, and nothing goes on without them.
  const other = refused.find((each) => !isDue(each))
  if (other !== undefined) return yield* other.refusal
})

/** Between two runs: the roster is kept, and a few endpoints that are behind catch up by a page. */
const aside = Effect.fnUntraced(function* (deps: Dependencies, stored: FanOutCursor, messagesMax: number) {
  // An endpoint's place is counted from what was read, not from what was written.
  const cursor = advance(stored, deps.skipped.through)
  const { endpoints, roster, newcomers, isParked, turn } = deps
  // An endpoint takes its place along to another lane, but not what it has ahead of it.
  const mayArrange = !deps.isAlone && cursor.ahead === undefined
  const steps: Array<FanOutStep> = mayArrange ? [...(yield* arrange(deps, cursor))] : []
  // Newcomers first: one that the configuration gave up keeps its place.
  steps.push(...(yield* newcomers.keep(steps.at(-1)?.cursor ?? cursor)))
  steps.push(...(yield* roster.keep(steps.at(-1)?.cursor ?? cursor, newcomers.knows)))
  steps.push(...(yield* giveAhead(deps, steps.at(-1)?.cursor ?? cursor, messagesMax)))
  let last = steps.at(-1)?.cursor ?? cursor
  const behind = Object.keys(last.next).filter((id) => (last.next[id] ?? 0) <= last.position && !isParked(id))
  const start = behind.length === 0 ? 0 : turn.count++ % behind.length
  for (const id of [...behind.slice(start), ...behind.slice(0, start)].slice(0, catchUpsPerTurn)) {
    const target = endpoints.byId(id)
    if (target === undefined) continue
    const step = yield* catchUp(deps, last, { target, messagesMax })
    steps.push(step)
    last = step.cursor
  }
  return steps
})

/** While a flood is read: the fleet's own events from behind it. */
const giveAhead = Effect.fnUntraced(function* (
  { flood, reader, targets: targetsOf, lane, isParked, newDeliveryId }: Dependencies,
  cursor: FanOutCursor,
  messagesMax: number
): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
  if (!flood.isOn || cursor.through !== null) return []
  const fromSequence = Math.max(cursor.position, cursor.ahead ?? 0) + 1
  const toSequence = Number.MAX_SAFE_INTEGER
  const own = reader.range("EVENTS", { fromSequence, toSequence, subject: subjects.event(">") })
  const page = yield* Stream.runCollect(Stream.take(own, Math.min(aheadPageMessages, messagesMax)))
  if (page.length === 0) return []
  const step = planAhead({ events: eventsOf(page), targets: targetsOf(cursor), lane, isParked, newDeliveryId }, cursor)
  return step.cursor === cursor ? [] : [step]
})

/** Broken ones are put away by the run that they are in. */
const eventsOf = (messages: ReadonlyArray<SourceMessage>) =>
  messages.flatMap((message) => {
    const event = readStoredEvent(message)
    return Result.isSuccess(event) ? [event.success.event] : []
  })

// A question or two to each lane, and only while there is something to arrange.
const arrangeEveryMs = 200
// Whether the number changed, or an endpoint came back that belongs elsewhere.
const lookEveryMs = 2_000

/** The steps by which a lane's cursor follows the number of lanes. */
const arrange = Effect.fnUntraced(function* (
  deps: Dependencies,
  cursor: FanOutCursor
): Effect.fn.Return<ReadonlyArray<FanOutStep>, BusError> {
  const { lane, lanes, skipped, mayArrange, mayLook } = deps
  const nowMs = yield* Clock.currentTimeMillis
  const steps: Array<FanOutStep> = []
  let last = cursor
  const add = (step: FanOutStep) => {
    steps.push(step)
    last = step.cursor
  }
  if (skipped.through === cursor.position && nowMs - skipped.writtenAtMs >= idleWriteEveryMs) {
    skipped.writtenAtMs = nowMs
    skipped.through = 0
    add({ messages: [], cursor })
  }
  const now = lanes.state()
  const isMoving = now.before !== undefined || last.left !== undefined || !areAligned(now)
  if (!(yield* isMoving ? mayArrange : mayLook)) return steps
  // In one write: whoever read the new number without what leaves would take for moved what has yet to leave.
  const numbered = (lane === 0 ? yield* changedCount(deps, last) : undefined) ?? last
  const count = lane === 0 ? (numbered.lanes ?? 1) : (yield* lanes.read).count
  const arranged = (yield* movedAway(deps, numbered, count)) ?? numbered
  if (arranged !== last) add({ messages: [], cursor: arranged })
  const taken = last.left === undefined ? undefined : yield* takenOver(deps, last)
  if (taken !== undefined) add(taken)
  return steps
})

/** The first lane's cursor with another number of lanes, or with the end of a change. */
const changedCount = Effect.fnUntraced(function* ({ lanes }: Dependencies, cursor: FanOutCursor) {
  const { lanesBefore, ...others } = cursor
  if (lanesBefore !== undefined) return (yield* lanes.isMoved) ? others : undefined
  const count = yield* lanes.wanted
  if (count === undefined) return undefined
  yield* Effect.logInfo("deliveries go over another number of lanes").pipe(Effect.annotateLogs({ lanes: count }))
  return { ...cursor, lanes: count, lanesBefore: cursor.lanes ?? 1 }
})

/** The cursor without the endpoints that another lane is to have; undefined where it is so already. */
export const movedAway = Effect.fnUntraced(function* (
  { lane, lanes, endpoints }: Pick<Dependencies, "lane" | "lanes" | "endpoints">,
  cursor: FanOutCursor,
  count: number
) {
  // A twin may have known one that this process has yet to read: it would neither leave nor get events here.
  if ((cursor.revision ?? 0) > endpoints.revision()) yield* endpoints.catchUp
  const known = [...(yield* lanes.knownIn(lane))].filter((id) => endpoints.byId(id) !== undefined)
  const isLacking = (id: string) => deliveryLaneOf(id, count) !== lane && cursor.left?.[id] === undefined
  if ((cursor.lanes ?? 1) === count && !known.some(isLacking)) return undefined
  return rearranged(cursor, { lane, count, known })
})

/** The step that forgets the endpoints which other lanes have taken over. */
const takenOver = Effect.fnUntraced(function* (deps: Dependencies, cursor: FanOutCursor) {
  const { lane, lanes, roster, newcomers, reader } = deps
  const { cursors } = yield* lanes.read
  const taken = new Set<string>()
  for (const other of lanes.all) {
    if (other === lane || (cursors[other]?.lanes ?? 1) !== (cursor.lanes ?? 1)) continue
    const theirs = Object.keys(cursor.left ?? {}).filter((id) => deliveryLaneOf(id, cursor.lanes ?? 1) === other)
    if (theirs.length === 0) continue
    const known = yield* lanes.knownIn(other)
    for (const id of theirs) if (known.has(id)) taken.add(id)
  }
  // One that came back to this lane before another took it over is its own again, at its place.
  const back = Object.entries(cursor.left ?? {}).filter(([id]) => deliveryLaneOf(id, cursor.lanes ?? 1) === lane)
  if (taken.size === 0 && back.length === 0) return undefined
  for (const id of taken) yield* reader.purge(deliveryStream(lane), subjects.deliveries(lane).rosterOf(id))
  newcomers.release(taken)
  const step: FanOutStep = {
    messages: taken.size === 0 ? [] : [yield* roster.without(taken)],
    cursor: withoutLeft(placed(cursor, back), [...taken, ...back.map(([id]) => id)])
  }
  return step
})

interface CatchingUp {
  readonly target: EndpointSettings
  readonly messagesMax: number
}

const catchUp = Effect.fnUntraced(function* (
  deps: Dependencies,
  cursor: FanOutCursor,
  { target, messagesMax }: CatchingUp
) {
  const { reader, expired, parkedMaxMs, newDeliveryId } = deps
  const from = cursor.next[target.id] ?? cursor.position + 1
  const { firstSequence } = yield* reader.bounds("EVENTS")
  if (from < firstSequence) {
    expired.inc({ endpoint: target.name }, firstSequence - from)
    yield* Effect.logError("a parked endpoint missed events that are no longer kept").pipe(
      Effect.annotateLogs({ endpoint: target.name, events: firstSequence - from })
    )
  }
  const range = reader.range("EVENTS", { fromSequence: from, toSequence: cursor.position })
  const pageMessages = Math.min(catchUpPageMessages, messagesMax)
  const page = yield* Stream.runCollect(Stream.take(range, pageMessages))
  const tooOldMs = (yield* Clock.currentTimeMillis) - parkedMaxMs
  const given = page.filter((message) => message.storedAtMs >= tooOldMs)
  expired.inc({ endpoint: target.name }, page.length - given.length)
  const events = eventsOf(given)
  const isWhole = page.length < pageMessages
  const lastSequence = isWhole ? cursor.position : (page.at(-1)?.sequence ?? cursor.position)
  return planCatchUp({ events, lastSequence, target, lane: deps.lane, newDeliveryId }, cursor)
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
    // The rosters are written the same way, but are no deliveries.
    if (endpoint === undefined || !message.subject.startsWith(subjects.deliveries(deps.lane).dueAll.slice(0, -1)))
      continue
    backlogs.added(endpoint.id, 1)
  }
}
