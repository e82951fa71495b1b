/** Endpoints as operators see them: with their state, and with what waits for them. */
import { Effect, Option, Result } from "effect"
import { Consumers, StreamReader } from "#bus"
import { isoTime, subjects } from "#contracts"
import type { EndpointView } from "#contracts/console"
import { notFound } from "#http"
import { dueDeliveryCodec, EndpointStates, fanOutRecordCodec } from "#webhooks"
import { linesOf } from "../deliveries/lines.ts"
import { refusing } from "./requests.ts"
import type { KnownEndpoint } from "./known-endpoints.ts"

/** Endpoints with the state that the bus keeps of them. */
export const endpointViews = Effect.fnUntraced(function* (endpoints: ReadonlyArray<KnownEndpoint>) {
  const states = yield* EndpointStates
  const reader = yield* StreamReader
  const [only] = endpoints
  const filter =
    endpoints.length === 1 && only !== undefined ? subjects.deliveriesDueOf(only.id) : subjects.deliveriesDueAll
  const counts = yield* refusing(reader.countBySubject("DELIVERIES", filter))
  const backlogs = new Map<string, number>()
  for (const [subject, count] of Object.entries(counts)) {
    const id = subject.slice(subject.lastIndexOf(".") + 1)
    backlogs.set(id, (backlogs.get(id) ?? 0) + count)
  }
  const parkedFrom = yield* parkedIn(reader)
  return endpoints.map((endpoint): EndpointView => {
    const state = states.get(endpoint.id)
    return {
      ...endpoint,
      paused: state?.paused ?? null,
      breakerOpenUntilMs: state?.breakerOpenUntilMs ?? null,
      backlog: backlogs.get(endpoint.id) ?? 0,
      parkedFrom: parkedFrom(endpoint.id)
    }
  })
})

/** The event that each endpoint waits for, where it fell behind the fan-out; a new endpoint may be before it. */
const parkedIn = Effect.fnUntraced(function* (reader: StreamReader["Service"]) {
  const stored = yield* refusing(reader.last("DELIVERIES", subjects.deliveriesCursor))
  const decoded = Option.flatMap(stored, (message) => Result.getSuccess(fanOutRecordCodec.decode(message)))
  if (Option.isNone(decoded)) return () => null
  const { position, next } = decoded.value.cursor
  return (id: string) => {
    const first = next[id]
    return first !== undefined && first <= position ? first : null
  }
})

/** One endpoint, with what the broker is asked for it alone. */
export const wholeView = Effect.fnUntraced(function* (endpoint: KnownEndpoint) {
  const reader = yield* StreamReader
  const consumers = yield* Consumers
  const view = yield* endpointView(endpoint)
  const oldest = yield* refusing(reader.next("DELIVERIES", 1, subjects.deliveriesDueOf(endpoint.id)))
  const delivered = yield* refusing(
    reader.newest("ATTEMPTS", {
      before: Number.MAX_SAFE_INTEGER,
      subject: subjects.attempts(endpoint.id, "delivered"),
      messagesMax: 1
    })
  )
  const inFlight = yield* consumers.backlog("DELIVERIES", `endpoint-${endpoint.id}`).pipe(
    Effect.map(({ unacked }): number | null => unacked),
    Effect.catchTag("BusNotFound", () => Effect.succeed(null)),
    refusing
  )
  const due = Option.flatMap(oldest, (message) => Result.getSuccess(dueDeliveryCodec.decode(message)))
  const answer: EndpointView = {
    ...view,
    inFlight,
    oldestDueAt: Option.getOrNull(Option.map(due, ({ delivery }) => isoTime(delivery.dueAt))),
    lastDeliveredAt: delivered.flatMap(linesOf).at(-1)?.attempt.startedAt ?? null
  }
  return answer
})

export const endpointView = (endpoint: KnownEndpoint) =>
  Effect.flatMap(endpointViews([endpoint]), ([view]) =>
    view === undefined ? Effect.fail(notFound("there is no such endpoint")) : Effect.succeed(view)
  )
