/** Sends deliveries again: each becomes a new delivery of the same event to the same endpoint, which names the old one. */
import { randomUUID } from "node:crypto"
import { Clock, Effect, Option, Result, Stream } from "effect"
import { parseJson, Publisher, StreamReader } from "#bus"
import {
  type Attempt,
  decodeEnvelope,
  type Delivery,
  deliveryPartitionOf,
  endpointIdOf,
  entityOf,
  subjects
} from "#contracts"
import { deliveryHeaders, deliveryIdFrom } from "#webhooks"
import { isWanted, type LineQuery, linesOf, subjectOf } from "./lines.ts"

/** The event's bytes as they were sent; none once EVENTS forgot it. */
export const bodyOf = Effect.fn("bodyOf")(function* ({ sequence }: Pick<Attempt, "sequence">) {
  const found = yield* (yield* StreamReader).next("EVENTS", sequence)
  return Option.flatMap(found, (message) => (message.sequence === sequence ? Option.some(message.data) : Option.none()))
})

/**
 * The id of the new delivery; none once its event is forgotten. With a key the id is made of it: a call that is
 * repeated sends the same delivery, which the broker stores once within its two minutes, and a receiver knows by its id.
 */
export const resend = Effect.fn("resend")(function* (
  { attempt }: { readonly attempt: Attempt },
  key: string | undefined
) {
  const body = yield* bodyOf(attempt)
  const envelope = Option.flatMap(body, (bytes) => Result.getSuccess(Result.flatMap(parseJson(bytes), decodeEnvelope)))
  if (Option.isNone(body) || Option.isNone(envelope)) return Option.none<string>()
  const nowMs = yield* Clock.currentTimeMillis
  const endpointId = endpointIdOf(attempt.endpoint)
  const entity = entityOf(envelope.value.envelope)
  const delivery: Delivery = {
    deliveryId: key === undefined ? randomUUID() : deliveryIdFrom(`resend ${attempt.deliveryId} ${key}`),
    endpointId,
    event: attempt.event,
    schemaVersion: envelope.value.envelope.eventSchemaVersion,
    sequence: attempt.sequence,
    attempt: 1,
    storedAt: nowMs,
    dueAt: nowMs,
    redriveOf: attempt.deliveryId,
    ...(entity === undefined ? {} : { entity })
  }
  yield* (yield* Publisher).publishRaw(
    subjects.deliveriesDue(deliveryPartitionOf(endpointId), endpointId),
    body.value,
    {
      messageId: `${delivery.deliveryId}:1`,
      headers: deliveryHeaders(delivery)
    }
  )
  return Option.some(delivery.deliveryId)
})

export interface Selection extends LineQuery {
  readonly sinceMs: number
  readonly countMax: number
}

/** The deliveries of a selection, each once, the oldest first. */
export const selected = (selection: Selection) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const reader = yield* StreamReader
      const isIn = isWanted(selection)
      const seen = new Set<string>()
      const fromSequence = yield* reader.firstAt("ATTEMPTS", selection.sinceMs)
      // What is attempted while this runs, its own deliveries among it, is not part of it.
      const { lastSequence: toSequence } = yield* reader.bounds("ATTEMPTS")
      return reader.range("ATTEMPTS", { fromSequence, toSequence, subject: subjectOf(selection) }).pipe(
        Stream.flatMap((message) => Stream.fromIterable(linesOf(message))),
        Stream.filter(isIn),
        Stream.filter(({ attempt: { deliveryId } }) => !seen.has(deliveryId) && seen.add(deliveryId) === seen),
        Stream.take(selection.countMax)
      )
    })
  )
