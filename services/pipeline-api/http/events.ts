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
  const owner = `token:${label ?? tokenId}`
  const arrived = events.map((event, index) => ({
    owner,
    event,
    id: key === undefined ? cloudEventId(event) : digestOf([workspace, key, String(index)])
  }))
  const store = Effect.gen(function* () {
    const stored = yield* intake.publish(arrived)
    const items = yield* accepted(Result.mapError(stored, (faults) => placed(faults, isList)))
    return jsonAnswer({ items }, { status: 201 })
  })
  const bodies = events.map(({ body: text }) => Buffer.from(text).toString("base64"))
  const fingerprint = digestOf([isList ? "a list" : "one", ...bodies])
  // An owner's keys are its own: another would be answered for an event that it may not publish.
  const request = { workspace, route: `POST ${route} ${owner}`, key, fingerprint }
  return yield* (yield* Idempotency).run(request, refusing(store))
})

/** Faults become the fields of a refusal, by their JSON pointers. */
const accepted = Effect.fnUntraced(function* <A>(read: Result.Result<A, ReadonlyArray<Fault>>) {
  if (Result.isSuccess(read)) return read.success
  const faults = (yield* Rejections).reportable(read.failure)
  return yield* validationFailed(Object.fromEntries(faults.map(({ path, message }) => [path || "body", message])))
})

/** What tells a CloudEvent from all others, so that one that comes twice is stored once. */
const cloudEventId = ({ envelope, isCloudEvent }: OpenedEvent) => {
  const { cloudEvent } = envelope as Pick<Envelope, "cloudEvent">
  return isCloudEvent && cloudEvent !== undefined ? digestOf([cloudEvent.source, cloudEvent.id]) : undefined
}

/** Of texts as a list: neither their bounds nor their characters matter to a header. */
const digestOf = (texts: ReadonlyArray<string>) => hash("sha256", JSON.stringify(texts), "hex")

export const eventRoutes = routesOf(EventsGroup, { publishEvents: () => publishEvents }, apiOptions)
