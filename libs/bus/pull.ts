/**
 * Messages of a consumer that acks nothing, pull by pull. A plain callback takes them: everything that a role follows
 * comes through here, and the client library's iterator costs more than the message. A pull is over when all it asked
 * for has come, or its time; whatever else the broker says, its silence too, is a fault.
 */
import { createInbox, type Msg, type NatsConnection, nanos } from "@nats-io/nats-core"
import { Deferred, Effect, type Scope } from "effect"
import { type BusError, BusUnavailable, toBusError } from "./errors.ts"
import type { Nats } from "./Nats.ts"

export interface Pulled {
  readonly stream: string
  readonly consumer: string
  /** Told of every message in its turn; what it answers with is a fault that ends the reading. It must not throw. */
  readonly take: (message: Msg) => string | undefined
}

// A quiet pull is renewed after so long; a broken connection is noticed within two heartbeats.
const expiresMs = 5_000
const heartbeatsMs = 2_500
const silentHeartbeatsMax = 2
// What the broker says of a pull instead of sending a message.
const status = { heartbeat: 100, nothingThere: 404, timeIsOver: 408 } as const

interface Running {
  left: number
  /** With what was wrong. */
  readonly over: Deferred.Deferred<string | undefined>
}

/** Answers with one pull of that many messages, to its end; to be run one after the other, in the same scope. */
export const pulls = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  { stream, consumer, take }: Pulled
): Effect.fn.Return<(messagesMax: number) => Effect.Effect<void, BusError>, never, Scope.Scope> {
  const { connection } = nats
  const operation = `read ${stream}`
  const inbox = createInbox(nats.inboxes)
  let running: Running | undefined
  let isHeard = false
  let asked = 0

  const end = (fault?: string) => {
    const ended = running
    // Before the reader is told, for it may ask for the next one right then.
    running = undefined
    if (ended !== undefined) Deferred.doneUnsafe(ended.over, Effect.succeed(fault))
  }
  const told = (message: Msg) => {
    const { code = 0, description = "" } = message.headers ?? {}
    // Of an earlier pull: it is over already.
    if (message.subject !== `${inbox}.${asked}` || code === status.heartbeat) return
    end(code === status.nothingThere || code === status.timeIsOver ? undefined : `${code} ${description}`)
  }
  const receive = (error: Error | null, message: Msg) => {
    isHeard = true
    if (error !== null) return end(error.message)
    if (message.subject.startsWith(inbox)) return told(message)
    const fault = take(message)
    if (fault !== undefined) return end(fault)
    if (running !== undefined && --running.left <= 0) end()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => connection.subscribe(`${inbox}.*`, { callback: receive })),
    (subscription) => Effect.sync(() => subscription.unsubscribe())
  )

  const begin = (messagesMax: number) => {
    const over = Deferred.makeUnsafe<string | undefined>()
    running = { left: messagesMax, over }
    // Nobody would answer, and nobody would say so.
    if (!nats.isConnected()) {
      end("not connected to the broker")
      return over
    }
    asked += 1
    ask(connection, `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, `${inbox}.${asked}`, messagesMax)
    return over
  }
  const silence = Effect.gen(function* () {
    for (let silent = 0; silent < silentHeartbeatsMax; silent = isHeard ? 0 : silent + 1) {
      isHeard = false
      yield* Effect.sleep(heartbeatsMs)
    }
    return "heartbeats missed"
  })
  const lost = Effect.as(nats.lost, "the connection was lost")
  return (messagesMax) =>
    Effect.try({ try: () => begin(messagesMax), catch: toBusError(operation) }).pipe(
      Effect.flatMap((over) => Deferred.await(over)),
      Effect.raceFirst(silence),
      Effect.raceFirst(lost),
      Effect.flatMap((fault) => (fault === undefined ? Effect.void : new BusUnavailable({ operation, detail: fault })))
    )
})

const utf8 = new TextEncoder()

const ask = (connection: NatsConnection, subject: string, reply: string, batch: number) => {
  const pull = { batch, expires: nanos(expiresMs), idle_heartbeat: nanos(heartbeatsMs) }
  connection.publish(subject, utf8.encode(JSON.stringify(pull)), { reply })
}
