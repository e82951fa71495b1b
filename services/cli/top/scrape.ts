/**
 * Reads every process at once: those at the given addresses, otherwise those of the fleet in this home. A process that
 * does not answer in time delays no other and is shown as down.
 */
import { Clock, Effect, Result, Schema, Stream } from "effect"
import { readNotes, readSettings } from "#fleet"
import { misused } from "../console.ts"
import { readReady } from "../home-fleet.ts"
import { type Exposition, parseExposition } from "./exposition.ts"
import type { Readiness, Target } from "./frame.ts"
import type { Reading } from "./window.ts"

// More are work for a monitoring system.
const targetsMax = 64

const Ready = Schema.Struct({ metrics: Schema.String })

/** The addresses of a fleet's home, found again before each reading, for a restarted process listens elsewhere. */
export const findTargets = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  if (given.length > 0) return yield* targetsOf(given)
  const { home } = yield* readSettings
  const { metrics } = yield* readReady(home, Ready, ", or name one with --url")
  const notes = yield* readNotes(home)
  const targets: ReadonlyArray<Target> = [
    { url: metrics, roles: [] },
    ...notes.map((note) => ({ url: note.metrics, roles: [note.role] }))
  ]
  return targets
})

const targetsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const urls = [...new Set(given.flatMap((each) => each.split(",")).map((each) => each.trim()))]
  if (urls.length > targetsMax) return yield* misused(`at most ${targetsMax} processes can be watched at once`)
  return yield* Effect.forEach(urls, targetOf)
})

const targetOf = Effect.fnUntraced(function* (given: string) {
  const written = given.includes("://") ? given : `http://${given}`
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url === undefined || !/^https?:$/u.test(url.protocol)) {
    return yield* misused(`--url ${given}? it is where a process shows its metrics, such as http://10.0.0.7:9400`)
  }
  const target: Target = { url: `${url.origin}${url.pathname.replace(/\/(?:metrics)?$/u, "")}`, roles: [] }
  return target
})

const answerWithin = "2 seconds"
// A dispatcher of ten thousand endpoints exposes some twenty megabytes.
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
  textOf(`${url}/metrics?of=process`).pipe(
    // The answer does not come from a process of ours.
    Effect.map((text) => (text.includes("process_cpu_seconds_total") ? parseExposition(text) : undefined)),
    Effect.orElseSucceed((): Exposition | undefined => undefined)
  )

const readinessOf = (url: string) =>
  textOf(`${url}/readyz`).pipe(
    Effect.map((text) => Result.getOrUndefined(Schema.decodeResult(Report)(text))),
    Effect.orElseSucceed((): Readiness | undefined => undefined)
  )

/** Reads the text of any status: a process that is not ready says why. */
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
