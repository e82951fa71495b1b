/**
 * One of our public APIs on a socket. It uses node's own server, whose limits are all set here, and the request handler
 * of @effect/platform-node, which writes bodies no faster than they are read and interrupts a handler when its caller
 * is gone. A drain accepts nothing new, lets running requests end and their answers be read, then cuts.
 */
import type { AddressInfo } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, Scope } from "effect"
import { HttpMiddleware } from "effect/http"
import { Addresses, CannotListen, Drain, type DrainReport, Health, Metrics } from "#runtime"
import type { PerCall } from "../HttpCall.ts"
import { type ErrorHeaders, type RenderError, renderStandardError } from "../WireError.ts"
import type { CorsPolicy } from "./cors.ts"
import { exchange } from "./exchange.ts"
import { activeRequests, connectionsCut, requests, requestSeconds } from "../metrics.ts"
import { type Route, routeTable, type ServicesOf } from "./routes.ts"
import { limitedServer, type LimitedServer, listenerLimits, type ListenerLimits } from "./server.ts"
import { type WebSocketLimits, webSocketServer } from "./WebSocket.ts"

export interface ListenerOptions<Routes extends ReadonlyArray<Route<unknown>>> {
  /** Names the API in logs, metrics, health and drain. */
  readonly name: string
  readonly host: string
  /** 0 picks any free port. */
  readonly port: number
  readonly routes: Routes
  readonly renderError?: RenderError
  /** Headers of every refusal that the listener itself writes, beside the refusal's own. */
  readonly errorHeaders?: ErrorHeaders
  /** Headers that carry the request's id, beside X-Request-Id. */
  readonly requestIdHeaders?: ReadonlyArray<string>
  /** How many of our proxies are in front and write X-Forwarded-For. */
  readonly trustedProxies?: number
  readonly limits?: Partial<ListenerLimits>
  /** The origins whose pages can call the routes that opted in; none without it. */
  readonly cors?: CorsPolicy
  /** Routes of the listener can accept WebSockets, within these limits. */
  readonly webSockets?: WebSocketLimits
}

export class HttpListener extends Context.Service<
  HttpListener,
  { readonly url: string; readonly host: string; readonly port: number }
>()("starling/http/HttpListener") {
  static readonly layer = <const Routes extends ReadonlyArray<Route<unknown>>>(
    options: ListenerOptions<Routes>
  ): Layer.Layer<HttpListener, CannotListen, Drain | Health | Metrics | Exclude<ServicesOf<Routes>, PerCall>> =>
    Layer.effect(
      HttpListener,
      Effect.gen(function* () {
        const metrics = yield* Metrics
        const limits = { ...listenerLimits, ...options.limits }
        const api = options.name
        const renderError = options.renderError ?? renderStandardError
        const errorHeaders = options.errorHeaders ?? (() => ({}))
        const active = metrics.gauge(activeRequests)
        const cut = metrics.counter(connectionsCut)
        cut.begin({ api })
        const state = { draining: false }
        // The context holds the handlers' services from here on; the type omits those that each call brings.
        yield* Effect.context<Exclude<ServicesOf<Routes>, PerCall>>()
        const counted = metrics.counter(requests)
        for (const { path } of options.routes) counted.begin({ api, route: path })
        const app = exchange({
          api,
          find: routeTable(options.routes as ReadonlyArray<Route<PerCall>>),
          renderError,
          errorHeaders,
          requestIdHeaders: options.requestIdHeaders ?? [],
          trustedProxies: options.trustedProxies ?? 0,
          cors: options.cors ?? sameOriginOnly,
          isDraining: () => state.draining,
          requests: counted,
          seconds: metrics.histogram(requestSeconds)
        })
        // A scope of their own, empty whenever nothing runs: a map with endless additions and removals goes through one
        // table after another, and a dead table keeps those after it, with their content, until a slow collection.
        const inWork = yield* Scope.make("parallel")
        const handle = yield* NodeHttpServer.makeHandler(app, { scope: inWork }).pipe(
          // Its spans end with the headers and know no routes, so the exchange creates ours.
          Effect.provideService(HttpMiddleware.TracerDisabledWhen, () => true)
        )
        const { webSockets } = options
        const upgrade =
          webSockets === undefined
            ? undefined
            : yield* NodeHttpServer.makeUpgradeHandler(Effect.succeed(yield* webSocketServer(webSockets)), app, {
                scope: inWork
              }).pipe(Effect.provideService(HttpMiddleware.TracerDisabledWhen, () => true))
        const server = limitedServer({
          limits,
          renderError,
          errorHeaders,
          handle,
          upgrade,
          onActive: (count) => active.set({ api }, count),
          onCut: (reason) => cut.inc({ api, reason })
        })
        const address = yield* Effect.acquireRelease(listen(server, options), () => server.close)
        yield* Scope.addFinalizerExit(yield* Effect.scope, (exit) => Scope.close(inWork, exit))
        const name = `http ${api}`
        yield* (yield* Health).readiness(
          name,
          Effect.suspend(() => (server.isOpen() ? Effect.void : closed))
        )
        yield* (yield* Drain).register(name, drain(server, limits.drainMs, state))
        const host = options.host.includes(":") ? `[${options.host}]` : options.host
        return HttpListener.of({ url: `http://${host}:${address.port}`, host: address.address, port: address.port })
      })
    )

  /** Publishes the listener's address among those of the process' roles. */
  static readonly announced = (role: string) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const { url } = yield* HttpListener
        yield* (yield* Addresses).add(role, url)
      })
    )
}

const closed = Effect.fail("not listening")
const sameOriginOnly: CorsPolicy = { origins: [], requestHeaders: [], exposedHeaders: [] }

const listen = ({ node }: LimitedServer, { host, port }: { readonly host: string; readonly port: number }) =>
  Effect.callback<AddressInfo, CannotListen>((resume) => {
    node.once("error", (error) => resume(Effect.fail(new CannotListen({ host, port, reason: error.message }))))
    node.listen(port, host, () => resume(Effect.succeed(node.address() as AddressInfo)))
  })

const drain = (server: LimitedServer, drainMs: number, state: { draining: boolean }): Effect.Effect<DrainReport> =>
  Effect.gen(function* () {
    state.draining = true
    const before = server.answered()
    server.stopAccepting()
    yield* Effect.timeoutOption(Effect.andThen(server.quiet, server.takenLeave), drainMs)
    const finished = server.answered() - before
    const handedBack = server.running()
    yield* server.close
    return { finished, handedBack }
  })
