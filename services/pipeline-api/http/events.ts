/** Events of a deployment's own services over HTTP. */
import { hash } from "node:crypto"
import { Clock, Effect, Result } from "effect"
import { Rejections } from "#bus"
import type { Envelope, Fault } from "#base"
import type { OpenedEvent } from "#events"
import { EventsGroup } from "#pipeline/api"
import {
  Caller,
  callHeaders,
  HttpCall,
  Idempotency,
  idempotencyKey,
  jsonAnswer,
  readBytes,
  requireMediaType,
  routesOf,
  validationFailed
} from "#http"
import { EventIntake } from "../events/EventIntake.ts"
import { placed, requestEvents } from "../events/request-events.ts"
import { apiOptions, refusing } from "./requests.ts"

// A batch of ordinary events; larger ones come in smaller batches.
const bodyBytesMax = 1_024 * 1_024
const mediaTypes = ["application/json", "application/cloudevents+json", "application/cloudevents-batch+json"]

const publishEvents = Effect.gen(function* () {
  const headers = yield* callHeaders
  yield* requireMediaType(...mediaTypes)
  const body = yield* readBytes({ bytesMax: bodyBytesMax })
  const { workspace, label, tokenId } = yield* Caller
  const { route } = yield* HttpCall
  const key = yield* idempotencyKey(undefined)
  const intake = yield* EventIntake
  const { events, isList } = yield* accepted(
    requestEvents({ headers, body }, intake.readingAt(yield* Clock.currentTimeMillis))
  )
  const arrived = events.map((event, index) => ({
    owner: `token:${label ?? tokenId}`,
    event,
    id: key === undefined ? cloudEventId(event) : `${workspace} ${key} ${index}`
  }))
  const store = Effect.gen(function* () {
    const stored = yield* intake.publish(arrived)
    const items = yield* accepted(Result.mapError(stored, (faults) => placed(faults, isList)))
    return jsonAnswer({ items }, { status: 201 })
  })
  const fingerprint = hash("sha256", Buffer.concat(events.map((event) => event.body)), "hex")
  return yield* (yield* Idempotency).run({ workspace, route: `POST ${route}`, key, fingerprint }, refusing(store))
})

/** Faults become the fields of a refusal, by their JSON pointers. */
const accepted = Effect.fnUntraced(function* <A>(read: Result.Result<A, ReadonlyArray<Fault>>) {
  if (Result.isSuccess(read)) return read.success
  const faults = (yield* Rejections).reportable(read.failure)
  return yield* validationFailed(Object.fromEntries(faults.map(({ path, message }) => [path || "body", message])))
})

/** What tells a CloudEvent from all others, so that one that comes twice is stored once. */
const cloudEventId = ({ envelope }: OpenedEvent) => {
  const { cloudEvent } = envelope as Pick<Envelope, "cloudEvent">
  return cloudEvent === undefined ? undefined : `${cloudEvent.source} ${cloudEvent.id}`
}

export const eventRoutes = routesOf(EventsGroup, { publishEvents: () => publishEvents }, apiOptions)
