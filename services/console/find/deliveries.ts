/** Finds events, with their deliveries and attempts, and what was abandoned, rejected or done by operators. */
import { Effect, Option, Result, Stream } from "effect"
import { jsonCodec, type SourceMessage, StreamReader } from "#bus"
import { entityOf, findEvent, isoTime, Rejection, storedEventName, subjects } from "#base"
import { duration, lineOf } from "#console/words"
import { auditCodec } from "#http"
import { type AbandonedDelivery, decodeStoredEvent, readAbandoned } from "#webhooks"
import { type Attempt, endpointIdOf } from "#webhooks/contract"
import { type Line, lineAt, linesOf, newestLines, searchBack, wholeDelivery } from "../deliveries/lines.ts"
import { type Found, holds, messageAt, newestWanted, searchWithinMs, type Thing } from "./trace.ts"

const nothing: Found = { things: [], notes: [] }

/** The event at a message, in words as far as the caller may read it. */
const eventThing = (message: SourceMessage, mayRead: boolean, below: ReadonlyArray<Thing> = []): Thing => {
  const event = storedEventName(message.subject)?.name ?? ""
  const envelope = envelopeOf(message)
  const about = envelope === undefined ? undefined : entityOf(envelope)
  const words = lineOf({
    event,
    entity: about ?? null,
    envelope: mayRead && envelope !== undefined ? { ...envelope } : null,
    firedWhen: findEvent(event)?.firedWhen
  })
  const text = [event, words, ...(about === undefined ? [] : [about])].join(", ")
  return { kind: "event", id: String(message.sequence), at: isoTime(message.storedAtMs), text, below }
}

const envelopeOf = (message: SourceMessage) => Result.getOrUndefined(decodeStoredEvent(message))?.envelope

const attemptThing = ({ sequence, index, attempt }: Line): Thing => ({
  kind: "attempt",
  id: `${sequence}.${index}`,
  at: attempt.startedAt,
  text: attemptText(attempt),
  below: []
})

const attemptText = ({ attempt, outcome, status, error, durationMs, nextAttemptAt }: Attempt) => {
  const next = nextAttemptAt === null ? "" : `, the next at ${nextAttemptAt}`
  return `attempt ${attempt} ${outcome}: ${status ?? error ?? "no answer"} after ${duration(durationMs)}${next}`
}

const abandonedThing = ({ sequence, storedAtMs, due, abandonment }: AbandonedDelivery): Thing => {
  const why = Option.getOrUndefined(abandonment)
  return {
    kind: "abandoned",
    id: String(sequence),
    at: why?.abandonedAt ?? isoTime(storedAtMs),
    text: `delivery ${due.delivery.deliveryId} to ${why?.endpoint ?? due.delivery.endpointId} was abandoned: ${why?.reason ?? "its reason cannot be read"}`,
    below: []
  }
}

const abandonedOf = Effect.fnUntraced(function* (deliveryId: string, subject: string) {
  const { found, notes } = yield* newestWanted({
    stream: "ABANDONED",
    subject,
    wants: (message) => Option.exists(readAbandoned(message), ({ due }) => due.delivery.deliveryId === deliveryId),
    foundMax: 1
  })
  const things = found.flatMap((message) => Option.toArray(Option.map(readAbandoned(message), abandonedThing)))
  return { things, notes: things.length === 0 ? notes : [] }
})

/** A delivery whole, from any line of it. */
const deliveryThing = Effect.fnUntraced(function* (known: Line) {
  const { lines, last, isComplete } = yield* wholeDelivery(known)
  const { deliveryId, endpoint, outcome, nextAttemptAt } = last.attempt
  const isGivenUp = outcome !== "delivered" && nextAttemptAt === null
  const abandoned = isGivenUp ? yield* abandonedOf(deliveryId, subjects.abandoned(endpointIdOf(endpoint))) : nothing
  const missing = isComplete ? "" : "; an attempt is missing: too old, or not written yet"
  const thing: Thing = {
    kind: "delivery",
    id: deliveryId,
    at: lines[0]?.attempt.startedAt ?? null,
    text: `to ${endpoint}: ${isGivenUp ? "abandoned" : outcome === "delivered" ? "delivered" : "to be retried"}${missing}`,
    below: [...lines.map(attemptThing), ...abandoned.things]
  }
  return thing
})

// The clocks of broker and dispatchers differ.
const clockSkewMs = 2_000
const attemptMessagesMax = 2_048
const deliveriesMax = 20

/** The event's deliveries, from the attempts that were written after it. */
const deliveriesOf = Effect.fnUntraced(function* ({ sequence, storedAtMs }: SourceMessage) {
  const reader = yield* StreamReader
  const fromSequence = yield* reader.firstAt("ATTEMPTS", storedAtMs - clockSkewMs)
  const { lastSequence } = yield* reader.bounds("ATTEMPTS")
  if (fromSequence > lastSequence) return nothing
  const toSequence = Math.min(lastSequence, fromSequence + attemptMessagesMax - 1)
  const lines = yield* reader.range("ATTEMPTS", { fromSequence, toSequence }).pipe(
    Stream.flatMap((message) => Stream.fromIterable(linesOf(message))),
    Stream.filter(({ attempt }) => attempt.sequence === sequence),
    Stream.runCollect
  )
  const firsts = [...Map.groupBy(lines, ({ attempt }) => attempt.deliveryId).values()].flatMap(([first]) => first ?? [])
  const things = yield* Effect.forEach(firsts.slice(0, deliveriesMax), deliveryThing, { concurrency: 4 })
  const notes = [
    ...(firsts.length > deliveriesMax ? [`${firsts.length - deliveriesMax} more deliveries of the event.`] : []),
    ...(toSequence < lastSequence
      ? [`The first ${attemptMessagesMax} messages of attempts after the event were looked through.`]
      : [])
  ]
  return { things, notes }
})

const rejection = jsonCodec(Rejection)

/** Whatever has this number in its list. */
export const atSequence = Effect.fnUntraced(function* (sequence: number, mayRead: boolean) {
  const event = Option.getOrUndefined(yield* messageAt("EVENTS", sequence))
  const isEvent = event !== undefined && storedEventName(event.subject) !== undefined
  const deliveries = isEvent ? yield* deliveriesOf(event) : nothing
  const abandoned = Option.flatMap(yield* messageAt("ABANDONED", sequence), readAbandoned)
  const rejected = Option.flatMap(yield* messageAt("REJECTED", sequence), (message) =>
    Result.getSuccess(rejection.decode(message))
  )
  const rejectedThings = Option.toArray(rejected).map(({ subject, origin, receivedAt, faults }): Thing => ({
    kind: "rejected",
    id: String(sequence),
    at: receivedAt,
    text: `${subject}, refused by ${origin}: ${faults[0]?.path ?? ""} ${faults[0]?.message ?? ""}`,
    below: []
  }))
  const things = [
    ...(isEvent ? [eventThing(event, mayRead, deliveries.things)] : []),
    ...Option.toArray(abandoned).map(abandonedThing),
    ...rejectedThings
  ]
  return { things, notes: deliveries.notes }
})

/** A delivery below its event, as long as that is kept. `id`: as its receiver has it, or a place of the log. */
export const byDelivery = Effect.fnUntraced(function* (id: string, mayRead: boolean) {
  const { line, note } = yield* lineOfDelivery(id)
  if (Option.isNone(line)) {
    const { things, notes } = yield* abandonedOf(id, subjects.abandonedAll)
    return { things, notes: [...note, ...notes] }
  }
  const delivery = yield* deliveryThing(line.value)
  const event = yield* messageAt("EVENTS", line.value.attempt.sequence)
  if (Option.isSome(event)) return { things: [eventThing(event.value, mayRead, [delivery])], notes: [] }
  return { things: [delivery], notes: [`Event ${line.value.attempt.sequence} is not kept any more.`] }
})

const lineOfDelivery = Effect.fnUntraced(function* (id: string) {
  const [sequence = "", index] = id.split(".")
  if (index !== undefined) {
    return { line: yield* lineAt({ sequence: Number(sequence), index: Number(index) }), note: [] }
  }
  const { line, next, lookedAt } = yield* searchBack(id, { before: undefined, withinMs: searchWithinMs })
  const note = next === undefined ? [] : [`Only the newest ${lookedAt} messages of ATTEMPTS were looked through.`]
  return { line, note }
})

const eventsMax = 50

/** The newest events about a thing, such as a work item; `id` with or without its kind. */
export const byEntity = Effect.fnUntraced(function* (id: string, mayRead: boolean) {
  const name = id.replace(/^(?:workItem|release|project|agent):/u, "")
  const isAbout = (message: SourceMessage) => {
    const envelope = holds(message, name) ? envelopeOf(message) : undefined
    const about = envelope === undefined ? undefined : entityOf(envelope)
    return about === id || about?.endsWith(`:${id}`) === true || envelope?.project?.id === name
  }
  const { found, notes } = yield* newestWanted({ stream: "EVENTS", subject: ">", wants: isAbout, foundMax: eventsMax })
  const things = found.map((message) => eventThing(message, mayRead))
  const more = things.length === 0 ? [] : ["Deliveries are shown below one event: find its number."]
  return { things, notes: [...notes, ...more] }
})

const requestsMax = 10

/** The acts of operators by their request. */
export const byRequest = Effect.fnUntraced(function* (id: string) {
  const { found, notes } = yield* newestWanted({
    stream: "AUDIT",
    subject: subjects.auditAll,
    wants: (message) => holds(message, id),
    foundMax: requestsMax
  })
  const things = found
    .flatMap((message) => Option.toArray(Result.getSuccess(auditCodec.decode(message))))
    .filter(({ requestId }) => requestId === id)
    .map(({ at, action, target, reason, by }): Thing => ({
      kind: "act",
      id,
      at,
      text: `${action} of ${target} by ${by.person ?? by.tokenId}: ${reason}`,
      below: []
    }))
  return { things, notes: [...notes, "Of requests only the acts of operators are kept; the logs have the others."] }
})

const endpointLinesMax = 20

/** An endpoint with its newest attempts. */
export const attemptsTo = Effect.fnUntraced(function* (endpoint: string) {
  const { lines } = yield* newestLines({ endpoint }, undefined, endpointLinesMax)
  return lines.map((line): Thing => {
    const { kind, id, at, text } = attemptThing(line)
    const { event, deliveryId } = line.attempt
    return { kind, id, at, text: `${event}, ${text}, delivery ${deliveryId}`, below: [] }
  })
})
