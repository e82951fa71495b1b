/**
 * Stores messages in streams and reads the broker's confirmation. Its answers are read by hand, for a schema would cost
 * more than all the rest of it; what says neither where the message is nor why it is nowhere is no answer.
 */
import type { Msg, MsgHdrs } from "@nats-io/nats-core"
import { Effect, Result } from "effect"
import type { BrokerCalls } from "./broker-calls.ts"
import { parseAnswer } from "./broker-answers.ts"
import { type BusError, BusUnavailable } from "./errors.ts"

export interface StreamWrite {
  readonly subject: string
  readonly data: Uint8Array
  readonly headers: MsgHdrs
}

/** Where the broker put a message. `duplicate`: it had this message id already and stored nothing. */
export interface Stored {
  readonly stream: string
  readonly sequence: number
  readonly duplicate: boolean
}

/**
 * Sends `ahead` and `last` in one go and waits for the confirmation of `last`, which in an atomic batch
 * stands for all. `BusUnavailable` when none comes in time: then it is unknown whether it was stored.
 */
export type StreamWrites = (
  operation: string,
  last: StreamWrite,
  ahead?: ReadonlyArray<StreamWrite>
) => Effect.Effect<Stored, BusError>

export const streamWrites =
  ({ call }: BrokerCalls): StreamWrites =>
  (operation, last, ahead) =>
    call(operation, storedOf, last, ahead)

/** Of the broker's answer to a message that was published to a stream. */
export const storedOf = (operation: string, message: Msg): Effect.Effect<Stored, BusError> => {
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
