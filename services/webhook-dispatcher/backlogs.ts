/**
 * Each endpoint's backlog, polled from the broker once a second. It feeds the metrics, and the fan-out parks an
 * endpoint past its BacklogMax until half of the backlog is gone. Between two polls the fan-out's own writes are added,
 * so that a burst cannot run far past the limit.
 */
import { Clock, Context, Effect, Layer, Option, Schedule } from "effect"
import { type BusError, StreamReader } from "#bus"
import { deliveryStream, subjects } from "#base"
import { Metrics } from "#runtime"
import { Endpoints } from "./endpoints/Endpoints.ts"
import type { EndpointSettings } from "./endpoints/settings.ts"
import { DeliveryLanes } from "./lanes.ts"
import { backlog, DeliveryMetrics, oldestDueAge, retriesWaiting } from "./metrics.ts"

const pollEvery = "1 second"
// The age costs one read per endpoint with a backlog, so only a few endpoints are read at a time, in rotation.
const agesPerPoll = 64
const stagnantAfterPolls = 3

/** What is due for an endpoint in one lane. */
export interface DueInLane {
  readonly lane: number
  readonly endpointId: string
  readonly subject: string
  readonly count: number
}

export class Backlogs extends Context.Service<
  Backlogs,
  {
    readonly of: (endpointId: string) => number
    /** True from BacklogMax on until the backlog has halved. */
    readonly isOverfull: (endpointId: string) => boolean
    readonly added: (endpointId: string, count: number) => void
    /** Backlogs that have not shrunk for some seconds. */
    readonly stagnant: () => ReadonlyArray<DueInLane>
  }
>()("starling/webhook-dispatcher/Backlogs") {
  static readonly layer = Layer.effect(
    Backlogs,
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const reader = yield* StreamReader
      const lanes = yield* DeliveryLanes
      const metrics = yield* Metrics
      const deliveryMetrics = yield* DeliveryMetrics
      const backlogGauge = metrics.gauge(backlog)
      const ageGauge = metrics.gauge(oldestDueAge)
      const waitingGauge = metrics.gauge(retriesWaiting)
      const counts = new Map<string, number>()
      const overfull = new Set<string>()
      let turn = 0
      let counted: Counted = new Map()

      const judge = (endpoint: EndpointSettings) => {
        const count = counts.get(endpoint.id) ?? 0
        if (count >= endpoint.backlogMax) overfull.add(endpoint.id)
        else if (count <= endpoint.backlogMax / 2) overfull.delete(endpoint.id)
      }

      const readAges = Effect.fnUntraced(function* () {
        const all = endpoints.all()
        const waiting = all.filter((endpoint) => (counts.get(endpoint.id) ?? 0) > 0)
        for (const endpoint of all) if (!counts.get(endpoint.id)) ageGauge.set({ endpoint: endpoint.name }, 0)
        const start = waiting.length === 0 ? 0 : (turn += agesPerPoll) % waiting.length
        const chosen = [...waiting.slice(start), ...waiting.slice(0, start)].slice(0, agesPerPoll)
        const nowMs = yield* Clock.currentTimeMillis
        for (const endpoint of chosen) {
          const oldest = yield* oldestOf(reader, lanes.all, endpoint.id)
          const ageMs = Option.match(oldest, { onNone: () => 0, onSome: (message) => nowMs - message.storedAtMs })
          // It may have been removed while its age was read.
          if (endpoints.byId(endpoint.id) === undefined) continue
          ageGauge.set({ endpoint: endpoint.name }, Math.max(0, ageMs) / 1_000)
        }
      })

      const poll = Effect.fnUntraced(function* (): Effect.fn.Return<void, BusError> {
        const { found, due, messages, inLanes } = yield* readDue(reader, lanes.all)
        counted = countedAgain(counted, inLanes)
        // The cursor and the rosters are the messages that are neither due nor waiting.
        const rosters = lanes.all.length + endpoints.all().length - endpoints.configured.length
        waitingGauge.set({}, Math.max(0, messages - due - lanes.all.length - rosters))
        const nowMs = yield* Clock.currentTimeMillis
        for (const endpoint of endpoints.all()) {
          const count = found.get(endpoint.id) ?? 0
          if (count >= endpoint.concurrency) deliveryMetrics.held(endpoint, nowMs)
          counts.set(endpoint.id, count)
          backlogGauge.set({ endpoint: endpoint.name }, count)
          judge(endpoint)
        }
        yield* readAges()
      })
      yield* poll().pipe(
        Effect.catch((error) => Effect.logDebug("the backlog could not be read", error)),
        Effect.repeat(Schedule.spaced(pollEvery)),
        Effect.forkScoped
      )

      return Backlogs.of({
        of: (id) => counts.get(id) ?? 0,
        isOverfull: (id) => overfull.has(id),
        added: (id, count) => {
          counts.set(id, (counts.get(id) ?? 0) + count)
          const endpoint = endpoints.byId(id)
          if (endpoint !== undefined) judge(endpoint)
        },
        stagnant: () => [...counted.values()].flatMap(({ due, polls }) => (polls >= stagnantAfterPolls ? [due] : []))
      })
    })
  )
}

/** By subject; `polls`: how often it was counted since it last shrank. */
type Counted = ReadonlyMap<string, { readonly due: DueInLane; readonly polls: number }>

const countedAgain = (before: Counted, inLanes: ReadonlyArray<DueInLane>): Counted =>
  new Map(
    inLanes.map((due) => {
      const last = before.get(due.subject)
      return [due.subject, { due, polls: last === undefined || due.count < last.due.count ? 0 : last.polls + 1 }]
    })
  )

/** While moving to another lane an endpoint can have deliveries in both. */
const oldestOf = Effect.fnUntraced(function* (
  reader: StreamReader["Service"],
  lanes: ReadonlyArray<number>,
  id: string
) {
  const ofLanes = yield* Effect.forEach(lanes, (lane) =>
    reader.next(deliveryStream(lane), 1, subjects.deliveries(lane).dueOf(id))
  )
  const found = ofLanes.flatMap(Option.toArray).toSorted((one, other) => one.storedAtMs - other.storedAtMs)
  return Option.fromUndefinedOr(found[0])
})

/** How much is due per endpoint, and the total number of messages. */
const readDue = Effect.fnUntraced(function* (reader: StreamReader["Service"], lanes: ReadonlyArray<number>) {
  const found = new Map<string, number>()
  const inLanes: Array<DueInLane> = []
  let [due, messages] = [0, 0]
  for (const lane of lanes) {
    const bySubject = yield* reader.countBySubject(deliveryStream(lane), subjects.deliveries(lane).dueAll)
    messages += (yield* reader.bounds(deliveryStream(lane))).messages
    for (const [subject, count] of Object.entries(bySubject)) {
      const id = subject.slice(subject.lastIndexOf(".") + 1)
      found.set(id, (found.get(id) ?? 0) + count)
      inLanes.push({ lane, endpointId: id, subject, count })
      due += count
    }
  }
  return { found, due, messages, inLanes }
})
