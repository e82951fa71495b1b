/**
 * Reads every process at once, and makes a frame of the last few readings. A process that does not answer in time
 * delays no other and is shown as down.
 */
import { Clock, Effect, Result, Schema, Stream } from "effect"
import { type Exposition, parseExposition } from "./exposition.ts"
import { type Frame, frameOf, type Readiness, type Target } from "./frame.ts"
import type { Reading } from "./window.ts"

/** More are work for a monitoring system. */
export const processesMax = 64

const answerWithin = "2 seconds"
// A dispatcher of ten thousand endpoints exposes some twenty megabytes.
const bytesMax = 64 * 1_024 * 1_024

class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { url: Schema.String, reason: Schema.String }) {}

const Report = Schema.fromJsonString(Schema.Struct({ checks: Schema.Record(Schema.String, Schema.String) }))

interface Scraped {
  readonly reading: Reading
  readonly readiness: ReadonlyMap<string, Readiness | undefined>
}

const scrape = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
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

/** What a process says of its readiness; undefined when it does not answer. */
export const readinessOf = (url: string) =>
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

// Enough readings for a steady rate, few enough to follow what happens.
const windowReadings = 5

/**
 * Makes a frame each time, over the last few readings: the first one has no rates. It remembers which roles ran at an
 * address that no longer answers. Readings older than `staleMs` are left out: rates over an hour are not those of now.
 */
export const framesOf = (staleMs = Number.POSITIVE_INFINITY) => {
  let readings: ReadonlyArray<Reading> = []
  const rolesAt = new Map<string, ReadonlyArray<string>>()
  return Effect.fnUntraced(function* (found: ReadonlyArray<Target>): Effect.fn.Return<Frame> {
    const { reading, readiness } = yield* scrape(found)
    const targets = found.map(({ url, roles }) => ({ url, roles: rolesAt.get(url) ?? roles }))
    readings = readings.filter(({ atMs }) => reading.atMs - atMs <= staleMs)
    const frame = frameOf({ before: readings[0], after: reading, targets, readiness })
    for (const url of rolesAt.keys()) if (targets.every((target) => target.url !== url)) rolesAt.delete(url)
    for (const { url } of targets) {
      const here = frame.roles.filter(({ at, state }) => at === url && state !== "down").map(({ role }) => role)
      if (here.length > 0) rolesAt.set(url, here)
    }
    readings = [...readings, reading].slice(-windowReadings)
    return frame
  })
}
