/** An API on the test's own socket, and ways to talk to it below the level of fetch. */
import { connect, type Socket } from "node:net"
import { Cause, Effect, Layer, Logger, References } from "effect"
import { HttpListener, type ListenerOptions, type Route } from "#http"
import { Drain, Health, Metrics } from "#runtime"

export interface LogLine {
  readonly level: string
  readonly text: string
  readonly annotations: Readonly<Record<string, unknown>>
}

/** Everything that is logged, in order. */
const recordLogs = (lines: Array<LogLine>) =>
  Layer.mergeAll(
    Logger.layer([
      Logger.make((entry) => {
        const annotations = { ...entry.fiber.getRef(References.CurrentLogAnnotations) }
        const parts = [...(Array.isArray(entry.message) ? entry.message : [entry.message]), Cause.pretty(entry.cause)]
        lines.push({ level: entry.logLevel, text: parts.map(String).join(" ").trim(), annotations })
      })
    ]),
    Layer.succeed(References.MinimumLogLevel, "Trace")
  )

export const under = Drain.layer.pipe(Layer.provideMerge(Layer.merge(Health.layer, Metrics.layerTest)))

/** The listener with its dependencies. */
export const api = <const Routes extends ReadonlyArray<Route<unknown>>>(
  routes: Routes,
  more: Partial<Omit<ListenerOptions<Routes>, "routes">> = {},
  lines: Array<LogLine> = []
) =>
  HttpListener.layer({ name: "test", host: "127.0.0.1", port: 0, ...more, routes }).pipe(
    Layer.provideMerge(under),
    Layer.provideMerge(recordLogs(lines))
  )

export const call = (path: string, init?: RequestInit) =>
  Effect.gen(function* () {
    const { url } = yield* HttpListener
    const response = yield* Effect.promise(() => fetch(`${url}${path}`, init))
    const text = yield* Effect.promise(() => response.text())
    const isJson = text !== "" && response.headers.get("content-type")?.startsWith("application/json")
    const body: unknown = isJson ? JSON.parse(text) : text
    return { status: response.status, headers: response.headers, text, body }
  })

export const post = (path: string, body: RequestInit["body"], contentType = "application/json") =>
  call(path, { method: "POST", body: body ?? null, headers: { "content-type": contentType } })

/** The envelope's description of an error. */
export const errorOf = (answer: { readonly body: unknown }) =>
  (answer.body as { error: { code: string; fields?: Record<string, string>; details?: { offset?: number } } }).error

/** A plain connection, for bytes that no client would send. */
export const dial = Effect.gen(function* () {
  const { host, port } = yield* HttpListener
  return yield* Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket = connect({ host, port, allowHalfOpen: true }, () => resume(Effect.succeed(socket)))
      socket.on("error", () => undefined)
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
})

/** Everything that arrives until the other side has closed. */
export const readAll = (socket: Socket) =>
  Effect.callback<string>((resume) => {
    let text = ""
    const done = () => resume(Effect.succeed(text))
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")))
    socket.once("end", done)
    socket.once("close", done)
  })

/** Real time, also where the test's clock stands still. */
export const pause = (ms: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, ms)))
