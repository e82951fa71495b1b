/**
 * CloudEvents 1.0 as messages bring them in, by HTTP or NATS: their attributes in `ce-` headers (binary), one event as
 * JSON (structured), or a list of them (batch). Each becomes an envelope of ours, whose `details` are the event's data,
 * digit for digit, and whose `cloudEvent` has its other attributes. Faults are JSON pointers into the event as JSON.
 * Pure.
 */
import { Result } from "effect"
import { type Envelope, type Fault, isoTime } from "#base"
import { elementTexts, memberTexts, parseUnambiguousText, utf8Text } from "#base/json"
import { type Attributes, checkedAttributes, isUriReference, requiredAttributes, timeText } from "./attributes.ts"
import { decodedHeaderValue } from "./header-values.ts"

export interface CloudEventMessage {
  /** By lower-case name, as Node has them; of a repeated header, one value. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Uint8Array
}

export interface ReadOptions {
  /** The moment of receipt: when an event without a time occurred. Epoch milliseconds. */
  readonly receivedAtMs: number
  /** The version of an event type's schema; 1.0.0 where it is not known. */
  readonly schemaVersionOf?: (type: string) => string | undefined
}

/** An envelope made of a CloudEvent, and its bytes: the same for the same message and moment of receipt. */
export interface CloudEventEnvelope {
  readonly envelope: Envelope
  readonly body: Uint8Array
}

type Read<A> = Result.Result<A, ReadonlyArray<Fault>>

export type CloudEventMode = "binary" | "structured" | "batch"

const attributePrefix = "ce-"

/** How a message carries CloudEvents, by its headers; undefined for one that does not say so. */
export const cloudEventMode = (headers: CloudEventMessage["headers"]): CloudEventMode | undefined => {
  const contentType = valueOf(headers["content-type"])?.toLowerCase() ?? ""
  if (contentType.startsWith("application/cloudevents-batch")) return "batch"
  if (contentType.startsWith("application/cloudevents")) return "structured"
  const isBinary = requiredAttributes.some((name) => headers[`${attributePrefix}${name}`] !== undefined)
  return isBinary ? "binary" : undefined
}

/** Whether a JSON value is a CloudEvent: one comes without headers from clients older than headers of NATS. */
export const isCloudEvent = (json: unknown): boolean =>
  typeof json === "object" && json !== null && "specversion" in json && !("eventSchemaVersion" in json)

/** The only event of a message. */
export const readCloudEvent = (message: CloudEventMessage, options: ReadOptions): Read<CloudEventEnvelope> => {
  switch (cloudEventMode(message.headers) ?? "structured") {
    case "binary":
      return readBinary(message, options)
    case "structured":
      return Result.flatMap(jsonIn(message), ({ text, json }) => readJson(text, json, options))
    case "batch":
      return fault("", "a batch, where one event is expected")
  }
}

/** The most events of a batch. */
export const cloudEventsMax = 100

/** All events of a message; of a batch with faults, all faults, each with its event's index. */
export const readCloudEvents = (
  message: CloudEventMessage,
  options: ReadOptions
): Read<ReadonlyArray<CloudEventEnvelope>> => {
  if (cloudEventMode(message.headers) !== "batch") {
    return Result.map(readCloudEvent(message, options), (event) => [event])
  }
  return Result.flatMap(jsonIn(message), ({ text, json }) => {
    if (!Array.isArray(json)) return fault("", "a batch is a list of events")
    if (json.length > cloudEventsMax) return fault("", `a batch of more than ${cloudEventsMax} events`)
    const texts = elementTexts(text)
    const read = json.map((event, index) => readJson(texts[index] ?? "", event, options))
    const faults = read.flatMap((each, index) =>
      Result.isFailure(each) ? each.failure.map(({ path, message }) => ({ path: `/${index}${path}`, message })) : []
    )
    return faults.length > 0 ? Result.fail(faults) : Result.all(read)
  })
}

const fault = (path: string, message: string) => Result.fail([{ path, message }])

const valueOf = (value: string | ReadonlyArray<string> | undefined) => (typeof value === "object" ? value[0] : value)

const jsonIn = ({ body }: CloudEventMessage) =>
  Result.flatMap(utf8Text(body), (text) => Result.map(parseUnambiguousText(text), (json) => ({ text, json })))

const readJson = (text: string, json: unknown, options: ReadOptions): Read<CloudEventEnvelope> => {
  if (!isObject(json)) return fault("", "not a JSON object")
  const { data, ...given } = json
  return Result.flatMap(checkedWith(data, given), (attributes) =>
    Result.succeed(envelopeOf(attributes, { data, text: memberTexts(text).get("data") ?? "null" }, options))
  )
}

const readBinary = ({ headers, body }: CloudEventMessage, options: ReadOptions): Read<CloudEventEnvelope> => {
  const contentType = valueOf(headers["content-type"])
  const given: Record<string, unknown> = contentType === undefined ? {} : { datacontenttype: contentType }
  const faults: Array<Fault> = []
  for (const [name, value] of Object.entries(headers)) {
    const encoded = valueOf(value)
    if (!name.startsWith(attributePrefix) || encoded === undefined) continue
    const attribute = name.slice(attributePrefix.length)
    const decoded = decodedHeaderValue(encoded)
    if (attribute === "data" || decoded === undefined) {
      const message = decoded === undefined ? "percent-encoded bytes that are no UTF-8" : "no name of an attribute"
      faults.push({ path: `/${attribute}`, message })
    } else given[attribute] = isUriEncodedOnce(attribute, encoded, decoded) ? encoded : decoded
  }
  const data = Result.flatMap(utf8Text(body), (text) =>
    text.trim() === "" ? Result.succeed({ data: null, text: "null" }) : dataIn(text)
  )
  const attributes = checkedWith(Result.isSuccess(data) ? data.success.data : null, given)
  if (Result.isSuccess(data) && Result.isSuccess(attributes) && faults.length === 0) {
    return Result.succeed(envelopeOf(attributes.success, data.success, options))
  }
  return Result.fail([
    ...faults,
    ...(Result.isFailure(attributes) ? attributes.failure : []),
    ...(Result.isFailure(data) ? data.failure.map((each) => ({ ...each, path: `/data${each.path}` })) : [])
  ])
}

/** Widespread SDKs encode no header: the percent signs of their addresses are the addresses' own. */
const isUriEncodedOnce = (attribute: string, encoded: string, decoded: string) =>
  (attribute === "source" || attribute === "dataschema") && !isUriReference(decoded) && isUriReference(encoded)

interface Data {
  readonly data: unknown
  readonly text: string
}

const dataIn = (text: string): Read<Data> =>
  Result.map(parseUnambiguousText(text), (data) => ({ data, text: text.trim() }))

const checkedWith = (data: unknown, given: Readonly<Record<string, unknown>>): Read<Attributes> => {
  const attributes = checkedAttributes(given)
  if (data === undefined || data === null || isObject(data)) return attributes
  const notObject = { path: "/data", message: "not a JSON object" }
  return Result.fail([...(Result.isFailure(attributes) ? attributes.failure : []), notObject])
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const utf8 = new TextEncoder()

const envelopeOf = (
  { specversion: _specversion, type, time, ...cloudEvent }: Attributes,
  { data, text }: Data,
  { receivedAtMs, schemaVersionOf }: ReadOptions
): CloudEventEnvelope => {
  const head = {
    event: String(type),
    eventSchemaVersion: schemaVersionOf?.(String(type)) ?? "1.0.0",
    occurredAt: time === undefined ? isoTime(Math.floor(receivedAtMs)) : timeText(time),
    workItem: null,
    project: null
  }
  const written = `${JSON.stringify(head).slice(0, -1)},"details":${text},"cloudEvent":${JSON.stringify(cloudEvent)}}`
  const details = (data ?? null) as Envelope["details"]
  return { envelope: { ...head, details, cloudEvent } as Envelope, body: utf8.encode(written) }
}
