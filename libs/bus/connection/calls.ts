/**
 * Sends messages to the broker and waits for its answers. One subscription receives every answer, and one sweep finds
 * the overdue ones: the client library's timer, promise and error object per message would cost a third of a publish.
 * This is a hot path, hence callbacks and a plain map.
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/nats-core"
import { Clock, Effect, Schedule } from "effect"
import { type BusError, BusRefused, BusUnavailable, toBusError } from "../errors.ts"
import type { SendBuffer } from "./event-loop.ts"

export interface Outgoing {
  readonly subject: string
  readonly data: Uint8Array
  readonly headers?: MsgHdrs
}

/** Reads an answer. It must not throw. */
export type ReadAnswer<A> = (operation: string, answer: Msg) => Effect.Effect<A, BusError>

export interface BrokerCalls {
  /**
   * Sends `ahead` and `last` in one go and waits for the answer to `last`. Fails with `BusUnavailable` when none
   * arrives in time: whether the broker acted is then unknown. `withinMs`: 5 s by default, accurate to half a second.
   */
  readonly call: <A>(
    operation: string,
    read: ReadAnswer<A>,
    last: Outgoing,
    preceding?: ReadonlyArray<Outgoing>,
    withinMs?: number
  ) => Effect.Effect<A, BusError>
  /** Waits for an answer from within this process, as `call` does. `pose` hands the question over. */
  readonly near: <A>(
    operation: string,
    subject: string,
    withinMs: number,
    pose: (respond: (answer: A) => void) => void
  ) => Effect.Effect<A, BusError>
  /** Fails all waiting calls when the connection is lost. */
  readonly failAll: () => void
  /** Fails the calls to a subject that the broker forbids to `user`. */
  readonly forbid: (subject: string, user: string | undefined) => void
}

interface Wanted {
  readonly operation: string
  readonly subject: string
  readonly withinMs: number
}

interface Waiting extends Wanted {
  readonly dueAtMs: number
  answer: (message: Msg) => void
  fail: (error: BusError) => void
}

const noMore = () => undefined

// Long enough for a leader election, short enough to leave time within a caller's own deadline.
const answerWithinMs = 5_000
const sweepEveryMs = 500

export const brokerCalls = Effect.fnUntraced(function* (
  connection: NatsConnection,
  sends: SendBuffer,
  inboxes: string
) {
  const clock = yield* Clock.Clock
  const inbox = `${createInbox(inboxes)}.`
  const { enter, isWaiting, take, failWhere } = pendingCalls(clock)

  connection.subscribe(`${inbox}*`, {
    callback: (error, message) => {
      if (error === null) take(message.subject.slice(inbox.length))?.answer(message)
    }
  })

  const sweep = Effect.sync(() => {
    const nowMs = clock.currentTimeMillisUnsafe()
    failWhere(
      ({ dueAtMs }) => dueAtMs < nowMs,
      ({ operation, withinMs }) => new BusUnavailable({ operation, detail: `no answer within ${withinMs} ms` })
    )
  })
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(sweepEveryMs)))

  const transmit = (token: string, operation: string, preceding: ReadonlyArray<Outgoing>, last: Outgoing) => {
    if (!isWaiting(token)) return
    try {
      for (const message of preceding) publish(connection, message)
      publish(connection, last, inbox + token)
    } catch (cause) {
      take(token)?.fail(toBusError(operation)(cause))
    }
  }

  const calls: BrokerCalls = {
    call: (operation, read, last, preceding = [], withinMs = answerWithinMs) =>
      Effect.callback((resume) => {
        const token = enter(
          { operation, subject: last.subject, withinMs },
          (error) => resume(Effect.fail(error)),
          (message) => resume(read(operation, message))
        )
        sends.add(() => transmit(token, operation, preceding, last))
        return Effect.sync(() => take(token))
      }),
    near: (operation, subject, withinMs, pose) =>
      Effect.callback((resume) => {
        const token = enter({ operation, subject, withinMs }, (error) => resume(Effect.fail(error)), noMore)
        pose((answer) => {
          if (take(token) !== undefined) resume(Effect.succeed(answer))
        })
        return Effect.sync(() => take(token))
      }),
    failAll: () =>
      failWhere(
        () => true,
        ({ operation }) => new BusUnavailable({ operation, detail: "the connection was lost" })
      ),
    forbid: (subject, user) =>
      failWhere(
        (found) => found.subject === subject,
        ({ operation }) => forbidden(operation, subject, user)
      )
  }
  return calls
})

const forbidden = (operation: string, subject: string, user: string | undefined) =>
  new BusRefused({
    operation,
    detail: `not allowed to publish to ${subject}`,
    code: 0,
    forbidden: { user, operation: "publish", subject }
  })

/** The calls waiting for an answer, by the token that the answer carries. */
const pendingCalls = (clock: Clock.Clock) => {
  const waiting = new Map<string, Waiting>()
  let sent = 0

  const enter = (wanted: Wanted, fail: Waiting["fail"], answer: Waiting["answer"]) => {
    const token = (sent++).toString(36)
    const dueAtMs = clock.currentTimeMillisUnsafe() + wanted.withinMs
    waiting.set(token, { ...wanted, dueAtMs, answer, fail })
    return token
  }

  /**
   * Clears the callbacks of the removed entry: a map that fills and empties keeps reallocating its table, and an old
   * table would keep the caller and everything it references alive until a major collection.
   */
  const take = (token: string) => {
    const found = waiting.get(token)
    if (found === undefined) return undefined
    waiting.delete(token)
    const { answer, fail } = found
    found.answer = noMore
    found.fail = noMore
    return { answer, fail }
  }

  const failWhere = (is: (waiting: Waiting) => boolean, error: (waiting: Waiting) => BusError) => {
    for (const [token, found] of waiting) if (is(found)) take(token)?.fail(error(found))
  }

  return { enter, take, failWhere, isWaiting: (token: string) => waiting.has(token) }
}

const publish = (connection: NatsConnection, { subject, data, headers }: Outgoing, reply?: string) =>
  connection.publish(subject, data, {
    ...(headers === undefined ? {} : { headers }),
    ...(reply === undefined ? {} : { reply })
  })

/** Asks on a subject. The broker reports at once when it has no subscriber. */
export type Question = (operation: string, question: Outgoing, withinMs: number) => Effect.Effect<Msg, BusError>

export const question =
  ({ call }: BrokerCalls): Question =>
  (operation, asked, withinMs) =>
    call(operation, answerOf, asked, [], withinMs)

/** The error text when the receiver has gone or never existed. */
export const noResponders = "no responders"

const answerOf: ReadAnswer<Msg> = (operation, answer) =>
  answer.data.length === 0 && answer.headers?.code === 503
    ? Effect.fail(new BusUnavailable({ operation, detail: noResponders }))
    : Effect.succeed(answer)
