/**
 * An event as a CloudEvent for its receiver, as JSON or with its attributes in headers. One that came as a CloudEvent
 * leaves with its own attributes and data, digit for digit; of any other the data is the whole envelope. Pure.
 */
import { Result } from "effect"
import { memberTexts, utf8Text } from "#base/json"
import { type Attributes, checkedAttributes, isAttributeText, specVersion } from "./attributes.ts"
import { encodedHeaderValue } from "./header-values.ts"

export interface EventToSend {
  readonly type: string
  /** The envelope's bytes. */
  readonly body: Uint8Array
  /** The attributes of an event that did not come as a CloudEvent. */
  readonly id: string
  readonly source: string
  readonly subject?: string | undefined
  /** Its place in EVENTS. */
  readonly sequence: number
  /** Of the trace in which it was published. */
  readonly traceparent?: string | undefined
}

export interface SentCloudEvent {
  /** The content type, and for the binary mode the attributes. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const utf8 = new TextEncoder()

export const structuredCloudEvent = (event: EventToSend): SentCloudEvent => {
  const { attributes, data } = cloudEventOf(event)
  const given = JSON.stringify(attributes)
  return {
    headers: { "Content-Type": "application/cloudevents+json; charset=utf-8" },
    body: utf8.encode(data === undefined ? given : `${given.slice(0, -1)},"data":${data}}`)
  }
}

export const binaryCloudEvent = (event: EventToSend): SentCloudEvent => {
  const { attributes, data } = cloudEventOf(event)
  const { datacontenttype = jsonType, ...others } = attributes
  const headers = Object.entries(others).map(([name, value]) => [`ce-${name}`, encodedHeaderValue(String(value))])
  return {
    headers: { "Content-Type": String(datacontenttype), ...Object.fromEntries(headers) },
    body: utf8.encode(data ?? "")
  }
}

const jsonType = "application/json"

interface CloudEventText {
  readonly attributes: Attributes
  /** JSON; undefined where there is none. */
  readonly data: string | undefined
}

const cloudEventOf = (event: EventToSend): CloudEventText => {
  const envelope = Result.getOrElse(utf8Text(event.body), () => "{}")
  const members = memberTexts(envelope)
  const { type, id, source, subject } = event
  const head = { type, time: JSON.parse(members.get("occurredAt") ?? "null") as string }
  const own = ownAttributes(members.get("cloudEvent"), head)
  const details = members.get("details")
  if (own !== undefined) {
    const data = details === "null" ? undefined : details
    const typed = data === undefined ? own : { datacontenttype: jsonType, ...own }
    return { attributes: { ...added(event), ...typed }, data }
  }
  const entity = subject !== undefined && isAttributeText(subject) ? { subject } : {}
  const given = { specversion: specVersion, id, source, ...head, ...entity, datacontenttype: jsonType }
  return { attributes: { ...given, ...added(event) }, data: envelope }
}

/** A publisher of envelopes can write anything there, which is not the same as a CloudEvent. */
const ownAttributes = (text: string | undefined, head: Readonly<Record<string, string>>) => {
  if (text === undefined) return undefined
  const given = JSON.parse(text) as Readonly<Record<string, unknown>> | null
  const { id, source, ...others } = given ?? {}
  const checked = checkedAttributes({ id, source, ...others, specversion: specVersion, ...head })
  return Result.getOrUndefined(checked)
}

// As texts of one length they are in order, as the extension asks. Sequences have sixteen digits at most.
const sequenceDigits = 16

/** By the extensions for sequence and distributed tracing. */
const added = ({ sequence, traceparent }: EventToSend) => ({
  sequence: String(sequence).padStart(sequenceDigits, "0"),
  ...(traceparent === undefined ? {} : { traceparent })
})
