/**
 * Codecs and headers: how a value becomes a message and back. Every message that enters a role is decoded here: one
 * that does not fit yields all its faults with their paths, never a half-read value.
 */
import type { MsgHdrs } from "@nats-io/nats-core"
import { MsgHdrsImpl } from "@nats-io/nats-core/internal"
import { Result, type Schema } from "effect"
import { boundedDecoder, type Fault, parseJsonText, pointedFaults, repeatedKeys, weightMaxOf } from "#base"

/** A message on the bus. Header names are case-sensitive. */
export interface RawMessage {
  readonly data: Uint8Array
  readonly header: (name: string) => string | undefined
}

/** A value turned into bytes and headers. */
export interface EncodedMessage {
  readonly data: Uint8Array
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
}

export interface MessageCodec<A> {
  readonly decode: (message: RawMessage) => Result.Result<A, ReadonlyArray<Fault>>
  readonly encode: (value: A) => EncodedMessage
}

const utf8 = new TextDecoder("utf-8", { fatal: true })
const utf8Encoder = new TextEncoder()
// Most messages fit; encoding here and copying once costs half as much as the encoder's own array.
const desk = new Uint8Array(64 * 1_024)
// The most bytes of one UTF-16 unit.
const utf8BytesMax = 3

const encodeUtf8 = (text: string): Uint8Array =>
  text.length * utf8BytesMax > desk.length
    ? utf8Encoder.encode(text)
    : desk.slice(0, utf8Encoder.encodeInto(text, desk).written)

type Decoded<A> = Result.Result<A, ReadonlyArray<Fault>>

// A publisher can send as much as the broker accepts. No API needs deeper nesting.
const limits = { depthMax: 100, weightMax: weightMaxOf(1_048_576) }

/** Parses UTF-8 JSON strictly, within the limits of messages. */
export const parseJson = (data: Uint8Array): Decoded<unknown> => {
  const text = utf8Text(data)
  return text === undefined ? notJson("not UTF-8") : parsedText(text)
}

/**
 * The same for bytes that are passed on: a duplicate key is a fault, because a receiver could read the value that was
 * not checked.
 */
export const parseUnambiguousJson = (data: Uint8Array): Decoded<unknown> => {
  const text = utf8Text(data)
  if (text === undefined) return notJson("not UTF-8")
  return Result.flatMap(parsedText(text), (json) => {
    const faults = repeatedKeys(text)
    return faults.length === 0 ? Result.succeed(json) : Result.fail(faults)
  })
}

/** A text's bytes without its byte order mark, which readers drop. */
export const unmarked = (data: Uint8Array): Uint8Array =>
  data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data

const utf8Text = (data: Uint8Array) => {
  try {
    return utf8.decode(data)
  } catch {
    return undefined
  }
}

const parsedText = (text: string): Decoded<unknown> => {
  const parsed = parseJsonText(text, limits)
  if (Result.isSuccess(parsed)) return Result.succeed(parsed.success)
  return notJson(`${parsed.failure.reason} at offset ${parsed.failure.offset}`)
}

const notJson = (reason: string) => Result.fail([{ path: "", message: `not UTF-8 JSON: ${reason}` }])

/** Decodes JSON text, such as a header, that fits `schema`. */
export const jsonTextDecoder = <A>(schema: Schema.Codec<A, A>): ((text: string) => Decoded<A>) => {
  const decode = boundedDecoder(schema)
  return (text) => Result.flatMap(parsedText(text), (json) => Result.mapError(decode(json), pointedFaults))
}

const jsonCodecs = new WeakMap<object, unknown>()

/**
 * The body is JSON that fits `schema`, whose values look the same decoded and encoded. Incoming values are checked;
 * outgoing ones are held to the schema by their type. A schema has one codec, by which two roles of a process recognize
 * that they exchange the same values.
 */
export const jsonCodec = <A>(schema: Schema.Codec<A, A>): MessageCodec<A> => {
  // Made from the same schema, so of the same type.
  const known = jsonCodecs.get(schema) as MessageCodec<A> | undefined
  if (known !== undefined) return known
  const codec = newJsonCodec(schema)
  jsonCodecs.set(schema, codec)
  return codec
}

const newJsonCodec = <A>(schema: Schema.Codec<A, A>): MessageCodec<A> => {
  const decode = boundedDecoder(schema)
  return {
    decode: (message) =>
      Result.flatMap(parseJson(message.data), (json) => Result.mapError(decode(json), pointedFaults)),
    encode: (value) => ({ data: encodeUtf8(JSON.stringify(value)), headers: [] })
  }
}

/** Header names that the broker understands. */
export const header = {
  messageId: "Nats-Msg-Id",
  expectedLastSubjectSequence: "Nats-Expected-Last-Subject-Sequence",
  /** The subject whose last sequence is expected, when it is not the message's own. */
  expectedSubject: "Nats-Expected-Last-Subject-Sequence-Subject",
  rollup: "Nats-Rollup",
  ttl: "Nats-TTL",
  schedule: "Nats-Schedule",
  scheduleTarget: "Nats-Schedule-Target",
  batchId: "Nats-Batch-Id",
  batchSequence: "Nats-Batch-Sequence",
  batchCommit: "Nats-Batch-Commit",
  /** On a message that the broker returned or announced: where and when it was stored, and how many follow it. */
  source: "Nats-Stream",
  storedSubject: "Nats-Subject",
  sequence: "Nats-Sequence",
  storedAt: "Nats-Time-Stamp",
  lastSequence: "Nats-Last-Sequence",
  pending: "Nats-Num-Pending",
  traceparent: "traceparent"
} as const

export type HeaderPairs = ReadonlyArray<readonly [name: string, value: string]>

const known: ReadonlySet<string> = new Set(Object.values(header))
const isPlain = (value: string) => !/[\r\n]/u.test(value)

/**
 * Builds the client library's headers, which refuse a CR or LF in a value. Names from the table above skip the
 * library's check of each character.
 */
export const toHeaders = (pairs: HeaderPairs): MsgHdrs => {
  const built = new MsgHdrsImpl()
  for (const [name, value] of pairs) {
    if (known.has(name) && isPlain(value)) built.headers.set(name, [value.trim()])
    else built.set(name, value)
  }
  return built
}

/** Returns one header by its exact name. */
export const headerReader = (headers: MsgHdrs | undefined) => (name: string) => {
  if (headers === undefined) return undefined
  for (const [key, values] of headers) if (key === name) return values[0]
  return undefined
}
