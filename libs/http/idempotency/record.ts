/**
 * The stored state of an idempotency key, and what it means for the next request with that key. Pure. An answer is kept
 * as it went out: status, headers, content type and the very bytes.
 */
import { hash } from "node:crypto"
import { Schema } from "effect"
import { HttpServerResponse } from "effect/http"
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

/** The hash of workspace, route and key: the store holds nothing that a caller wrote. */
export const recordKey = (workspace: string, route: string, key: string): string =>
  hash("sha256", JSON.stringify([workspace, route, key]), "hex")

export type Standing =
  | { readonly _tag: "Free" }
  | { readonly _tag: "InFlight" }
  | { readonly _tag: "OtherRequest" }
  | { readonly _tag: "Answered"; readonly answer: StoredAnswer }

export const standingOf = (record: IdempotencyRecord, fingerprint: string): Standing => {
  if (record.state === "released") return { _tag: "Free" }
  if (record.fingerprint !== fingerprint) return { _tag: "OtherRequest" }
  return record.state === "working" ? { _tag: "InFlight" } : { _tag: "Answered", answer: record.answer }
}

export const answerBytesMax = 65_536
const headerCharactersMax = 4_096
// The body has its own fields for these, or they belong to a connection.
const notKept = new Set(["content-type", "content-length", "connection", "transfer-encoding", "date"])

/** Undefined for an answer that is too large, or that is made while it is sent. */
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
