/**
 * The egress client calls HTTP/1.1 receivers over pools of kept-alive connections. It follows no redirects, and never
 * sends a second request on a connection before the first is answered. Pools are per lane and origin and bounded in
 * number; the least recently used one is closed to make room. Traces also leave through such a client.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { Context, Effect, Layer, type Scope } from "effect"
import { Pool } from "undici"
import { defineCounter, Metrics, OtlpRefused, OtlpTransport } from "#runtime"
import { type EgressError, InvalidCidr, InvalidUrl } from "./errors.ts"
import { type EgressRequest, type EgressResponse, exchange, type Route } from "./exchange.ts"
import { guardedConnector, type TlsIdentity } from "./connector.ts"
import { addressGuard, invalidCidrs } from "./guard.ts"
import { Resolver } from "./reach.ts"
import { refusedRanges } from "./special-addresses.ts"
import { type EgressStream, type EgressStreamRequest, streamExchange } from "./streaming.ts"

const socketsOpened = defineCounter({
  name: "egress_sockets_opened_total",
  help: "Connections made, by use.",
  labels: ["use"]
})

export const refusals = defineCounter({
  name: "egress_refusals_total",
  help: "Connections refused by the address guard, by use and by the range that was hit.",
  labels: ["use", "range"]
})

export const egressMetrics = [socketsOpened, refusals]

export interface EgressClient {
  readonly request: (request: EgressRequest) => Effect.Effect<EgressResponse, EgressError>
  /** The answer's head; its body is read as it is pulled. Closing the scope cuts the call. */
  readonly stream: (request: EgressStreamRequest) => Effect.Effect<EgressStream, EgressError, Scope.Scope>
}

interface ClientOptions {
  /** Names the use in metrics. */
  readonly use: string
  /** Networks that are allowed although they are not public; only an untrusted client uses them. */
  readonly allowCidrs: ReadonlyArray<string>
  /** The same for proxies. */
  readonly proxyAllowCidrs?: ReadonlyArray<string> | undefined
  readonly isGuarded: boolean
  readonly connectionsPerLaneMax: number
  readonly lanesMax: number
  readonly connectTimeoutMs: number
  readonly trusted?: string | undefined
  readonly identity?: TlsIdentity | undefined
}

type UntrustedOptions = Omit<ClientOptions, "isGuarded">

/** For URLs that outsiders choose: webhook receivers, images. Every connection is guarded. */
export class UntrustedHttp extends Context.Service<
  UntrustedHttp,
  { readonly open: (options: UntrustedOptions) => Effect.Effect<EgressClient, InvalidCidr, Scope.Scope> }
>()("starling/egress/UntrustedHttp") {
  static readonly layer = Layer.effect(
    UntrustedHttp,
    Effect.map(Metrics, (metrics) =>
      UntrustedHttp.of({
        open: (options) => openClient({ ...options, isGuarded: true }).pipe(Effect.provideService(Metrics, metrics))
      })
    )
  )
}

type ConfiguredOptions = Omit<ClientOptions, "isGuarded" | "allowCidrs" | "proxyAllowCidrs">

/**
 * For URLs that the operator configured: upstreams, chains, collectors. The usual deadlines and caps, but no address
 * guard, because these hosts can be on private networks.
 */
export class ConfiguredHttp extends Context.Service<
  ConfiguredHttp,
  { readonly open: (options: ConfiguredOptions) => Effect.Effect<EgressClient, never, Scope.Scope> }
>()("starling/egress/ConfiguredHttp") {
  static readonly layer = Layer.effect(
    ConfiguredHttp,
    Effect.map(Metrics, (metrics) =>
      ConfiguredHttp.of({
        open: (options) =>
          openClient({ ...options, isGuarded: false, allowCidrs: [] }).pipe(
            Effect.provideService(Metrics, metrics),
            // Without networks, none can be unreadable.
            Effect.orDie
          )
      })
    )
  )
}

const openClient = Effect.fn("openClient")(function* (
  options: ClientOptions
): Effect.fn.Return<EgressClient, InvalidCidr, Metrics | Scope.Scope> {
  const invalid = invalidCidrs([...options.allowCidrs, ...(options.proxyAllowCidrs ?? [])])
  if (invalid.length > 0) return yield* new InvalidCidr({ use: options.use, cidrs: invalid })
  const lanes = yield* openLanes(options)
  return {
    request: (request) => {
      const target = targetOf(lanes, request.url)
      if (target instanceof InvalidUrl) return Effect.fail(target)
      return exchange(routeOf(lanes, request, target), target, request)
    },
    stream: (request) => {
      const target = targetOf(lanes, request.url)
      if (target instanceof InvalidUrl) return Effect.fail(target)
      return streamExchange(routeOf(lanes, request, target).pool, target, request)
    }
  }
})

export interface Target {
  readonly origin: string
  readonly path: string
}

interface Lanes {
  readonly options: ClientOptions
  readonly makePool: (origin: string, request: LaneRequest) => Route
  readonly targets: Map<string, Target | InvalidUrl>
  /** In the order of last use. */
  readonly byKey: Map<string, Route>
}

// Below the idle timeout of common servers (Node 5 s, nginx 75 s), so that this side hangs up first.
const keepAliveMs = 4_000
// A busy connection is replaced after this long: names move, and most may be cached for a minute.
const connectionMsMax = 60_000
// Servers behind proxies that add cookies and policies send tens of kB.
const headerBytesMax = 64 * 1_024

const openLanes = Effect.fnUntraced(function* (options: ClientOptions) {
  const metrics = yield* Metrics
  const opened = metrics.counter(socketsOpened)
  const refused = metrics.counter(refusals)
  const use = { use: options.use }
  if (options.isGuarded) for (const { name } of refusedRanges) refused.begin({ ...use, range: name })
  opened.begin(use)
  const guardOf = (cidrs: ReadonlyArray<string> = []) => (options.isGuarded ? addressGuard(cidrs) : undefined)
  const [guard, proxyGuard] = [guardOf(options.allowCidrs), guardOf(options.proxyAllowCidrs)]
  const resolve = yield* Resolver
  const byKey = new Map<string, Route>()
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => Promise.all([...byKey.values()].map(({ pool }) => pool.destroy())))
  )
  const onSocket = yield* socketFinder

  const makePool = (origin: string, { via, connectionsMax = options.connectionsPerLaneMax }: LaneRequest): Route => {
    const newPool = (connectionsOfPool: number) => {
      const connect = guardedConnector({
        guard,
        proxyGuard,
        resolve,
        connectTimeoutMs: options.connectTimeoutMs,
        trusted: via?.trusted ?? options.trusted,
        identity: via?.identity ?? options.identity,
        proxy: via?.proxy,
        onRefused: (range) => refused.inc({ use: options.use, range }),
        onOpened: () => opened.inc(use)
      })
      return new Pool(origin, { ...poolOptions, connect, connections: connectionsOfPool })
    }
    return { pool: newPool(connectionsMax), newPool: () => newPool(1), onSocket, via }
  }
  const lanes: Lanes = { options, makePool, targets: new Map(), byKey }
  return lanes
})

const poolOptions = {
  pipelining: 1,
  allowH2: false,
  keepAliveTimeout: keepAliveMs,
  keepAliveMaxTimeout: keepAliveMs,
  clientTtl: connectionMsMax,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: headerBytesMax
}

/**
 * Finds the socket that a request leaves on: the client library announces it on a channel, just after `onRequestStart`
 * and within the same call.
 */
const socketFinder = Effect.gen(function* () {
  const used = new WeakSet<Socket>()
  let found: ((socket: Socket, isReused: boolean) => void) | undefined
  const onHeaders = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }
    found?.(socket, used.has(socket))
    found = undefined
    used.add(socket)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => subscribe("undici:client:sendHeaders", onHeaders)),
    () => Effect.sync(() => unsubscribe("undici:client:sendHeaders", onHeaders))
  )
  return (next: (socket: Socket, isReused: boolean) => void) => void (found = next)
})

type LaneRequest = Pick<EgressRequest, "lane" | "connectionsMax" | "via">

const routeOf = (lanes: Lanes, request: LaneRequest, { origin }: Target) => {
  const { options, byKey, makePool } = lanes
  const key = request.lane === undefined ? origin : `${request.lane} ${origin}`
  let known = byKey.get(key)
  if (known !== undefined && known.via !== request.via) {
    // What is in work ends on the connections that it has.
    void known.pool.close()
    known = undefined
  }
  const found = known ?? makePool(origin, request)
  // Set again, so that the map stays in order of last use.
  if (known !== undefined && byKey.size < options.lanesMax) return known
  byKey.delete(key)
  byKey.set(key, found)
  closeOldest(lanes)
  return found
}

const closeOldest = ({ options, byKey }: Lanes) => {
  if (byKey.size <= options.lanesMax) return
  const [oldest] = byKey
  if (oldest === undefined) return
  byKey.delete(oldest[0])
  void oldest[1].pool.close()
}

const targetOf = ({ options, targets }: Lanes, url: string) => {
  const known = targets.get(url)
  if (known !== undefined) return known
  const target = parseTarget(url)
  if (targets.size < options.lanesMax) targets.set(url, target)
  return target
}

const parseTarget = (url: string): Target | InvalidUrl => {
  if (!URL.canParse(url)) return new InvalidUrl({ url, reason: "not a URL" })
  const parsed = new URL(url)
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    return new InvalidUrl({ url, reason: "only http and https can be called" })
  }
  if (parsed.username !== "" || parsed.password !== "") {
    return new InvalidUrl({ url: parsed.host, reason: "a URL with credentials is not called" })
  }
  return { origin: parsed.origin, path: `${parsed.pathname}${parsed.search}` }
}

const utf8 = new TextEncoder()

/** One connection, ten seconds, and no retry. `baseUrl`: the collector's, without `/v1/traces`. */
export const otlpTransport = (baseUrl: string) =>
  Layer.effect(
    OtlpTransport,
    Effect.gen(function* () {
      const client = yield* (yield* ConfiguredHttp).open({
        use: "otlp",
        connectionsPerLaneMax: 1,
        lanesMax: 1,
        connectTimeoutMs: 5_000
      })
      return OtlpTransport.of({
        send: (path, body) =>
          client
            .request({
              method: "POST",
              url: `${baseUrl.replace(/\/$/u, "")}${path}`,
              headers: { "Content-Type": "application/json" },
              body: utf8.encode(body),
              deadlineMs: 10_000,
              responseBytesMax: 4_096
            })
            .pipe(
              Effect.mapError((error) => new OtlpRefused({ reason: error.message })),
              Effect.flatMap(({ status }) =>
                status < 300 ? Effect.void : Effect.fail(new OtlpRefused({ reason: `status ${status}` }))
              )
            )
      })
    })
  )
