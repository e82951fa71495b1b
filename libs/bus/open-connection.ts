/**
 * Opens the connection to the broker. A role waits for its broker without end, 250 ms apart, and says why it
 * waits: refused, a wrong password, a certificate that is not believed. Once it stands, the client library keeps it:
 * a restart of the broker needs none of ours.
 */
import { connect, type ConnectionOptions, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node"
import { Effect, Redacted, Result } from "effect"
import { type BrokerTls, brokerTls } from "./broker-tls.ts"
import { BusUnavailable, toBusError } from "./errors.ts"
import { inboxPrefix } from "./inbox.ts"
import { waiting } from "./waiting.ts"

/** How to reach the broker. `credentials` is the content of a `.creds` file. */
export interface NatsOptions {
  readonly servers: ReadonlyArray<string>
  readonly name: string
  readonly user?: string | undefined
  readonly password?: Redacted.Redacted | undefined
  readonly credentials?: Redacted.Redacted | undefined
  readonly tls?: BrokerTls
  /** A role waits for its broker without end; a command that finds none says so. */
  readonly waitsForServer?: boolean
  /** Told why there is no connection now, and with undefined that there is one. */
  readonly onTrouble?: (reason: string | undefined) => void
}

// A broker of another region, and its handshake. One that refuses our certificate closes without a word.
const dialMs = 5_000
const retryMs = 250

export const inboxOf = (options: NatsOptions) => inboxPrefix(options.user ?? options.name)

/** Stands until the scope ends. Fails only where `waitsForServer` is false. */
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

/** While the connection is lost: asks by a second one why, for the library tries again without a word. */
export const explainLoss = Effect.fnUntraced(function* (options: NatsOptions, isLost: () => boolean) {
  const say = trouble(options)
  while (isLost()) {
    const tried = yield* Effect.result(Effect.scoped(Effect.acquireRelease(open(options), close)))
    if (Result.isFailure(tried) && isLost()) yield* say(tried.failure.message)
    yield* Effect.sleep("5 seconds")
  }
})

const trouble = ({ onTrouble }: NatsOptions) => waiting("the broker cannot be reached, trying again", onTrouble)

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
    // A broker that is cut off says nothing: it is missed within some seconds, as a dead one is.
    pingInterval: 2_000,
    maxPingOut: 2
  }
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

// Flushes what acks are still buffered, but never longer than the drain can spare.
const close = (connection: NatsConnection) =>
  Effect.tryPromise(() => connection.flush()).pipe(
    Effect.timeout("1 second"),
    Effect.ignore,
    Effect.andThen(Effect.promise(() => connection.close()))
  )
