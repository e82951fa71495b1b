/**
 * The attributes of a CloudEvent 1.0: their names, types and rules, as the specification has them, and the bounds that
 * keep them fit for headers. Pure.
 */
import { Result, Schema } from "effect"
import { EventName, type Fault, Timestamp } from "#base"

/** `true` and `false`, whole numbers of 32 bits, and text; times, addresses and bytes are text. */
export type AttributeValue = string | number | boolean

export type Attributes = Readonly<Record<string, AttributeValue>>

export const specVersion = "1.0"

// They become headers, where each byte can need three characters; a receiver reads 16 kB of headers.
const attributesBytesMax = 4_096

/** The rules of the attributes that the specification names; what breaks one, as a text. */
const rules: Readonly<Record<string, (value: AttributeValue) => string | undefined>> = {
  specversion: (value) => (value === specVersion ? undefined : `not "${specVersion}"`),
  id: (value) => nonEmpty(value),
  source: (value) => nonEmpty(value) ?? (isUriReference(value) ? undefined : "not a URI-reference"),
  type: (value) => (isEventName(value) ? undefined : "not lower-case tokens joined by dots, 100 characters at most"),
  time: (value) => (isTime(value) ? undefined : "not an RFC 3339 time on a day that exists"),
  subject: (value) => nonEmpty(value),
  dataschema: (value) => (isUriReference(value) && isAbsolute.test(value) ? undefined : "not an absolute URI"),
  datacontenttype: (value) => (isJsonType(value) ? undefined : "not JSON, and an event's data is a JSON object")
}

export const requiredAttributes = ["specversion", "id", "source", "type"]

const nonEmpty = (value: AttributeValue) => (typeof value === "string" && value !== "" ? undefined : "not a text")
const isEventName = Schema.is(EventName)
const isTimestamp = Schema.is(Timestamp)
/** RFC 3339 takes `t` and `z` too. */
export const timeText = (time: AttributeValue) => String(time).toUpperCase()
const isTime = (value: AttributeValue) => typeof value === "string" && isTimestamp(timeText(value))

export const isUriReference = (value: unknown): value is string =>
  typeof value === "string" &&
  /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/u.test(value) &&
  value.indexOf("#") === value.lastIndexOf("#")
const isAbsolute = /^[A-Za-z][A-Za-z0-9+.-]*:./u

const isJsonType = (value: AttributeValue) => {
  const [mediaType = ""] = String(value).toLowerCase().split(";", 1)
  return /^[^\s/]+\/(?:json|\S*\+json)$/u.test(mediaType.trim()) && /^[\x20-\x7e]+$/u.test(String(value))
}

const namePattern = /^[a-z0-9]+$/u
/** No String of the specification holds control characters, lone surrogates or noncharacters. */
export const isAttributeText = (text: string) => !/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(text)

/** Checks the attributes that a message gives; `null` is the same as none. */
export const checkedAttributes = (
  given: Readonly<Record<string, unknown>>
): Result.Result<Attributes, ReadonlyArray<Fault>> => {
  const present = Object.entries(given).filter(([, value]) => value !== null)
  const names = new Set(present.map(([name]) => name))
  const faults: Array<Fault> = requiredAttributes
    .filter((name) => !names.has(name))
    .map((name) => ({ path: `/${name}`, message: "is missing" }))
  for (const [name, value] of present) {
    const message = faultOf(name, value)
    if (message !== undefined) faults.push({ path: `/${name}`, message })
  }
  const attributes = Object.fromEntries(present) as Attributes
  if (faults.length === 0 && bytesOf(attributes) > attributesBytesMax) {
    faults.push({ path: "", message: `attributes of more than ${attributesBytesMax} bytes` })
  }
  return faults.length === 0 ? Result.succeed(attributes) : Result.fail(faults.slice(0, faultsMax))
}

// They have a place of their own in the envelope.
const elsewhere = ["specversion", "type", "time", "data"]

/** What is wrong with an envelope's `cloudEvent`, which a publisher can write by hand. */
export const cloudEventFaults = (given: Readonly<Record<string, unknown>>): ReadonlyArray<Fault> => {
  const misplaced = elsewhere.filter((name) => Object.hasOwn(given, name))
  const checked = checkedAttributes({ ...given, specversion: specVersion, type: "event" })
  return [
    ...misplaced.map((name) => ({ path: `/${name}`, message: "has its place in the envelope itself" })),
    ...(Result.isFailure(checked) ? checked.failure.filter(({ path }) => !misplaced.includes(path.slice(1))) : [])
  ]
}

const faultsMax = 50

const faultOf = (name: string, value: unknown): string | undefined => {
  if (name === "data_base64") return "binary data is not taken: an event's data is a JSON object"
  if (!namePattern.test(name)) return "an attribute's name has lower-case letters and digits alone"
  if (!isAttributeValue(value)) return "neither text, a whole number of 32 bits, nor true or false"
  if (typeof value === "string" && !isAttributeText(value)) return "a character that no attribute may hold"
  return Object.hasOwn(rules, name) ? rules[name]?.(value) : undefined
}

const isAttributeValue = (value: unknown): value is AttributeValue =>
  typeof value === "string" || typeof value === "boolean" || (Number.isInteger(value) && value === Number(value) << 0)

const utf8 = new TextEncoder()
/** Those that have a place outside of `cloudEvent` are bounded by themselves. */
const bytesOf = ({ specversion: _version, type: _type, time: _time, ...attributes }: Attributes) =>
  Object.entries(attributes).reduce((sum, [name, value]) => sum + name.length + utf8.encode(String(value)).length, 0)
