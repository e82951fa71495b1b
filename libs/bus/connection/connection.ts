/**
 * The role's one connection to the broker. It reconnects without end, 250 ms apart: a broker restart must never need a
 * restart of the fleet. Operations in flight when the connection breaks fail at once with `BusUnavailable` instead of
 * waiting out their timeout. Not exported from the bus.
 *
 * Opens the connection to the broker. A role waits for its broker without end, 250 ms apart, and reports the reason:
 * refused, a wrong password, a certificate that is not trusted. Once open, the client library keeps the connection: a
 * restart of the broker needs none of ours.
 */
import { jetstream, type JetStreamClient, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream"
import {
  connect,
  type ConnectionOptions,
  credsAuthenticator,
  type NatsConnection,
  PermissionViolationError,
  type Status,
  type TlsOptions
} from "@nats-io/transport-node"
import { Clock, Context, Deferred, Effect, Latch, Layer, Redacted, Result } from "effect"
import { defineCounter, defineGauge, Metrics } from "#runtime"
import { encodeToken } from "#base"
import { type BusError, BusUnavailable, toBusError } from "../errors.ts"
import { readHeadersSafely } from "./headers.ts"
import { isOutage, makeOutages, type Outages, type Use } from "./outages.ts"
import { type BrokerCalls, brokerCalls, type Question, question } from "./calls.ts"
import { type FairShare, fairShare, type SendBuffer, sendBuffer } from "./event-loop.ts"
import { type LastMessage, lastMessage, type StreamWrites, streamWrites } from "./stream-calls.ts"

/** How to reach the broker. `credentials` is the content of a `.creds` file. */
export interface NatsOptions {
  readonly servers: ReadonlyArray<string>
  readonly name: string
  readonly user?: string | undefined
  readonly password?: Redacted.Redacted | undefined
  readonly credentials?: Redacted.Redacted | undefined
  readonly tls?: BrokerTls
  /** A role waits for its broker without end; a command reports that there is none. */
  readonly waitsForServer?: boolean
  /** The stream that stores what is sent to a subject: failed writes are outages of it. */
  readonly streamOf?: (subject: string) => string | undefined
  /** Called with the reason why there is no connection now, and with undefined once there is one. */
  readonly onTrouble?: (reason: string | undefined) => void
}

// For a broker of another region, and its handshake. A broker that refuses our certificate closes silently.
const dialMs = 5_000
const retryMs = 250

export const inboxOf = (options: NatsOptions) => inboxPrefix(options.user ?? options.name)

/** Open until the scope ends. Fails only when `waitsForServer` is false. */
export const openConnection = Effect.fnUntraced(function* (options: NatsOptions) {
  const say = trouble(options)
  while (true) {
    const tried = yield* Effect.result(Effect.acquireRelease(open(options), close))
    if (Result.isSuccess(tried)) {
      options.onTrouble?.(undefined)
      return tried.success
    }
    if (options.waitsForServer === false) return yield* tried.failure
    yield* say(tried.failure.message)
    yield* Effect.sleep(retryMs)
  }
})

/** While the connection is lost, opens a second one to learn the reason, for the library retries silently. */
export const explainLoss = Effect.fnUntraced(function* (options: NatsOptions, isLost: () => boolean) {
  const say = trouble(options)
  while (isLost()) {
    const tried = yield* Effect.result(Effect.scoped(Effect.acquireRelease(open(options), close)))
    if (Result.isFailure(tried) && isLost()) yield* say(tried.failure.message)
    yield* Effect.sleep("5 seconds")
  }
})

const trouble = ({ onTrouble }: NatsOptions) => reportTrouble("the broker cannot be reached, trying again", onTrouble)

const open = (options: NatsOptions) => {
  const settings: ConnectionOptions = {
    servers: [...options.servers],
    name: options.name,
    inboxPrefix: inboxOf(options),
    maxReconnectAttempts: -1,
    reconnectTimeWait: retryMs,
    reconnectJitter: 100,
    reconnectJitterTLS: 100,
    timeout: dialMs,
    noAsyncTraces: true,
    ignoreAuthErrorAbort: true,
    // A broker that is cut off says nothing: like a dead one, it is noticed within some seconds.
    pingInterval: 2_000,
    maxPingOut: 2
  }
  readHeadersSafely()
  const tls = brokerTls(options.servers, options.tls)
  if (tls !== undefined) settings.tls = tls
  if (options.user !== undefined) settings.user = options.user
  if (options.password !== undefined) settings.pass = Redacted.value(options.password)
  if (options.credentials !== undefined) {
    settings.authenticator = credsAuthenticator(new TextEncoder().encode(Redacted.value(options.credentials)))
  }
  return Effect.tryPromise({ try: () => connect(settings), catch: toBusError("connect") }).pipe(
    Effect.mapError((error) => (tls !== undefined && error.message.includes("TimeoutError") ? silence : error))
  )
}

const silence = new BusUnavailable({
  operation: "connect",
  detail: "no answer in time; a broker that asks for certificates is silent to who shows none that it believes"
})

// Flushes the acks that are still buffered, but never for longer than the drain can spare.
const close = (connection: NatsConnection) =>
  Effect.tryPromise(() => connection.flush()).pipe(
    Effect.timeout("1 second"),
    Effect.ignore,
    Effect.andThen(Effect.promise(() => connection.close()))
  )

export interface BrokerTls {
  /** The authorities that may sign the broker's certificate, as PEM; without it, those that Node trusts. */
  readonly caFile?: string | undefined
  /** This process's certificate for a broker that asks for one, with the chain, as PEM. */
  readonly certificateFile?: string | undefined
  readonly keyFile?: string | undefined
}

/**
 * Undefined when the broker decides. `tls://` or any TLS file makes encryption mandatory, for the client library takes
 * `tls://` for a hint and would send its password unencrypted. The library reads the files at every connection.
 */
export const brokerTls = (servers: ReadonlyArray<string>, tls: BrokerTls = {}): TlsOptions | undefined => {
  const { caFile, certificateFile: certFile, keyFile } = tls
  const isAsked = servers.some((server) => server.trim().toLowerCase().startsWith("tls://"))
  const files = {
    ...(caFile === undefined ? {} : { caFile }),
    ...(certFile === undefined ? {} : { certFile }),
    ...(keyFile === undefined ? {} : { keyFile })
  }
  return isAsked || Object.keys(files).length > 0 ? files : undefined
}

/** The prefix of a broker user's inboxes: one per user, so that permissions can keep users apart. */
export const inboxPrefix = (user: string) => `_INBOX_${encodeToken(user)}`

const saidAgainAfterMs = 30_000

/** Reports a reason to `onTrouble` each time, and logs it when it is new and every half minute. */
export const reportTrouble = (message: string, onTrouble: ((reason: string) => void) | undefined) => {
  let last = ""
  let saidAtMs = 0
  return Effect.fnUntraced(function* (reason: string) {
    onTrouble?.(reason)
    const nowMs = yield* Clock.currentTimeMillis
    if (reason === last && nowMs - saidAtMs < saidAgainAfterMs) return
    last = reason
    saidAtMs = nowMs
    yield* Effect.logWarning(message).pipe(Effect.annotateLogs({ reason }))
  })
}

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
    /** The recent writes that this process reads again. */
    readonly cache: WriteThroughCache
    /** Shares the event loop between the consumers on this connection. */
    readonly share: FairShare
    /** Completes when the connection is lost the next time. */
    readonly lost: Effect.Effect<void>
    /** Runs a call once there is a connection; fails with `BusUnavailable` when none comes in time. */
    readonly whileConnected: Presence["whileConnected"]
    readonly outages: Outages
    /** Notes a failed use of a stream that began then. */
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
      // A new connection may be to a broker that was restarted.
      outages.forget()
      options.onTrouble?.(reason)
    }
  })
  /** Without a connection nothing can be used, and the readiness of the connection says so. */
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
  const write: StreamWrites = (operation, message, ahead) =>
    Effect.suspend(() => {
      const stream = options.streamOf?.(message.subject)
      const written = whileConnected(operation, send(operation, message, ahead))
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
  /** Completes when the connection is lost the next time. */
  readonly lost: Effect.Effect<void>
  /** Waits for the next connection first: on a lost one the answer would be a timeout. */
  readonly whileConnected: <A>(operation: string, act: Effect.Effect<A, BusError>) => Effect.Effect<A, BusError>
}

/** Follows whether the broker is connected; when it goes, all calls that wait for an answer fail at once. */
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
      // A command that a person runs fails here and says so.
      if (options.waitsForServer === false) return Effect.void
      return Effect.logError("the broker forbids what this role needs", status.error)
    }
    if (status.type === "disconnect") {
      connected = false
      options.onTrouble?.("not connected to the broker")
      present.closeUnsafe()
      connectedGauge.set({}, 0)
      calls.failAll()
      Deferred.doneUnsafe(loss, Effect.void)
      loss = Deferred.makeUnsafe<void>()
      return Effect.logWarning("the broker is gone, reconnecting")
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
  // A restart takes a moment; a longer loss gets an explanation.
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

interface WriteThroughCache {
  /** `data` must not change afterwards. */
  readonly put: (subject: string, data: Uint8Array) => void
  /** The object last written to that subject, if its bytes are the same; otherwise `data`. */
  readonly intern: (subject: string, data: Uint8Array) => Uint8Array
}

// Some thousand records, and more seconds of a busy role than its own readers are ever behind.
const bytesKeptMax = 4 * 1_024 * 1_024
// The rough size of an entry beside its bytes.
const entryBytes = 256

/**
 * The recent writes of this process that it is about to read again, by subject. A message that comes back byte for byte
 * is replaced by the very object that was written, so that a reader that knows the object need not decode it again.
 * Bytes that were dropped from the cache, or that another process wrote, pass unchanged: nothing is ever taken for what
 * it is not. Keeps at least half of `bytesMax`, and at most all of it and one entry more: the older half is dropped
 * whole.
 */
export const writeThroughCache = (bytesMax = bytesKeptMax): WriteThroughCache => {
  let recent = new Map<string, Uint8Array>()
  let older = new Map<string, Uint8Array>()
  let bytes = 0
  return {
    put: (subject, data) => {
      recent.set(subject, data)
      bytes += data.length + entryBytes
      if (bytes < bytesMax / 2) return
      older = recent
      recent = new Map()
      bytes = 0
    },
    intern: (subject, data) => {
      const own = recent.get(subject) ?? older.get(subject)
      return own !== undefined && own.length === data.length && Buffer.compare(own, data) === 0 ? own : data
    }
  }
}
