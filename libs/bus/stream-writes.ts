/**
 * Sends messages to streams and waits for the broker's confirmation. One subscription takes all answers, one
 * sweep finds all that are overdue: a timer, a promise and an error object for each message, as the client
 * library makes them, would cost a third of a publish. This is a hot path: callbacks and a plain map.
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/nats-core"
import { Clock, Effect, Result, Schedule, Schema } from "effect"
import { type BusError, BusRefused, BusUnavailable, fromApiError, toBusError } from "./errors.ts"
import type { Turn } from "./turn.ts"

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

export interface StreamWrites {
  /**
   * Sends `ahead` and `last` in one go and waits for the confirmation of `last`, which in an atomic batch
   * stands for all. `BusUnavailable` when none comes in time: then it is unknown whether it was stored.
   */
  readonly send: (
    operation: string,
    last: StreamWrite,
    ahead?: ReadonlyArray<StreamWrite>
  ) => Effect.Effect<Stored, BusError>
  /** Fails all that wait; for a connection that is lost. */
  readonly failAll: () => void
  /** Fails what was sent to a subject that the broker forbids. */
  readonly forbid: (subject: string) => void
}

interface Waiting {
  readonly operation: string
  readonly subject: string
  readonly sentAtMs: number
  readonly end: (result: Effect.Effect<Stored, BusError>) => void
}

// Long enough for a leader election, short enough that a caller's own deadline is not eaten.
const answerWithinMs = 5_000
const sweepEveryMs = 500

export const streamWrites = Effect.fnUntraced(function* (connection: NatsConnection, turn: Turn, inboxes: string) {
  const clock = yield* Clock.Clock
  const inbox = `${createInbox(inboxes)}.`
  const waiting = new Map<string, Waiting>()
  let sent = 0

  const end = (token: string, result: (waiting: Waiting) => Effect.Effect<Stored, BusError>) => {
    const found = waiting.get(token)
    if (found === undefined) return
    waiting.delete(token)
    found.end(result(found))
  }
  const endWhere = (is: (waiting: Waiting) => boolean, error: (operation: string) => BusError) => {
    for (const [token, found] of waiting) if (is(found)) end(token, ({ operation }) => Effect.fail(error(operation)))
  }

  connection.subscribe(`${inbox}*`, {
    callback: (error, message) => {
      if (error === null) end(message.subject.slice(inbox.length), ({ operation }) => answerOf(operation, message))
    }
  })

  const sweep = Effect.sync(() => {
    const dueMs = clock.currentTimeMillisUnsafe() - answerWithinMs
    endWhere(
      ({ sentAtMs }) => sentAtMs < dueMs,
      (operation) => new BusUnavailable({ operation, detail: `no answer within ${answerWithinMs} ms` })
    )
  })
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEveryMs)))

  const transmit = (token: string, operation: string, ahead: ReadonlyArray<StreamWrite>, last: StreamWrite) => {
    if (!waiting.has(token)) return
    try {
      for (const { subject, data, headers } of ahead) connection.publish(subject, data, { headers })
      connection.publish(last.subject, last.data, { headers: last.headers, reply: inbox + token })
    } catch (cause) {
      end(token, () => Effect.fail(toBusError(operation)(cause)))
    }
  }

  const send: StreamWrites["send"] = (operation, last, ahead = []) =>
    Effect.callback((resume) => {
      const token = (sent++).toString(36)
      waiting.set(token, { operation, subject: last.subject, sentAtMs: clock.currentTimeMillisUnsafe(), end: resume })
      turn.add(() => transmit(token, operation, ahead, last))
      return Effect.sync(() => waiting.delete(token))
    })

  const writes: StreamWrites = {
    send,
    failAll: () =>
      endWhere(
        () => true,
        (operation) => new BusUnavailable({ operation, detail: "the connection was lost" })
      ),
    forbid: (subject) =>
      endWhere(
        (found) => found.subject === subject,
        (operation) => new BusRefused({ operation, detail: `not allowed to publish to ${subject}`, code: 0 })
      )
  }
  return writes
})

const Answer = Schema.fromJsonString(
  Schema.Struct({
    stream: Schema.optionalKey(Schema.String),
    seq: Schema.optionalKey(Schema.Int),
    duplicate: Schema.optionalKey(Schema.Boolean),
    error: Schema.optionalKey(
      Schema.Struct({ code: Schema.Int, err_code: Schema.optionalKey(Schema.Int), description: Schema.String })
    )
  })
)
const decodeAnswer = Schema.decodeUnknownResult(Answer)

const answerOf = (operation: string, message: Msg): Effect.Effect<Stored, BusError> => {
  if (message.data.length === 0 && message.headers?.code === 503) {
    return new BusUnavailable({ operation, detail: "no stream takes this subject" })
  }
  const decoded = decodeAnswer(message.string())
  if (Result.isFailure(decoded)) {
    return new BusUnavailable({ operation, detail: `an answer we cannot read: ${decoded.failure.message}` })
  }
  const { stream, seq, duplicate, error } = decoded.success
  if (error !== undefined) {
    return Effect.fail(fromApiError(operation, error.err_code ?? 0, error.code, error.description))
  }
  if (stream === undefined || seq === undefined) {
    return new BusUnavailable({ operation, detail: "an answer without a stream and a sequence" })
  }
  return Effect.succeed({ stream, sequence: seq, duplicate: duplicate ?? false })
}
