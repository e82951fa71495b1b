/**
 * Opens the connection to the broker. A role waits for its broker indefinitely, retrying every 250 ms, and reports the
 * reason: connection refused, wrong password, untrusted certificate. Once open, the client library maintains the
 * connection: a broker restart needs no restart of the role.
 */
import {
  connect,
  type ConnectionOptions,
  credsAuthenticator,
  type NatsConnection,
  type TlsOptions
} from "@nats-io/transport-node"
import { Clock, Effect, Redacted, Result } from "effect"
import { encodeToken } from "#base"
import { BusUnavailable, toBusError } from "../errors.ts"
import { readHeadersSafely } from "./headers.ts"

/** How to reach the broker. `credentials` is the content of a `.creds` file. */
export interface NatsOptions {
  readonly servers: ReadonlyArray<string>
  readonly name: string
  readonly user?: string | undefined
  readonly password?: Redacted.Redacted | undefined
  readonly credentials?: Redacted.Redacted | undefined
  readonly tls?: BrokerTls
  /** A role waits for its broker indefinitely; a command reports that it is unreachable. */
  readonly waitsForServer?: boolean
  /** The stream that stores messages sent to a subject: a failed write counts as an outage of that stream. */
  readonly streamOf?: (subject: string) => string | undefined
  /** Called with the reason while there is no connection, and with undefined once there is one. */
  readonly onTrouble?: (reason: string | undefined) => void
}

// Allows for a broker in another region and its handshake. A broker that refuses our certificate closes silently.
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

/** While the connection is lost, opens a second one to learn the reason, because the library retries silently. */
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
    // A broker that is cut off goes silent: like a dead one, it is noticed within seconds.
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

// Flushes buffered acks, but never for longer than the drain can spare.
const close = (connection: NatsConnection) =>
  Effect.tryPromise(() => connection.flush()).pipe(
    Effect.timeout("1 second"),
    Effect.ignore,
    Effect.andThen(Effect.promise(() => connection.close()))
  )

export interface BrokerTls {
  /** The authorities that can sign the broker's certificate, as PEM; Node's trusted ones by default. */
  readonly caFile?: string | undefined
  /** This process's certificate, with its chain, as PEM, for a broker that requires one. */
  readonly certificateFile?: string | undefined
  readonly keyFile?: string | undefined
}

/**
 * Undefined when the broker decides. `tls://` or any TLS file makes encryption mandatory, because the client library
 * treats `tls://` as a hint and would send its password unencrypted. The library reads the files on every connection.
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

/** Reports a reason to `onTrouble` every time; logs it when it is new and every half minute. */
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
