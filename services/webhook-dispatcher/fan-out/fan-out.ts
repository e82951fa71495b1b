/**
 * The fan-out relays EVENTS: one due delivery per event and endpoint, exactly once. An endpoint that is paused or has
 * too large a backlog is parked: it is passed over, and the cursor keeps the event from which it goes on. Parked
 * endpoints that may go on are caught up between runs, without holding up the others. An envelope that breaks the
 * schema goes to REJECTED and holds up nothing.
 */
import { Clock, Effect, Latch, Layer, Result, Stream } from "effect"
import { parseJson, Rejections, relay, type SourceMessage, StreamReader } from "#bus"
import { decodeEnvelope, entityOf, type Fault, subjects } from "#contracts"
import { Configuration, Health, Metrics, supervise } from "#runtime"
import { beginCursor, EndpointStates, type FanOutCursor, fanOutRecordCodec } from "#webhooks"
import { Backlogs } from "../backlogs.ts"
import { Endpoints } from "../endpoints/Endpoints.ts"
import { type EndpointSettings, isEnabled } from "../endpoints/settings.ts"
import { deliveriesMade, eventsReceived, parkedEvents, parkedExpired, unknownReceived } from "../metrics.ts"
import { type FanOutEvent, type FanOutStep, planCatchUp, planRun } from "./plan.ts"
import { fingerprint, Newcomers, RosterKeeper } from "./roster.ts"

// One page of history per endpoint and turn, and a few endpoints a turn: live events wait at most for these.
const catchUpsPerTurn = 4
const catchUpPageMessages = 256
const dayMs = 86_400_000
// A relay that has neither read nor been idle for this long is stuck.
const stallMs = 30_000

export const FanOut = {
  /** Runs the fan-out for the life of the scope. Without a stored cursor it begins with the first endpoint. */
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const { all, first } = yield* Endpoints
      const { last } = yield* StreamReader
      const past = yield* last("DELIVERIES", subjects.deliveriesCursor)
      const started = yield* Latch.make()
      const work = Effect.flatMap(fanOut(started.open), (relaying) => supervise("fan-out", relaying))
      if (all().length === 0 && past._tag === "None") {
        yield* Effect.forkScoped(Effect.andThen(first, work))
        return yield* Effect.logInfo("there are no endpoints, events are only kept")
      }
      yield* Effect.forkScoped(work)
      // From here on every event is accounted for; a new endpoint is not meant to get earlier ones.
      yield* started.await
    })
  ).pipe(Layer.provide(Layer.mergeAll(RosterKeeper.layer, Newcomers.layer)))
}

const fanOut = Effect.fnUntraced(function* (onStarted: Effect.Effect<unknown>) {
  const deps = yield* dependenciesOfFanOut
  const ours = fingerprint(deps.endpoints.configured)
  const loop = yield* (yield* Health).loop("fan-out", { stallMs })
  return relay({
    name: "fan-out",
    source: "EVENTS",
    target: "DELIVERIES",
    place: { subject: subjects.deliveriesCursor, codec: fanOutRecordCodec },
    begin: beginCursor,
    onTaken: Effect.sync(deps.newcomers.forget),
    position: (cursor) => cursor.position,
    isOurs: (cursor) => cursor.roster === ours,
    translate: (run, cursor) => translate(deps, run, cursor),
    aside: (cursor) => aside(deps, cursor),
    onCursor: (cursor, written) => Effect.sync(() => count(deps, cursor, written)),
    onStarted: Effect.asVoid(onStarted),
    loop
    // Retrying while the broker is away is no stall: the process must outlive it.
  }).pipe(Effect.tapErrorTag("BusUnavailable", () => Effect.sync(loop.beat)))
})

/** The services and state that the steps of a fan-out use. */
interface Dependencies extends Effect.Success<typeof dependenciesOfFanOut> {}

const dependenciesOfFanOut = Effect.gen(function* () {
  const endpoints = yield* Endpoints
  const states = yield* EndpointStates
  const backlogs = yield* Backlogs
  const metrics = yield* Metrics
  return {
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
    roster: yield* RosterKeeper,
    newcomers: yield* Newcomers,
    newDeliveryId: () => crypto.randomUUID(),
    received: metrics.counter(eventsReceived),
    unknown: metrics.counter(unknownReceived),
    made: metrics.counter(deliveriesMade),
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
  const { newcomers, isParked, newDeliveryId, received, unknown } = deps
  const read = yield* readRun(deps, run)
  for (const { event, known, unknownFields } of read) {
    received.inc({ event: known ? event.event : "other" })
    if (!known) unknown.inc({ kind: "event" })
    if (unknownFields.length > 0) unknown.inc({ kind: "field" }, unknownFields.length)
  }
  const lastSequence = run.at(-1)?.sequence ?? cursor.position
  const events = read.map(({ event }) => event)
  return planRun({ events, lastSequence, targets: newcomers.targets(), isParked, newDeliveryId }, cursor)
})

const readRun = Effect.fnUntraced(function* ({ rejections }: Dependencies, run: ReadonlyArray<SourceMessage>) {
  const events = []
  for (const message of run) {
    // The actor log's own cursor stands among the events, and is none.
    if (message.subject === subjects.eventsCursor) continue
    const read = readEvent(message)
    if (Result.isSuccess(read)) {
      events.push(read.success)
      continue
    }
    const { subject, sequence, data: payload } = message
    yield* rejections.reject({ origin: "events", subject, sequence, faults: read.failure, payload })
  }
  return events
})

/** Between two runs: the roster is kept, and a few endpoints that are behind catch up by a page. */
const aside = Effect.fnUntraced(function* (deps: Dependencies, cursor: FanOutCursor) {
  const { endpoints, roster, newcomers, isParked, turn } = deps
  // Newcomers first: one that the configuration gave up keeps its place.
  const steps: Array<FanOutStep> = [...(yield* newcomers.keep(cursor))]
  steps.push(...(yield* roster.keep(steps.at(-1)?.cursor ?? cursor, newcomers.knows)))
  let last = steps.at(-1)?.cursor ?? cursor
  const behind = Object.keys(last.next).filter((id) => (last.next[id] ?? 0) <= last.position && !isParked(id))
  const start = behind.length === 0 ? 0 : turn.count++ % behind.length
  for (const id of [...behind.slice(start), ...behind.slice(0, start)].slice(0, catchUpsPerTurn)) {
    const target = endpoints.byId(id)
    if (target === undefined) continue
    const step = yield* catchUp(deps, last, target)
    steps.push(step)
    last = step.cursor
  }
  return steps
})

const catchUp = Effect.fnUntraced(function* (deps: Dependencies, cursor: FanOutCursor, target: EndpointSettings) {
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
  const page = yield* Stream.runCollect(Stream.take(range, catchUpPageMessages))
  const tooOldMs = (yield* Clock.currentTimeMillis) - parkedMaxMs
  const given = page.filter((message) => message.storedAtMs >= tooOldMs)
  expired.inc({ endpoint: target.name }, page.length - given.length)
  const events = given.flatMap((message) => {
    const event = readEvent(message)
    return Result.isSuccess(event) ? [event.success.event] : []
  })
  const isWhole = page.length < catchUpPageMessages
  const lastSequence = isWhole ? cursor.position : (page.at(-1)?.sequence ?? cursor.position)
  return planCatchUp({ events, lastSequence, target, newDeliveryId }, cursor)
})

const duePrefix = subjects.deliveriesDueAll.slice(0, -1)

/** Shows a stored cursor in the metrics; `written` is what the broker confirmed. */
const count = (deps: Dependencies, cursor: FanOutCursor, written: FanOutStep["messages"]) => {
  const { endpoints, backlogs, parked, shownParked, made } = deps
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
    if (endpoint === undefined || !message.subject.startsWith(duePrefix)) continue
    backlogs.added(endpoint.id, 1)
    made.inc({ endpoint: endpoint.name })
  }
}

/** A valid event, with the parts of it that the event catalogue does not know. */
interface ReadEvent {
  readonly event: FanOutEvent
  readonly known: boolean
  readonly unknownFields: ReadonlyArray<string>
}

/**
 * Checks the envelope against its schema, but keeps the bytes as they came: receivers get, and signatures cover,
 * exactly what was published.
 */
const readEvent = (message: SourceMessage): Result.Result<ReadEvent, ReadonlyArray<Fault>> =>
  parseJson(message.data).pipe(
    Result.flatMap(decodeEnvelope),
    Result.flatMap(({ envelope, known, unknownFields }) => {
      if (message.subject !== subjects.event(envelope.event)) {
        return Result.fail([{ path: "/event", message: `${envelope.event} was published to ${message.subject}` }])
      }
      const event: FanOutEvent = {
        sequence: message.sequence,
        storedAtMs: message.storedAtMs,
        event: envelope.event,
        schemaVersion: envelope.eventSchemaVersion,
        entity: entityOf(envelope),
        body: message.data
      }
      return Result.succeed({ event, known, unknownFields })
    })
  )
