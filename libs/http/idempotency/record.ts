/**
 * A request with an idempotency key: its identity, the stored state of its key, and what that state means for the next
 * request with the key. An answer is kept as it was sent: status, headers, content type and the exact bytes.
 */
import { hash } from "node:crypto"
import { Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpCall } from "../HttpCall.ts"
import { validationFailed, type WireError } from "../WireError.ts"
import type { Answer } from "../answers.ts"

const Working = Schema.Struct({
  state: Schema.Literal("working"),
  /** The holder of the claim, unique among all that ever claimed the key. */
  holder: Schema.String,
  fingerprint: Schema.String
})
/** Free again. A key is never deleted: a waiting request takes it by its revision. */
const Released = Schema.Struct({ state: Schema.Literal("released"), holder: Schema.String })
const StoredAnswer = Schema.Struct({
  status: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
  contentType: Schema.NullOr(Schema.String),
  base64: Schema.String
})
const Answered = Schema.Struct({
  state: Schema.Literal("answered"),
  holder: Schema.String,
  fingerprint: Schema.String,
  answer: StoredAnswer
})

interface StoredAnswer extends Schema.Schema.Type<typeof StoredAnswer> {}
export const IdempotencyRecord = Schema.Union([Working, Released, Answered])
export type IdempotencyRecord = Schema.Schema.Type<typeof IdempotencyRecord>

/** What the first run of a request chose, stored beside the record of its key. */
export const ChoiceRecord = Schema.Struct({ fingerprint: Schema.String, choice: Schema.Int })
export interface ChoiceRecord extends Schema.Schema.Type<typeof ChoiceRecord> {}

/** The hash of workspace, route and key: the store holds nothing that a caller wrote. */
export const recordKey = (workspace: string, route: string, ...key: ReadonlyArray<string>): string =>
  hash("sha256", JSON.stringify([workspace, route, ...key]), "hex")

export type KeyState =
  | { readonly _tag: "Free" }
  | { readonly _tag: "InFlight" }
  | { readonly _tag: "OtherRequest" }
  | { readonly _tag: "Answered"; readonly answer: StoredAnswer }

export const keyStateOf = (record: IdempotencyRecord, fingerprint: string): KeyState => {
  if (record.state === "released") return { _tag: "Free" }
  if (record.fingerprint !== fingerprint) return { _tag: "OtherRequest" }
  return record.state === "working" ? { _tag: "InFlight" } : { _tag: "Answered", answer: record.answer }
}

export const answerBytesMax = 65_536
const headerCharactersMax = 4_096
// The body has its own fields for these, or they belong to a connection.
const notKept = new Set(["content-type", "content-length", "connection", "transfer-encoding", "date"])

/** Undefined for an answer that is too large, or that is produced while it is sent. */
export const storedAnswer = ({ status, headers, body }: Answer): StoredAnswer | undefined => {
  const kept = Object.entries(headers).filter(([name]) => !notKept.has(name))
  const characters = kept.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (characters > headerCharactersMax) return undefined
  const stored = { status, headers: Object.fromEntries(kept) }
  if (body._tag === "Empty") return { ...stored, contentType: null, base64: "" }
  if (body._tag !== "Uint8Array" || body.body.length > answerBytesMax) return undefined
  return { ...stored, contentType: body.contentType, base64: Buffer.from(body.body).toString("base64") }
}

/** The answer again, marked as a replay. */
export const replayOf = ({ status, headers, contentType, base64 }: StoredAnswer): Answer => {
  const marked = { ...headers, "idempotent-replayed": "true" }
  return contentType === null
    ? HttpServerResponse.empty({ status, headers: marked })
    : HttpServerResponse.uint8Array(Buffer.from(base64, "base64"), { status, headers: marked, contentType })
}

// These statuses ask for a retry: a kept one would refuse the retry for a day.
const retryable = new Set([408, 425, 429])

/** Whether an answer of this status is final for its request. */
export const isFinal = (status: number): boolean => status < 500 && !retryable.has(status)

const charactersMax = 255
// The limit counts characters, not UTF-16 units.
const acceptable = /^[^\p{Cc}]{1,255}$/u

/** The header `Idempotency-Key`, or `field`, the `idempotency_key` of the form or the JSON body; both if they agree. */
export const idempotencyKey = (field: string | undefined): Effect.Effect<string | undefined, WireError, HttpCall> =>
  Effect.flatMap(HttpCall, (call) => {
    const header = Option.getOrUndefined(call.header("idempotency-key"))
    const faults: Record<string, string> = {}
    if (header !== undefined && !acceptable.test(header)) faults["Idempotency-Key"] = rule
    if (field !== undefined && !acceptable.test(field)) faults["idempotency_key"] = rule
    if (header !== undefined && field !== undefined && header !== field) {
      faults["idempotency_key"] ??= "differs from the header Idempotency-Key"
    }
    return Object.keys(faults).length > 0 ? Effect.fail(validationFailed(faults)) : Effect.succeed(header ?? field)
  })

const rule = `must be 1 to ${charactersMax} characters, none of them a control character`

/**
 * A fingerprint covers everything asked for, however it was written. The order of parts or keys does not count, nor do
 * boundaries, nor the file names and types that client libraries make up. A part of a form by its name and the SHA-256
 * of its bytes.
 */
export interface PartDigest {
  readonly name: string
  readonly sha256: string
}

/** SHA-256 in hex over all parts of a form. */
export const formFingerprint = (parts: ReadonlyArray<PartDigest>): string => {
  const lines = parts.map(({ name, sha256 }) => JSON.stringify([name, sha256]))
  return hash("sha256", `form\n${inOrder(lines).join("\n")}`, "hex")
}

/**
 * SHA-256 in hex of a decoded JSON value, whose reader has bounded the depth. `nullIsAbsent`: for an API that omits
 * nulls.
 */
export const jsonFingerprint = (value: unknown, { nullIsAbsent = false } = {}): string =>
  hash("sha256", `json\n${canonical(value, nullIsAbsent ? null : undefined)}`, "hex")

/** `absent`: what is omitted from an object, beside undefined. */
const canonical = (value: unknown, absent: null | undefined): string => {
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, absent)).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined || member === absent ? [] : [`${JSON.stringify(key)}:${canonical(member, absent)}`]
  )
  return `{${inOrder(members).join(",")}}`
}

// Ordered by code unit, which is the same on every machine, whatever its language.
const inOrder = (lines: ReadonlyArray<string>) => lines.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
