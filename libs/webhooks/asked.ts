/**
 * What operators ask of a dispatcher: a test, or a delivery sent again. The request names the endpoint and where the
 * event or delivery is stored; the dispatcher reads it there and creates the delivery itself, with its attempt and its
 * time. So a request can neither hold up an endpoint nor archive what belongs to no endpoint.
 */
import { Clock, Effect, Option, Result } from "effect"
import { AskedDelivery, AskedDeliveryAnswer, type Delivery } from "#webhooks/contract"
import { type DeclaredTypes, type EventType, exampleEnvelopeOf } from "#events"
import { eventSchemaVersion, exampleEnvelope, isoTime, subjects } from "#base"
import { type BusError, BusUnavailable, jsonCodec, Publisher, Requests, StreamReader } from "#bus"
import {
  type AbandonedDelivery,
  deliveryHeaders,
  deliveryIdFrom,
  type DueDelivery,
  dueSubject,
  isBodyLeftOut,
  readAbandoned
} from "./deliveries.ts"
import { readDeliveryLanes } from "./fan-out-cursor.ts"
import { readStoredEvent } from "./stored-event.ts"

const about = {
  subject: subjects.deliveriesAsked,
  question: jsonCodec(AskedDelivery),
  answer: jsonCodec(AskedDeliveryAnswer)
}

// The broker's own timeout for a write, plus a moment for the dispatcher.
const askedWithinMs = 10_000

/** The outcome of a requested delivery. */
export type Asked = Exclude<AskedDeliveryAnswer, { readonly _tag: "Unavailable" }>

/** Has a dispatcher queue a delivery as due. The same delivery is queued once. */
export const askForDelivery = Effect.fn("askForDelivery")(function* (
  asked: AskedDelivery
): Effect.fn.Return<Asked, BusError, Requests> {
  const answer = yield* (yield* Requests).ask({ ...about, timeoutMs: askedWithinMs }, asked)
  if (answer._tag !== "Unavailable") return answer
  return yield* new BusUnavailable({ operation: "send a delivery", detail: answer.detail })
})

/** A test: it passes through breaker, pause and order like every delivery. */
export const sendTest = (endpointId: string, event: string) =>
  askForDelivery(AskedDelivery.make({ _tag: "Test", endpointId, event }))

/** Has an abandoned delivery sent again, and removes it from ABANDONED once that is done. */
export const sendAgain = Effect.fnUntraced(function* ({ sequence }: Pick<AbandonedDelivery, "sequence">) {
  const answer = yield* askForDelivery(AskedDelivery.make({ _tag: "Redrive", sequence }))
  if (answer._tag === "Stored") yield* (yield* StreamReader).remove("ABANDONED", sequence)
  return answer
})

// A redrive requests sixteen at once; several redrives can run.
const askedAtOnce = 64
const detailCharactersMax = 1_000

interface Known {
  readonly hasEndpoint: (endpointId: string) => Effect.Effect<boolean, BusError>
  /** The type of that name beside the fleet's own events. */
  readonly findType: (event: string) => Effect.Effect<EventType | undefined, BusError>
}

/** Answers requests for deliveries while the scope is open. */
export const answerAskedDeliveries = (known: Known) =>
  Effect.gen(function* () {
    yield* (yield* Requests).answer({
      ...about,
      queueGroup: "webhook-dispatcher",
      concurrency: askedAtOnce,
      handler: (asked) =>
        Effect.catch(store(asked, known), ({ message }) =>
          Effect.succeed(
            AskedDeliveryAnswer.make({ _tag: "Unavailable", detail: message.slice(0, detailCharactersMax) })
          )
        )
    })
  })

const store = Effect.fnUntraced(function* (
  asked: AskedDelivery,
  { hasEndpoint, findType }: Known
): Effect.fn.Return<AskedDeliveryAnswer, BusError, Publisher | StreamReader> {
  const made = yield* madeOf(asked, findType)
  if (Option.isNone(made)) return AskedDeliveryAnswer.make({ _tag: asked._tag === "Test" ? "UnknownEvent" : "NotKept" })
  const { delivery, body } = made.value
  if (!(yield* hasEndpoint(delivery.endpointId))) return AskedDeliveryAnswer.make({ _tag: "UnknownEndpoint" })
  const { lanes } = yield* readDeliveryLanes
  const options = { messageId: `${delivery.deliveryId}:1`, headers: deliveryHeaders(delivery) }
  yield* (yield* Publisher).publishRaw(dueSubject(delivery.endpointId, lanes), body, options)
  return AskedDeliveryAnswer.make({ _tag: "Stored", deliveryId: delivery.deliveryId })
})

/** The requested delivery; none if its source is no longer kept, or has no example. */
const madeOf = (
  asked: AskedDelivery,
  findType: Known["findType"]
): Effect.Effect<Option.Option<DueDelivery>, BusError, StreamReader> => {
  switch (asked._tag) {
    case "Test":
      return testOf(asked, findType)
    case "Resend":
      return resendOf(asked)
    case "Redrive":
      return redriveOf(asked.sequence)
  }
}

type AskedAs<Tag> = Extract<AskedDelivery, { readonly _tag: Tag }>

const testOf = Effect.fnUntraced(function* (
  { endpointId, event }: AskedAs<"Test">,
  findType: Known["findType"]
): Effect.fn.Return<Option.Option<DueDelivery>, BusError> {
  const nowMs = yield* Clock.currentTimeMillis
  const own = exampleEnvelope(event)
  const type = own === undefined ? yield* findType(event) : undefined
  const example = own ?? (type?.example === undefined ? undefined : exampleEnvelopeOf(type, isoTime(nowMs)))
  if (example === undefined) return Option.none()
  const delivery: Delivery = {
    deliveryId: crypto.randomUUID(),
    endpointId,
    event,
    schemaVersion: type?.schemaVersion ?? eventSchemaVersion,
    // It has no place in EVENTS.
    sequence: 0,
    attempt: 1,
    storedAt: nowMs,
    dueAt: nowMs,
    isTest: true
  }
  return Option.some({ delivery, body: new TextEncoder().encode(JSON.stringify(example)) })
})

const resendOf = Effect.fnUntraced(function* ({ deliveryId, endpointId, of, sequence }: AskedAs<"Resend">) {
  const nowMs = yield* Clock.currentTimeMillis
  return Option.map(yield* eventAt(sequence), ({ event, schemaVersion, entity, traceparent, body }): DueDelivery => ({
    delivery: {
      deliveryId,
      endpointId,
      event,
      schemaVersion,
      sequence,
      attempt: 1,
      storedAt: nowMs,
      dueAt: nowMs,
      redriveOf: of,
      ...(entity === undefined ? {} : { entity }),
      ...(traceparent === undefined ? {} : { traceparent })
    },
    body
  }))
})

const redriveOf = Effect.fnUntraced(function* (sequence: number) {
  const dueAt = yield* Clock.currentTimeMillis
  const abandoned = Option.getOrUndefined(Option.flatMap(yield* messageAt("ABANDONED", sequence), readAbandoned))
  if (abandoned === undefined) return Option.none<DueDelivery>()
  const { delivery, body } = abandoned.due
  const { previousEndedAt: _previous, key: _key, ...first } = delivery
  const again = { redriveOf: delivery.deliveryId, deliveryId: redriveId(delivery.deliveryId, sequence) }
  const due: DueDelivery = { delivery: { ...first, ...again, attempt: 1, dueAt }, body }
  if (!isBodyLeftOut(abandoned)) return Option.some(due)
  return Option.map(yield* eventAt(delivery.sequence), (event): DueDelivery => ({ ...due, body: event.body }))
})

// The same id for the same abandoned message, so that a redrive restarted after a crash sends no second one.
const redriveId = (deliveryId: string, sequence: number) => deliveryIdFrom(`redrive ${deliveryId} ${sequence}`)

const messageAt = Effect.fnUntraced(function* (stream: string, sequence: number) {
  const found = yield* (yield* StreamReader).next(stream, sequence)
  return Option.filter(found, (message) => message.sequence === sequence)
})

// What was delivered once is not judged again.
const anyType: DeclaredTypes = { at: () => undefined, takesUndeclared: true }

const eventAt = Effect.fnUntraced(function* (sequence: number) {
  const read = Option.flatMap(yield* messageAt("EVENTS", sequence), (message) =>
    Result.getSuccess(readStoredEvent(message, anyType))
  )
  return Option.map(read, ({ event }) => event)
})
