/**
 * Codecs and headers: how a value becomes a message and back. Every message that enters a role is decoded here: one
 * that does not fit yields all its faults with their paths, never a half-read value.
 */
import type { MsgHdrs } from "@nats-io/nats-core"
import { MsgHdrsImpl } from "@nats-io/nats-core/internal"
import { Result, type Schema } from "effect"
import { boundedDecoder, type Fault, pointedFaults } from "#base"
import { parseBoundedText, parseJson } from "#base/json"

/** A message on the bus. Header names are case-sensitive. */
export interface RawMessage {
  readonly data: Uint8Array
  readonly header: (name: string) => string | undefined
  /** Of a question: where it arrived, and the names of all its headers. */
  readonly subject?: string
  readonly headerNames?: () => ReadonlyArray<string>
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

/** Decodes JSON text, such as a header, that fits `schema`. */
export const jsonTextDecoder = <A>(schema: Schema.Codec<A, A>): ((text: string) => Decoded<A>) => {
  const decode = boundedDecoder(schema)
  return (text) => Result.flatMap(parseBoundedText(text), (json) => Result.mapError(decode(json), pointedFaults))
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
