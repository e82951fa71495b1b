/**
 * The role's one connection to the broker. It reconnects forever, every 250 ms: a broker restart must never require a
 * restart of the fleet. Operations in flight when the connection breaks fail at once with `BusUnavailable` instead of
 * waiting out their timeout. Not exported from the bus.
 */
import { jetstream, type JetStreamClient, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import { type NatsConnection, PermissionViolationError, type Status } from "@nats-io/transport-node"
import { Clock, Context, Deferred, Effect, Latch, Layer } from "effect"
import { defineCounter, defineGauge, Metrics } from "#runtime"
import { type BusError, BusUnavailable, toBusError } from "../errors.ts"
import { isOutage, makeOutages, type Outages, type Use } from "./outages.ts"
import { type BrokerCalls, brokerCalls, type Question, question } from "./calls.ts"
import { type FairShare, fairShare, type SendBuffer, sendBuffer } from "./event-loop.ts"
import { type LastMessage, lastMessage, type StreamWrites, streamWrites } from "./stream-calls.ts"
import { type WriteThroughCache, writeThroughCache } from "./write-through-cache.ts"
import { type NatsOptions, openConnection, inboxOf, explainLoss } from "./dial.ts"

export const busConnected = defineGauge({
  name: "bus_connected",
  help: "1 while the role's connection to the broker is up, else 0.",
  labels: []
})

export const busReconnects = defineCounter({
  name: "bus_reconnects_total",
  help: "Times the connection to the broker came back after a loss.",
  labels: []
})

// Long enough for a leader election, short enough to leave time within a caller's own deadline.
const requestTimeoutMs = 5_000

export class Nats extends Context.Service<
  Nats,
  {
    readonly connection: NatsConnection
    readonly jetstream: JetStreamClient
    readonly manager: JetStreamManager
    /** Runs a call of the client library; its error names the `operation`. */
    readonly use: <A>(operation: string, call: (nats: Clients) => Promise<A>) => Effect.Effect<A, BusError>
    /** Stores messages in streams. */
    readonly write: StreamWrites
    /** The last message of a stream on a subject, from the leader. */
    readonly last: LastMessage
    /** Asks another role over the broker. */
    readonly ask: Question
    /** Asks a role of this process. */
    readonly askNear: BrokerCalls["near"]
    readonly isConnected: () => boolean
    /** The prefix of this role's inboxes, where its answers arrive. */
    readonly inboxes: string
    /** Shared by all consumers and publishers on this connection. */
    readonly sends: SendBuffer
    /** Recent writes that this process will read back. */
    readonly cache: WriteThroughCache
    /** Shares the event loop between the consumers on this connection. */
    readonly share: FairShare
    /** Completes at the next loss of the connection. */
    readonly lost: Effect.Effect<void>
    /** Runs a call once connected; fails with `BusUnavailable` when no connection is made in time. */
    readonly whileConnected: Presence["whileConnected"]
    readonly outages: Outages
    /** Records a failed use of a stream, with the time that use began. */
    readonly missed: Missed
  }
>()("starling/bus/Nats") {
  static readonly layerWith = (options: NatsOptions) => Layer.effect(Nats, make(options))
}

type Missed = (use: Use, stream: string, error: BusError, sinceMs: number) => void

export interface Clients {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
}

const make = Effect.fnUntraced(function* (options: NatsOptions) {
  const connection = yield* openConnection(options)
  const clients: Clients = {
    connection,
    jetstream: jetstream(connection, { timeout: requestTimeoutMs }),
    manager: yield* Effect.promise(() => jetstreamManager(connection, { timeout: requestTimeoutMs, checkAPI: false }))
  }
  const sends = sendBuffer()
  const calls = yield* brokerCalls(connection, sends, inboxOf(options))
  const clock = yield* Clock.Clock
  const outages = makeOutages()
  const { isConnected, lost, whileConnected } = yield* presence(connection, calls, {
    ...options,
    onTrouble: (reason) => {
      // A new connection can lead to a restarted broker.
      outages.forget()
      options.onTrouble?.(reason)
    }
  })
  /** Without a connection nothing works, and the connection's own readiness already reports that. */
  const missed: Missed = (use, stream, error, sinceMs) => {
    if (isConnected() && isOutage(error))
      outages.failed({ use, stream, reason: error.message, sinceMs, nowMs: clock.currentTimeMillisUnsafe() })
  }

  const use = <A>(operation: string, call: (nats: Clients) => Promise<A>) =>
    Effect.suspend(() =>
      whileConnected(
        operation,
        Effect.tryPromise({ try: () => call(clients), catch: toBusError(operation, options.user) }).pipe(
          Effect.raceFirst(
            Effect.flatMap(lost, () => new BusUnavailable({ operation, detail: "the connection was lost" }))
          )
        )
      )
    )
  const [send, find, pose] = [streamWrites(calls), lastMessage(calls), question(calls)]
  const write: StreamWrites = (operation, message, preceding) =>
    Effect.suspend(() => {
      const stream = options.streamOf?.(message.subject)
      const written = whileConnected(operation, send(operation, message, preceding))
      if (stream === undefined) return written
      const sinceMs = clock.currentTimeMillisUnsafe()
      const failed = Effect.tapError(written, (error) => Effect.sync(() => missed("write", stream, error, sinceMs)))
      return outages.isNone() ? failed : Effect.tap(failed, () => Effect.sync(() => outages.worked("write", stream)))
    })
  const last: LastMessage = (stream, subject) =>
    Effect.suspend(() => whileConnected(`read ${stream}`, find(stream, subject)))
  const ask: Question = (operation, asked, withinMs) =>
    Effect.suspend(() => whileConnected(operation, pose(operation, asked, withinMs)))
  return Nats.of({
    ...clients,
    use,
    write,
    last,
    ask,
    askNear: calls.near,
    isConnected,
    inboxes: inboxOf(options),
    sends,
    cache: writeThroughCache(),
    share: fairShare(),
    lost,
    whileConnected,
    outages,
    missed
  })
})

interface Presence {
  readonly isConnected: () => boolean
  /** Completes at the next loss of the connection. */
  readonly lost: Effect.Effect<void>
  /** Waits for the next connection first: on a lost one the call would only time out. */
  readonly whileConnected: <A>(operation: string, act: Effect.Effect<A, BusError>) => Effect.Effect<A, BusError>
}

/** Tracks whether the broker is connected; on disconnect, all calls waiting for an answer fail at once. */
const presence = Effect.fnUntraced(function* (connection: NatsConnection, calls: BrokerCalls, options: NatsOptions) {
  const metrics = yield* Metrics
  const connectedGauge = metrics.gauge(busConnected)
  const reconnects = metrics.counter(busReconnects)
  let connected = true
  const present = yield* Latch.make(true)
  let loss = Deferred.makeUnsafe<void>()
  connectedGauge.set({}, 1)

  const onStatus = (status: Status) => {
    if (status.type === "error" && status.error instanceof PermissionViolationError) {
      const { operation, subject } = status.error
      if (operation === "publish") calls.forbid(subject, options.user)
      // A command run by a person fails here and reports it.
      if (options.waitsForServer === false) return Effect.void
      return Effect.logError("the broker forbids what this role needs", status.error)
    }
    if (status.type === "disconnect") {
      // Each try that the broker refuses ends in another one, and would hide the reason that was found.
      if (!connected) return Effect.void
      connected = false
      options.onTrouble?.("not connected to the broker")
      present.closeUnsafe()
      connectedGauge.set({}, 0)
      calls.failAll()
      Deferred.doneUnsafe(loss, Effect.void)
      loss = Deferred.makeUnsafe<void>()
      return Effect.logWarning("the broker connection was lost, reconnecting")
    }
    if (status.type === "reconnect") {
      connected = true
      options.onTrouble?.(undefined)
      present.openUnsafe()
      connectedGauge.set({}, 1)
      reconnects.inc({})
      return Effect.logInfo("the broker is back")
    }
    return Effect.void
  }
  yield* watchStatus(connection, onStatus).pipe(Effect.forkScoped)

  const lost = Effect.suspend(() => Deferred.await(loss))
  // A restart takes a moment; a longer outage gets an explanation.
  const explained = Effect.andThen(
    Effect.sleep("2 seconds"),
    explainLoss(options, () => !connected)
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(lost, explained)))

  const whenPresent = (operation: string) =>
    Effect.timeoutOrElse(present.await, {
      duration: requestTimeoutMs,
      orElse: () => Effect.fail(new BusUnavailable({ operation, detail: "not connected to the broker" }))
    })
  const result: Presence = {
    isConnected: () => connected,
    lost,
    whileConnected: (operation, act) => (connected ? act : Effect.andThen(whenPresent(operation), act))
  }
  return result
})

const watchStatus = Effect.fnUntraced(function* (
  connection: NatsConnection,
  onStatus: (status: Status) => Effect.Effect<void>
) {
  const statuses = connection.status()[Symbol.asyncIterator]()
  while (true) {
    const next = yield* Effect.promise(() => statuses.next())
    if (next.done === true) return
    yield* onStatus(next.value)
  }
})
