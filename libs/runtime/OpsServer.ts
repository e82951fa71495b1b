/**
 *
 * The operators' endpoints of a process: `/metrics`, `/livez`, `/readyz`. Small, and separate from the public APIs, on
 * an address of its own. It answers while everything else is still starting, or stuck. `/metrics` includes the figures
 * of the process' children and broker; `/metrics?of=process` leaves them out.
 *
 * Figures that a process shows beside its own: those of its child processes and of its broker. They are joined into one
 * text that describes each metric once, as Prometheus' format requires.
 *
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Context, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { Health, type HealthReport } from "./Health.ts"
import { Metrics } from "./Metrics.ts"
import { faultOfHead } from "./request-head.ts"

/** Figures in Prometheus' text format; empty while they are unavailable. */
type Figures = Effect.Effect<string>

/** A child process of this one. */
export interface ChildProcess {
  readonly role: string
  /** The address of its own metrics and readiness; undefined while it does not run. */
  readonly url: () => string | undefined
}

export class MetricsSources extends Context.Service<
  MetricsSources,
  {
    /** Shown until the scope closes. `child`: the process that the figures belong to. */
    readonly add: (figures: Figures, child?: ChildProcess) => Effect.Effect<void, never, Scope.Scope>
    /** The child processes that are running. */
    readonly children: Effect.Effect<ReadonlyArray<{ readonly role: string; readonly url: string }>>
    /** All current figures, read concurrently. */
    readonly read: Effect.Effect<ReadonlyArray<string>>
  }
>()("starling/runtime/MetricsSources") {
  static readonly layer = Layer.sync(MetricsSources, () => {
    const sources = new Set<Figures>()
    const children = new Set<ChildProcess>()
    return MetricsSources.of({
      add: (figures, child) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            sources.add(figures)
            if (child !== undefined) children.add(child)
          }),
          () =>
            Effect.sync(() => {
              sources.delete(figures)
              if (child !== undefined) children.delete(child)
            })
        ),
      children: Effect.sync(() =>
        [...children].flatMap(({ role, url }) => {
          const at = url()
          return at === undefined ? [] : [{ role, url: at }]
        })
      ),
      read: Effect.suspend(() => Effect.all([...sources], { concurrency: "unbounded" }))
    })
  })
}

/** The text at an address on this machine; empty unless the status is 200. */
export const figuresAt = (url: string): Figures =>
  textAt(url).pipe(
    Effect.map(({ status, text }) => (status === 200 ? text : "")),
    Effect.orElseSucceed(() => "")
  )

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+(?: \S+)?)$/u

/** Puts a label on every series that lacks it: processes do not put their role on their own metrics. */
export const labelled = (text: string, label: string, value: string): string =>
  text
    .split("\n")
    .map((line) => {
      const [whole, name, labels = "", rest] = line.startsWith("#") ? [] : (sampleLine.exec(line) ?? [])
      if (whole === undefined || `,${labels}`.includes(`,${label}="`)) return line
      return `${name}{${label}="${value}"${labels === "" ? "" : `,${labels}`}} ${rest}`
    })
    .join("\n")

interface Family {
  readonly described: ReadonlyArray<string>
  readonly samples: Array<string>
}

/** Joins several texts into one. Each metric keeps the description of its first occurrence. Pure. */
export const joinFigures = (texts: ReadonlyArray<string>): string => {
  const families = new Map<string, Family>()
  for (const text of texts) {
    let described: Array<string> = []
    let name = ""
    for (const line of text.split("\n")) {
      if (line.startsWith("# HELP ") || line.startsWith("# TYPE ")) {
        const named = line.split(" ", 3)[2] ?? ""
        if (named !== name) described = []
        name = named
        described.push(line)
        if (!families.has(name)) families.set(name, { described, samples: [] })
      } else if (line !== "" && !line.startsWith("#")) {
        const own = families.get(name) ?? { described, samples: [] }
        families.set(name, own)
        own.samples.push(line)
      }
    }
  }
  return [...families.values()].flatMap(({ described, samples }) => [...described, ...samples, ""]).join("\n")
}

// Within a scraper's timeout, and enough for a dispatcher of ten thousand endpoints: some twenty megabytes.
const answerWithin = "2 seconds"
const bytesMax = 64 * 1_024 * 1_024

export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  url: Schema.String,
  reason: Schema.String
}) {}

/** The text at an address, whatever the status. */
export const textAt = (url: string) =>
  Effect.gen(function* () {
    const failed = (cause: unknown) => new NoAnswer({ url, reason: String(cause) })
    const { status, body } = yield* Effect.tryPromise({ try: (signal) => fetch(url, { signal }), catch: failed })
    if (body === null) return { status, text: "" }
    const parts: Array<Uint8Array> = []
    let bytes = 0
    yield* Stream.runForEach(Stream.fromReadableStream({ evaluate: () => body, onError: failed }), (part) => {
      bytes += part.length
      parts.push(part)
      return bytes > bytesMax ? Effect.fail(failed("too long")) : Effect.void
    })
    return { status, text: Buffer.concat(parts).toString("utf8") }
  }).pipe(
    Effect.timeoutOrElse({
      duration: answerWithin,
      orElse: () => Effect.fail(new NoAnswer({ url, reason: "no answer in time" }))
    })
  )

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
        const everything = Effect.map(Effect.all([metrics.text, sources.read], { concurrency: 2 }), ([own, others]) =>
          others.length === 0 ? own : joinFigures([own, ...others])
        )
        const routes: Routes = {
          "/metrics": (query) => Effect.map(query.get("of") === "process" ? metrics.text : everything, figures),
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
