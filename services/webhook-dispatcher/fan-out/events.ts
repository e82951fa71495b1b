/**
 * Events as the fan-out reads them. An envelope that breaks the schema goes to REJECTED and holds up nothing; so does
 * one whose deliveries the broker refuses.
 */
import { Effect, Option, Result } from "effect"
import type { BusError, Refused, RefusedMessage, Rejections, SourceMessage, StreamReader } from "#bus"
import { storedEventName, subjects } from "#base"
import type { EventTypes } from "#events"
import { type ReadEvent, readStoredEvent, storedEventBody } from "#webhooks"
import { sequenceOf } from "./plan.ts"

interface Reading {
  readonly types: EventTypes["Service"]
  readonly rejections: Rejections["Service"]
}

/**
 * The refused ones of a run are archived concurrently: many of them delay the others as little as good ones do. Before
 * an event is refused, it is judged once more by the types as the broker has them now: its own may be a moment old.
 */
export const readRun = Effect.fnUntraced(function* (
  { types, rejections }: Reading,
  run: ReadonlyArray<SourceMessage>
): Effect.fn.Return<{ readonly read: ReadonlyArray<ReadEvent>; readonly refused: ReadonlyArray<Refused> }, BusError> {
  // The actor log's own cursor is stored among the events, but is not one.
  const events = run.filter(({ subject }) => subject !== subjects.eventsCursor)
  const first = events.map((message) => readStoredEvent(message, types))
  const isAnyRefused = first.some(Result.isFailure)
  if (isAnyRefused) yield* types.catchUp
  const judged = isAnyRefused ? events.map((message) => readStoredEvent(message, types)) : first
  const refused = judged.flatMap((event, index): ReadonlyArray<Refused> => {
    const message = events[index]
    if (Result.isSuccess(event) || message === undefined) return []
    const { subject, sequence } = message
    // REJECTED keeps no headers: a CloudEvent can be sent again as its envelope.
    const payload = storedEventBody(message, types)
    return [{ origin: "events", subject, sequence, faults: event.failure, payload, publisher: userOf(subject) }]
  })
  yield* Effect.forEach(refused, rejections.reject, { concurrency: "unbounded", discard: true })
  return { read: judged.flatMap((event) => (Result.isSuccess(event) ? [event.success] : [])), refused }
})

/** The publisher of an event, if it is a user of the broker outside the fleet, and no token of our APIs. */
const userOf = (subject: string) => {
  const from = storedEventName(subject)?.from
  return from?.includes("=") === true ? undefined : from
}

interface Rejecting {
  readonly lane: number
  readonly reader: StreamReader["Service"]
  readonly rejections: Rejections["Service"]
}

/** For one event, all deliveries that the broker will never accept; an event is archived once. */
export const rejectEvents = Effect.fnUntraced(function* (
  { lane, reader, rejections }: Rejecting,
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
  // The rosters are written the same way, and nothing can proceed without them.
  const other = refused.find((each) => !isDue(each))
  if (other !== undefined) return yield* other.refusal
})

/** Broken ones are archived by the run that contains them. */
export const eventsOf = (messages: ReadonlyArray<SourceMessage>, types: EventTypes["Service"]) =>
  messages.flatMap((message) => {
    const event = readStoredEvent(message, types)
    return Result.isSuccess(event) ? [event.success.event] : []
  })
