/**
 * Calls to a stream's leader on the hot path: store a message, read the last one of a subject. They bypass the client
 * library, which creates an error with a stack trace for each missing message; answers are parsed by hand, because a
 * schema would cost more.
 */
import type { Msg, MsgHdrs } from "@nats-io/nats-core"
import { Effect, type Option, Result } from "effect"
import { parseJson } from "#base/json"
import { type BusError, BusUnavailable, fromApiError } from "../errors.ts"
import { headerReader } from "../message.ts"
import type { SourceMessage } from "../pages.ts"
import type { BrokerCalls } from "./calls.ts"
import { readHeaders } from "./headers.ts"

export interface StreamWrite {
  readonly subject: string
  readonly data: Uint8Array
  readonly headers: MsgHdrs
}

/**
 * The sequence that the broker assigned to a message. `duplicate`: this message id was already stored, so nothing new
 * was.
 */
export interface Stored {
  readonly stream: string
  readonly sequence: number
  readonly duplicate: boolean
}

/**
 * Sends `ahead` and `last` in one go and waits for the confirmation of `last`, which in an atomic batch confirms all.
 * Fails with `BusUnavailable` when none arrives in time: whether it was stored is then unknown.
 */
export type StreamWrites = (
  operation: string,
  last: StreamWrite,
  preceding?: ReadonlyArray<StreamWrite>
) => Effect.Effect<Stored, BusError>

export const streamWrites =
  ({ call }: BrokerCalls): StreamWrites =>
  (operation, last, preceding) =>
    call(operation, storedOf, last, preceding)

/** Reads the broker's answer to a message that was published to a stream. */
const storedOf = (operation: string, message: Msg): Effect.Effect<Stored, BusError> => {
  if (message.data.length === 0 && message.headers?.code === 503) {
    return new BusUnavailable({ operation, detail: "no stream takes this subject" })
  }
  const answer = parseAnswer(operation, message)
  if (Result.isFailure(answer)) return Effect.fail(answer.failure)
  const { stream, seq, duplicate } = answer.success
  if (typeof stream === "string" && Number.isSafeInteger(seq)) {
    return Effect.succeed({ stream, sequence: seq as number, duplicate: duplicate === true })
  }
  return new BusUnavailable({ operation, detail: "an answer without a stream and a sequence" })
}

/** The last message of a stream on a subject, read from the leader so that no lagging replica answers. */
export type LastMessage = (stream: string, subject: string) => Effect.Effect<Option.Option<SourceMessage>, BusError>

const utf8 = new TextEncoder()

export const lastMessage =
  ({ call }: BrokerCalls): LastMessage =>
  (stream, subject) =>
    call(`read ${stream}`, messageOf, {
      subject: `$JS.API.STREAM.MSG.GET.${stream}`,
      data: utf8.encode(JSON.stringify({ last_by_subj: subject }))
    })

const messageOf = (operation: string, answer: Msg): Effect.Effect<Option.Option<SourceMessage>, BusError> => {
  if (answer.data.length === 0 && answer.headers?.code === 503) {
    return new BusUnavailable({ operation, detail: "JetStream does not answer" })
  }
  const parsed = parseFound(operation, answer)
  if (Result.isFailure(parsed)) {
    return parsed.failure._tag === "BusNotFound" ? Effect.succeedNone : Effect.fail(parsed.failure)
  }
  if (parsed.success === undefined) return Effect.succeedNone
  const message = parsed.success["message"] as StoredMessage | undefined
  if (typeof message?.subject !== "string" || !Number.isSafeInteger(message.seq)) {
    return new BusUnavailable({ operation, detail: "an answer without a message" })
  }
  return Effect.succeedSome(sourceOf(message))
}

/** The broker's format: bytes in base64, data and headers omitted when empty. */
interface StoredMessage {
  readonly subject: string
  readonly seq: number
  readonly time: string
  readonly data?: string
  readonly hdrs?: string
}

const sourceOf = ({ subject, seq, time, data = "", hdrs }: StoredMessage): SourceMessage => {
  // Decoded on demand, because few readers need headers.
  const headers = () => (hdrs === undefined ? undefined : readHeaders(Buffer.from(hdrs, "base64")))
  return {
    subject,
    sequence: seq,
    storedAtMs: Date.parse(time),
    data: Buffer.from(data, "base64"),
    header: (name) => headerReader(headers())(name),
    headerNames: () => headers()?.keys() ?? []
  }
}

/** JetStream's JSON answer: the result, or its error. */
type BrokerAnswer = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is BrokerAnswer => typeof value === "object" && value !== null

/** Fails with the broker's error; an answer that is not a JSON object counts as one. */
export const parseAnswer = (operation: string, message: Pick<Msg, "data">): Result.Result<BrokerAnswer, BusError> =>
  Result.flatMap(readAnswer(operation, message), (answer) => unlessWrong(operation, answer))

/**
 * Like `parseAnswer`, but undefined when the message does not exist: a missing message is common, and an error with its
 * stack trace costs more than the rest of the read.
 */
export const parseFound = (
  operation: string,
  message: Pick<Msg, "data">
): Result.Result<BrokerAnswer | undefined, BusError> =>
  Result.flatMap(readAnswer(operation, message), (answer) =>
    isRecord(answer["error"]) && answer["error"]["err_code"] === noMessageFound
      ? Result.succeed(undefined)
      : unlessWrong(operation, answer)
  )

const noMessageFound = 10_037

const readAnswer = (operation: string, { data }: Pick<Msg, "data">): Result.Result<BrokerAnswer, BusError> => {
  const parsed = parseJson(data)
  if (Result.isSuccess(parsed) && isRecord(parsed.success)) return Result.succeed(parsed.success)
  return Result.fail(new BusUnavailable({ operation, detail: "an answer we cannot read" }))
}

const unlessWrong = (operation: string, answer: BrokerAnswer): Result.Result<BrokerAnswer, BusError> => {
  const { error } = answer
  if (error === undefined) return Result.succeed(answer)
  if (!isRecord(error)) {
    return Result.fail(new BusUnavailable({ operation, detail: "an error we cannot read" }))
  }
  const { err_code: code, code: status, description } = error
  return Result.fail(fromApiError(operation, Number(code ?? 0), Number(status ?? 0), String(description)))
}
