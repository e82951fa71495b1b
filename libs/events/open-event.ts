/**
 * An event as a message brings it in, by NATS or HTTP: an envelope of ours, or a CloudEvent, which becomes one. Nothing
 * of it is judged yet. Pure.
 */
import { Result } from "effect"
import type { Fault } from "#base"
import { parseUnambiguousJson, unmarked } from "#base/json"
import {
  type CloudEventEnvelope,
  type CloudEventMessage,
  cloudEventMode,
  isCloudEvent,
  readCloudEvent,
  type ReadOptions
} from "#events/cloudevents"

/** A message with an event. Headers are found by any case of their names. */
export interface EventMessage {
  readonly data: Uint8Array
  readonly header: (name: string) => string | undefined
  readonly headerNames?: () => ReadonlyArray<string>
}

export interface OpenedEvent {
  readonly envelope: unknown
  /** What receivers get: of an envelope the bytes as they came, without a byte order mark. */
  readonly body: Uint8Array
  /** It came as a CloudEvent, which its source and its id tell from all others. */
  readonly isCloudEvent: boolean
}

/** The same message, read with the same options, gives the same bytes. */
export const openEvent = (
  message: EventMessage,
  options: ReadOptions
): Result.Result<OpenedEvent, ReadonlyArray<Fault>> => {
  const { data: body } = message
  const headers = cloudEventHeaders(message)
  const asCloudEvent = () => Result.map(readCloudEvent({ headers, body }, options), cameAsCloudEvent)
  if (headers !== noHeaders && cloudEventMode(headers) !== undefined) return asCloudEvent()
  return Result.flatMap(parseUnambiguousJson(body), (envelope) =>
    isCloudEvent(envelope) ? asCloudEvent() : Result.succeed({ envelope, body: unmarked(body), isCloudEvent: false })
  )
}

export const cameAsCloudEvent = (event: CloudEventEnvelope): OpenedEvent => ({ ...event, isCloudEvent: true })

/** Headers of NATS keep their case, and a CloudEvent's may have any. */
const cloudEventHeaders = ({ header, headerNames }: EventMessage): CloudEventMessage["headers"] => {
  const names = headerNames?.().filter(isOfCloudEvent) ?? []
  return names.length === 0 ? noHeaders : Object.fromEntries(names.map((name) => [name.toLowerCase(), header(name)]))
}

// What nearly every event has.
const noHeaders: CloudEventMessage["headers"] = {}
const lowerCase = 0x20
const c = "c".charCodeAt(0)

const isOfCloudEvent = (name: string) =>
  // Every event is read: the pattern alone would take half a microsecond for the broker's own names.
  (name.charCodeAt(0) | lowerCase) === c && /^(?:ce-|content-type$)/iu.test(name)
