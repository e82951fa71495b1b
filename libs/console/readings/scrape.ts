/**
 * Reads every process at once, and makes a frame of the last few readings. A process that does not answer in time
 * delays no other and is shown as down.
 */
import { Clock, Effect, Result, Schema } from "effect"
import { textAt } from "#runtime"
import { type Exposition, parseExposition, type Reading } from "./readings.ts"
import type { Readiness, Target } from "./role-rows.ts"
import { type Frame, frameOf } from "./frame.ts"

/** A frame, and the reading that it was made of. */
export interface Scan {
  readonly frame: Frame
  readonly reading: Reading
  /** With the roles that ran there, also of one that does not answer. */
  readonly targets: ReadonlyArray<Target>
  /** By address; undefined for a process that does not answer. */
  readonly readiness: ReadonlyMap<string, Readiness | undefined>
}

/** Beyond this, use a monitoring system. */
export const processesMax = 64

const Report = Schema.fromJsonString(
  Schema.Struct({ ok: Schema.Boolean, checks: Schema.Record(Schema.String, Schema.String) })
)

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
  textAt(`${url}/metrics?of=process`).pipe(
    // The answer does not come from a process of ours.
    Effect.map(({ text }) => (text.includes("process_cpu_seconds_total") ? parseExposition(text) : undefined)),
    Effect.orElseSucceed((): Exposition | undefined => undefined)
  )

/** A process's readiness report, whatever the status; undefined when it does not answer. */
const readinessOf = (url: string) =>
  textAt(`${url}/readyz`).pipe(
    Effect.map(({ text }) => Result.getOrUndefined(Schema.decodeResult(Report)(text))),
    Effect.orElseSucceed((): Readiness | undefined => undefined)
  )

// A million characters of metrics take 60 ms to write and 80 ms to read: this limits it to a tenth of a core on either
// side.
const msPerMillionCharacters = 800
const everyMsMax = 60_000

/**
 * How long after a reading the next one is due: by its length, because a process shows its metrics by endpoint. Pure.
 */
export const readAgainAfterMs = (characters: number): number => {
  const wantedMs = (characters / 1e6) * msPerMillionCharacters
  // Below a second the viewer sets the pace.
  return wantedMs < 1_000 ? 0 : Math.min(everyMsMax, wantedMs)
}

// Enough readings for a steady rate, few enough to follow what happens.
const windowReadings = 5

/**
 * Makes a frame each time, over the last few readings: the first one has no rates. It remembers which roles ran at an
 * address that no longer answers. Readings older than `staleMs` are dropped: rates over an hour are not current. A
 * frame that took a lot of reading is reused until the next reading is due.
 */
export const framesOf = (staleMs = Number.POSITIVE_INFINITY) => {
  let readings: ReadonlyArray<Reading> = []
  const rolesAt = new Map<string, ReadonlyArray<string>>()
  let last: (Scan & { readonly againAfterMs: number }) | undefined
  return Effect.fnUntraced(function* (found: ReadonlyArray<Target>): Effect.fn.Return<Scan> {
    const nowMs = yield* Clock.currentTimeMillis
    // A first frame has no rates, so the second reading is made on request.
    if (last !== undefined && last.frame.windowSeconds > 0 && nowMs - last.reading.atMs < last.againAfterMs) return last
    const { reading, readiness } = yield* scrape(found)
    const targets = found.map(({ url, roles }) => ({ url, roles: rolesAt.get(url) ?? roles }))
    const againAfterMs = readAgainAfterMs(charactersOf(reading))
    readings = readings.filter(({ atMs }) => reading.atMs - atMs <= Math.max(staleMs, windowReadings * againAfterMs))
    const frame = frameOf({ before: readings[0], after: reading, targets, readiness })
    for (const url of rolesAt.keys()) if (targets.every((target) => target.url !== url)) rolesAt.delete(url)
    for (const { url } of targets) {
      const here = frame.roles.filter(({ at, state }) => at === url && state !== "down").map(({ role }) => role)
      if (here.length > 0) rolesAt.set(url, here)
    }
    readings = [...readings, reading].slice(-windowReadings)
    last = { frame, reading, targets, readiness, againAfterMs }
    return last
  })
}

const charactersOf = ({ targets }: Reading) =>
  [...targets.values()].reduce((sum, exposition) => sum + (exposition?.characters ?? 0), 0)
