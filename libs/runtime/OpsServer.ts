/**
 * The operators' endpoints of a process: `/metrics`, `/livez`, `/readyz`. Small, and separate from the public APIs, on
 * an address of its own. It answers while everything else is still starting, or stuck. `/metrics` includes the figures
 * of the process' children and broker; `/metrics?of=process` leaves them out.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Context, Effect, Layer, Schema } from "effect"
import { drainCheck, draining } from "./Drain.ts"
import { Health, type HealthReport } from "./Health.ts"
import { defineGauge, Metrics } from "./Metrics.ts"
import { faultOfHead } from "./request-head.ts"
import { MetricsSources, joinFigures } from "./metrics-sources.ts"

export const processUnready = defineGauge({
  name: "process_unready",
  help: "1 while `/readyz` of the process answers 503, except while it drains, else 0.",
  labels: []
})
export const readinessMetrics = [processUnready]

export interface OpsServerOptions {
  readonly host: string
  /** 0 picks any free port. */
  readonly port: number
}

/** The address is in use, or may not be used. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `cannot listen on ${this.host}:${this.port}: ${this.reason}`
  }
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

export class OpsServer extends Context.Service<OpsServer, { readonly url: string }>()("starling/runtime/OpsServer") {
  static readonly layer = (options: OpsServerOptions) =>
    Layer.effect(
      OpsServer,
      Effect.gen(function* () {
        const health = yield* Health
        const metrics = yield* Metrics
        const sources = yield* MetricsSources
        const unready = metrics.gauge(processUnready)
        const own = health.ready.pipe(
          Effect.map((report) => unready.set({}, report.ok || report.checks[drainCheck] === draining ? 0 : 1)),
          Effect.andThen(metrics.text)
        )
        const everything = Effect.map(Effect.all([own, sources.read], { concurrency: 2 }), ([text, others]) =>
          others.length === 0 ? text : joinFigures([text, ...others])
        )
        const routes: Routes = {
          "/metrics": (query) => Effect.map(query.get("of") === "process" ? own : everything, figures),
          "/livez": () => Effect.map(health.live, healthAnswer),
          "/readyz": () => Effect.map(health.ready, healthAnswer)
        }
        const run = Effect.runForkWith(yield* Effect.context<never>())
        const answer = (request: IncomingMessage, response: ServerResponse) => {
          const fault = faultOfHead(request)
          if (fault === undefined) return void run(respond(routes, request, response))
          const { status, type, body } = json(400, { error: fault })
          response.writeHead(status, {
            "Content-Type": type,
            "Content-Length": Buffer.byteLength(body),
            Connection: "close"
          })
          return void response.end(body)
        }
        const server = createServer({ requireHostHeader: false }, answer)
        server.headersTimeout = 5_000
        server.requestTimeout = 10_000
        const url = yield* Effect.acquireRelease(listen(server, options), () => close(server))
        return OpsServer.of({ url })
      })
    )
}

type Routes = Readonly<Record<string, (query: URLSearchParams) => Effect.Effect<Answer>>>

const figures = (body: string): Answer => ({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body })

const json = (status: number, value: unknown): Answer => ({
  status,
  type: "application/json",
  body: `${JSON.stringify(value)}\n`
})

const healthAnswer = (report: HealthReport) => json(report.ok ? 200 : 503, report)

const respond = (routes: Routes, request: IncomingMessage, response: ServerResponse) => {
  const [path = "/", query = ""] = (request.url ?? "/").split("?", 2)
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined
  const answer =
    route === undefined
      ? Effect.succeed(json(404, { error: `nothing at ${path}`, paths: Object.keys(routes) }))
      : request.method === "GET" || request.method === "HEAD"
        ? route(new URLSearchParams(query))
        : Effect.succeed(json(405, { error: `${path} is read with GET` }))
  return answer.pipe(
    Effect.catchCause((cause) =>
      Effect.as(Effect.logError("a defect while answering", cause), json(500, { error: "internal error" }))
    ),
    Effect.map(({ status, type, body }) => {
      response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) })
      response.end(request.method === "HEAD" ? undefined : body)
    })
  )
}

const listen = (server: Server, { host, port }: OpsServerOptions) =>
  Effect.callback<string, CannotListen>((resume) => {
    server.once("error", (error) => resume(Effect.fail(new CannotListen({ host, port, reason: error.message }))))
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo
      resume(Effect.succeed(`http://${host.includes(":") ? `[${host}]` : host}:${address.port}`))
    })
  })

const close = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })
