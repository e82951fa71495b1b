/**
 * A way out: calls HTTP/1.1 receivers over pools of kept-alive connections, follows no redirects, never
 * sends a second request on a connection before the first is answered. Pools are made per lane and origin
 * and bounded in number; the one unused the longest is closed for a new one.
 */
import { Effect, type Scope } from "effect"
import { Pool } from "undici"
import { Metrics } from "#runtime"
import { addressGuard, invalidCidrs } from "./address-guard.ts"
import { guardedConnector } from "./connector.ts"
import { type EgressError, InvalidCidr, InvalidUrl } from "./errors.ts"
import { type EgressRequest, type EgressResponse, exchange } from "./exchange.ts"
import { pools as poolsGauge, refusals, socketsOpened, socketsReused } from "./metrics.ts"
import { Resolver } from "./Resolver.ts"
import { type EgressStream, type EgressStreamRequest, streamExchange } from "./stream-exchange.ts"

export interface HttpDoor {
  readonly request: (request: EgressRequest) => Effect.Effect<EgressResponse, EgressError>
  /** The answer's head; its body is read as it is pulled. The call is cut when the scope closes. */
  readonly stream: (request: EgressStreamRequest) => Effect.Effect<EgressStream, EgressError, Scope.Scope>
}

export interface DoorOptions {
  /** Names the use in metrics. */
  readonly use: string
  /** Networks opened although they are not public; only an untrusted door asks. */
  readonly allowCidrs: ReadonlyArray<string>
  readonly isGuarded: boolean
  readonly connectionsPerLaneMax: number
  readonly lanesMax: number
  readonly connectTimeoutMs: number
  readonly trusted?: string | undefined
}

// Below what common servers keep idle connections for (Node 5 s, nginx 75 s): we hang up first.
const keepAliveMs = 4_000
const headerBytesMax = 16 * 1_024

interface Target {
  readonly origin: string
  readonly path: string
}

export const openDoor = Effect.fn("openDoor")(function* (
  options: DoorOptions
): Effect.fn.Return<HttpDoor, InvalidCidr, Metrics | Scope.Scope> {
  const invalid = invalidCidrs(options.allowCidrs)
  if (invalid.length > 0) return yield* new InvalidCidr({ use: options.use, cidrs: invalid })
  const metrics = yield* Metrics
  const opened = metrics.counter(socketsOpened)
  const reused = metrics.counter(socketsReused)
  const refused = metrics.counter(refusals)
  const held = metrics.gauge(poolsGauge)
  const use = { use: options.use }
  const guard = options.isGuarded ? addressGuard(options.allowCidrs) : undefined
  const resolve = yield* Resolver
  const targets = new Map<string, Target | InvalidUrl>()
  const pools = new Map<string, LanePool>()

  const connect = (lane: { fresh: number }) =>
    guardedConnector({
      guard,
      resolve,
      connectTimeoutMs: options.connectTimeoutMs,
      trusted: options.trusted,
      onRefused: (range) => refused.inc({ use: options.use, range }),
      onOpened: () => {
        lane.fresh += 1
        opened.inc(use)
      }
    })

  const makePool = (origin: string, connections: number): LanePool => {
    const lane = { fresh: 0 }
    const pool = new Pool(origin, {
      connect: connect(lane),
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: headerBytesMax
    })
    return { pool, lane }
  }

  const poolOf = (request: LaneRequest, origin: string) => {
    const key = request.lane === undefined ? origin : `${request.lane} ${origin}`
    const known = pools.get(key)
    const found = known ?? makePool(origin, request.connectionsMax ?? options.connectionsPerLaneMax)
    // Set again, so that the map's order is the order of last use.
    if (known !== undefined && pools.size < options.lanesMax) return found
    pools.delete(key)
    pools.set(key, found)
    closeOldest()
    held.set(use, pools.size)
    return found
  }

  const closeOldest = () => {
    if (pools.size <= options.lanesMax) return
    const [oldest] = pools
    if (oldest === undefined) return
    pools.delete(oldest[0])
    void oldest[1].pool.close()
  }

  const targetOf = (url: string) => {
    const known = targets.get(url)
    if (known !== undefined) return known
    const target = parseTarget(url)
    if (targets.size < options.lanesMax) targets.set(url, target)
    return target
  }

  yield* Effect.addFinalizer(() =>
    Effect.promise(() => Promise.all([...pools.values()].map(({ pool }) => pool.destroy())))
  )
  const prepare = (request: LaneRequest, { origin }: Target) => {
    const { pool, lane } = poolOf(request, origin)
    const onLeave = () => {
      if (lane.fresh > 0) lane.fresh -= 1
      else reused.inc(use)
      request.onLeave?.()
    }
    return { pool, onLeave }
  }
  return {
    request: (request) => {
      const target = targetOf(request.url)
      if (target instanceof InvalidUrl) return Effect.fail(target)
      const { pool, onLeave } = prepare(request, target)
      return exchange(pool, target.origin, target.path, { ...request, onLeave })
    },
    stream: (request) => {
      const target = targetOf(request.url)
      if (target instanceof InvalidUrl) return Effect.fail(target)
      const { pool, onLeave } = prepare(request, target)
      return streamExchange(pool, target.origin, target.path, { ...request, onLeave })
    }
  }
})

type LaneRequest = Pick<EgressRequest, "lane" | "connectionsMax" | "onLeave">

interface LanePool {
  readonly pool: Pool
  /** Connections made that no request has used yet. */
  readonly lane: { fresh: number }
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
