/** One reading of every process at once. One that does not answer in time holds up nobody and is shown as down. */
import { Clock, Effect, Result, Schema, Stream } from "effect"
import { type Exposition, parseExposition } from "./exposition.ts"
import type { Readiness, Target } from "./roles.ts"
import type { Reading } from "./window.ts"

const answerWithin = "2 seconds"
// A dispatcher of ten thousand endpoints shows some twenty megabytes.
const bytesMax = 64 * 1_024 * 1_024

class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { url: Schema.String, reason: Schema.String }) {}

const Report = Schema.fromJsonString(Schema.Struct({ checks: Schema.Record(Schema.String, Schema.String) }))

export interface Scraped {
  readonly reading: Reading
  readonly readiness: ReadonlyMap<string, Readiness | undefined>
}

export const scrape = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
  const found = yield* Effect.forEach(
    targets,
    ({ url }) => Effect.all([metricsOf(url), readinessOf(url)], concurrent),
    {
      concurrency: 16
    }
  )
  const atMs = yield* Clock.currentTimeMillis
  const expositions = new Map<string, Exposition | undefined>()
  const readiness = new Map<string, Readiness | undefined>()
  for (const [index, { url }] of targets.entries()) {
    expositions.set(url, found[index]?.[0])
    readiness.set(url, found[index]?.[1])
  }
  const scraped: Scraped = { reading: { atMs, targets: expositions }, readiness }
  return scraped
})

const concurrent = { concurrency: "unbounded" } as const

const metricsOf = (url: string) =>
  textOf(`${url}/metrics`).pipe(
    // Something answers there that is none of ours.
    Effect.map((text) => (text.includes("process_cpu_seconds_total") ? parseExposition(text) : undefined)),
    Effect.orElseSucceed((): Exposition | undefined => undefined)
  )

const readinessOf = (url: string) =>
  textOf(`${url}/readyz`).pipe(
    Effect.map((text) => Result.getOrUndefined(Schema.decodeResult(Report)(text))),
    Effect.orElseSucceed((): Readiness | undefined => undefined)
  )

/** Also of an answer that is not 200: a process that is not ready says why. */
const textOf = (url: string) =>
  Effect.gen(function* () {
    const failed = (cause: unknown) => new NoAnswer({ url, reason: String(cause) })
    const response = yield* Effect.tryPromise({ try: (signal) => fetch(url, { signal }), catch: failed })
    if (response.body === null) return ""
    const body = response.body
    const decoder = new TextDecoder()
    const parts: Array<string> = []
    let bytes = 0
    yield* Stream.runForEach(Stream.fromReadableStream({ evaluate: () => body, onError: failed }), (part) => {
      bytes += part.length
      parts.push(decoder.decode(part, { stream: true }))
      return bytes > bytesMax ? Effect.fail(failed("too long")) : Effect.void
    })
    return parts.join("")
  }).pipe(
    Effect.timeoutOrElse({
      duration: answerWithin,
      orElse: () => Effect.fail(new NoAnswer({ url, reason: "no answer in time" }))
    })
  )
