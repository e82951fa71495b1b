/**
 * The last message of a stream on a subject, as the stream's leader has it: no replica that is behind is asked. Past the
 * client library, which makes an error object with its stack for every subject that has none.
 */
import { MsgHdrsImpl } from "@nats-io/nats-core/internal"
import type { Msg } from "@nats-io/nats-core"
import { Effect, type Option, Result } from "effect"
import { parseFound } from "./broker-answers.ts"
import type { BrokerCalls } from "./broker-calls.ts"
import { type BusError, BusUnavailable } from "./errors.ts"
import { headerReader } from "./message-headers.ts"
import type { SourceMessage } from "./read-in-order.ts"

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
    return new BusUnavailable({ operation, detail: "nobody answers for streams" })
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

/** As the broker writes it: bytes in base64, and neither bytes nor headers where there are none. */
interface StoredMessage {
  readonly subject: string
  readonly seq: number
  readonly time: string
  readonly data?: string
  readonly hdrs?: string
}

const sourceOf = ({ subject, seq, time, data = "", hdrs }: StoredMessage): SourceMessage => ({
  subject,
  sequence: seq,
  storedAtMs: Date.parse(time),
  data: Buffer.from(data, "base64"),
  // Few who read a message look at its headers.
  header: (name) => headerReader(hdrs === undefined ? undefined : MsgHdrsImpl.decode(Buffer.from(hdrs, "base64")))(name)
})
