/**
 * The checks that only the console can make, which sees all tokens and all streams: tokens that end soon, streams that
 * will soon refuse, and streams that are not as declared. No replica is unready for either.
 */
import { Clock, Effect, Layer } from "effect"
import {
  type BusError,
  streamDifferences,
  type StreamFigures,
  StreamReader,
  topology,
  topologyDifferences,
  topologyOf
} from "#bus"
import { Configuration } from "#configuration"
import { type TokenRecord, Tokens } from "#http"
import { check, Metrics, Platform } from "#runtime"

const dayMs = 86_400_000
const endsWithinMs = 7 * dayMs
// A token that was made for less was meant to end.
const lifeMsMin = 14 * dayMs
const namedMax = 5
const fillMax = 0.8

export const consoleChecks = Layer.effectDiscard(
  Effect.gen(function* () {
    const { list } = yield* Tokens
    const { figures } = yield* StreamReader
    const now = Effect.all([list, Clock.currentTimeMillis])
    yield* check({ name: "tokens", run: judged(now, ([all, nowMs]) => endingSoon(all, nowMs)) })
    for (const { name, discard } of topology.streams) {
      if (discard === "new") yield* check({ name: "room", subject: name, run: judged(figures(name), nearlyFull) })
    }
  })
)

// The rest is as wrong, and a line has an end.
const differencesShownMax = 3

/** The streams as they are now: each role compared its own at its start, and an operator can change them afterwards. */
export const topologyCheck = Layer.effectDiscard(
  Effect.gen(function* () {
    const { WebhookDelivery } = yield* Configuration
    const { Bus } = yield* Platform
    const gauge = (yield* Metrics).gauge(topologyDifferences)
    const run = streamDifferences(topologyOf(WebhookDelivery.Lanes), Bus.Replicas).pipe(
      Effect.mapError(() => undefined),
      Effect.tap((all) => Effect.sync(() => gauge.set({}, all.length))),
      Effect.flatMap((all) =>
        all.length === 0 ? Effect.void : Effect.fail(all.slice(0, differencesShownMax).join("; "))
      )
    )
    yield* check({ name: "declarations", run })
  })
)

const judged = <A>(look: Effect.Effect<A, BusError>, faultOf: (seen: A) => string | undefined) =>
  look.pipe(
    Effect.mapError(() => undefined),
    Effect.map(faultOf),
    Effect.flatMap((fault) => (fault === undefined ? Effect.void : Effect.fail(fault)))
  )

const nearlyFull = ({ bytes, bytesMax }: StreamFigures) =>
  bytesMax !== null && bytes > fillMax * bytesMax
    ? `more than ${fillMax * 100} % of its room is used; full, it refuses what comes`
    : undefined

/** Not the sessions of pages, which end every day. Pure. */
export const endingSoon = (all: ReadonlyArray<TokenRecord>, nowMs: number): string | undefined => {
  const ending = all.flatMap(({ id, label, createdAt, expiresAt, revokedAt, maker, person }) => {
    if (expiresAt === undefined || revokedAt !== null || maker !== undefined || person !== undefined) return []
    const endsAtMs = Date.parse(expiresAt)
    const isSoon = endsAtMs > nowMs && endsAtMs <= nowMs + endsWithinMs
    return isSoon && endsAtMs - Date.parse(createdAt) >= lifeMsMin
      ? [label === undefined ? id : `${id} (${label})`]
      : []
  })
  if (ending.length === 0) return undefined
  const more = ending.length > namedMax ? ` and ${ending.length - namedMax} more` : ""
  return `within seven days end ${ending.slice(0, namedMax).join(", ")}${more}`
}
