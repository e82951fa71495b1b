/**
 * EVENTS in, one due delivery per event and endpoint out, exactly once, by relay. An endpoint that is
 * paused or has too much before it is parked: it is passed over, and the cursor keeps the event it goes on
 * from. Parked endpoints that may go on are caught up between runs, without holding up the others.
 * What breaks the envelope's schema goes to REJECTED and holds up nobody.
 */
import { Clock, Effect, Latch, Layer, Result, Stream } from "effect"
import { subjects } from "#contracts"
import { Rejections, relay, type SourceMessage, StreamReader } from "#bus"
import { Configuration, Health, Metrics, supervise } from "#runtime"
import { Backlogs } from "./Backlogs.ts"
import { Endpoints } from "./Endpoints.ts"
import { EndpointStates } from "./EndpointStates.ts"
import { beginCursor, type FanOutCursor, fanOutRecordCodec } from "./fan-out-cursor.ts"
import { type FanOutStep, type FanOutTarget, planCatchUp, planRun } from "./fan-out-plan.ts"
import { deliveriesMade, eventsReceived, parkedEvents, parkedExpired, unknownReceived } from "./metrics.ts"
import { readEvent } from "./read-event.ts"
import { fingerprint } from "./roster.ts"
import { RosterKeeper } from "./RosterKeeper.ts"

// One page of history per endpoint and turn, and a few endpoints a turn: live events wait at most for these.
const catchUpsPerTurn = 4
const catchUpPageMessages = 256
const dayMs = 86_400_000
// A relay that has neither read nor been idle for so long is stuck.
const stallMs = 30_000

const fanOut = Effect.fnUntraced(function* (onStarted: Effect.Effect<unknown>) {
  const { all, byId } = yield* Endpoints
  const states = yield* EndpointStates
  const backlogs = yield* Backlogs
  const reader = yield* StreamReader
  const rejections = yield* Rejections
  const roster = yield* RosterKeeper
  const metrics = yield* Metrics
  const received = metrics.counter(eventsReceived)
  const unknown = metrics.counter(unknownReceived)
  const made = metrics.counter(deliveriesMade)
  const parked = metrics.gauge(parkedEvents)
  const expired = metrics.counter(parkedExpired)
  const ours = fingerprint(all)
  const newDeliveryId = () => crypto.randomUUID()
  // An endpoint absent from the configuration stays where it is until it is back, or archived.
  const isParked = (id: string) => !byId.has(id) || states.isPaused(id) || backlogs.isOverfull(id)
  const parkedMaxMs = (yield* Configuration).WebhookDelivery.ParkedMaxDays * dayMs
  let turn = 0

  const readRun = Effect.fnUntraced(function* (run: ReadonlyArray<SourceMessage>) {
    const events = []
    for (const message of run) {
      // How far the actors' log has become events stands among them, and is none.
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

  const translate = Effect.fnUntraced(function* (run: ReadonlyArray<SourceMessage>, cursor: FanOutCursor) {
    const read = yield* readRun(run)
    for (const { event, known, unknownFields } of read) {
      received.inc({ event: known ? event.event : "other" })
      if (!known) unknown.inc({ kind: "event" })
      if (unknownFields.length > 0) unknown.inc({ kind: "field" }, unknownFields.length)
    }
    const lastSequence = run.at(-1)?.sequence ?? cursor.position
    return planRun(
      read.map(({ event }) => event),
      lastSequence,
      cursor,
      all,
      isParked,
      newDeliveryId
    )
  })

  const catchUp = Effect.fnUntraced(function* (cursor: FanOutCursor, target: FanOutTarget & { readonly name: string }) {
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
    const read = given.flatMap((message) => {
      const event = readEvent(message)
      return Result.isSuccess(event) ? [event.success.event] : []
    })
    const isWhole = page.length < catchUpPageMessages
    const lastRead = isWhole ? cursor.position : (page.at(-1)?.sequence ?? cursor.position)
    return planCatchUp(read, lastRead, cursor, target, newDeliveryId)
  })

  const aside = Effect.fnUntraced(function* (cursor: FanOutCursor) {
    const steps: Array<FanOutStep> = [...(yield* roster.keep(cursor))]
    let last = steps.at(-1)?.cursor ?? cursor
    const behind = Object.keys(last.next).filter((id) => (last.next[id] ?? 0) <= last.position && !isParked(id))
    const start = behind.length === 0 ? 0 : turn++ % behind.length
    for (const id of [...behind.slice(start), ...behind.slice(0, start)].slice(0, catchUpsPerTurn)) {
      const target = byId.get(id)
      if (target === undefined) continue
      const step = yield* catchUp(last, target)
      steps.push(step)
      last = step.cursor
    }
    return steps
  })

  // Told to the gauges once a stored cursor changes; what was written is what the broker confirmed.
  const onCursor = (cursor: FanOutCursor, written: FanOutStep["messages"]) =>
    Effect.sync(() => {
      for (const endpoint of all) {
        const next = cursor.next[endpoint.id]
        const missing = next === undefined ? 0 : Math.max(0, cursor.position + 1 - next)
        parked.set({ endpoint: endpoint.name }, missing)
      }
      for (const message of written) {
        const endpoint = byId.get(message.subject.slice(message.subject.lastIndexOf(".") + 1))
        // The roster is written the same way, and is no delivery.
        if (endpoint === undefined) continue
        backlogs.added(endpoint.id, 1)
        made.inc({ endpoint: endpoint.name })
      }
    })

  const loop = yield* (yield* Health).loop("fan-out", { stallMs })
  return relay({
    name: "fan-out",
    source: "EVENTS",
    target: "DELIVERIES",
    place: { subject: subjects.deliveriesCursor, codec: fanOutRecordCodec },
    begin: beginCursor,
    position: (cursor) => cursor.position,
    isOurs: (cursor) => cursor.roster === ours,
    translate,
    aside,
    onCursor,
    onStarted: Effect.asVoid(onStarted),
    loop
    // Asking in vain for a broker that is away is no standstill; the process must outlive it.
  }).pipe(Effect.tapErrorTag("BusUnavailable", () => Effect.sync(loop.beat)))
})

export const FanOut = {
  /** Runs the fan-out for the life of the scope. Without endpoints, and without a past, it does nothing. */
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const { all } = yield* Endpoints
      const { last } = yield* StreamReader
      const past = yield* last("DELIVERIES", subjects.deliveriesCursor)
      if (all.length === 0 && past._tag === "None") {
        return yield* Effect.logInfo("no endpoints are configured, events are only kept")
      }
      const started = yield* Latch.make()
      yield* Effect.forkScoped(supervise("fan-out", yield* fanOut(started.open)))
      // From here on every event is accounted for; before, a new endpoint would not have been meant.
      yield* started.await
    })
  ).pipe(Layer.provide(RosterKeeper.layer))
}
