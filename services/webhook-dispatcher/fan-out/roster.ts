/**
 * The roster: the endpoints that the fan-out knows, kept beside its cursor. It tells a newly configured endpoint, which
 * starts now, from one that was there all along. It also remembers since when an endpoint has been absent from the
 * configuration: within ArchiveAfterHours it can come back and miss nothing; after that its backlog goes to ABANDONED.
 */
import { hash } from "node:crypto"
import { Clock, Context, Effect, Layer } from "effect"
import { type BusError, header, StreamReader } from "#bus"
import { subjects } from "#contracts"
import { Configuration } from "#runtime"
import { type FanOutCursor, firstNeeded, park, readRoster, type Roster, rosterCodec } from "#webhooks"
import { AbandonedDeliveries, logGone } from "../abandoned.ts"
import { Endpoints } from "../endpoints/Endpoints.ts"
import type { FanOutStep } from "./plan.ts"

/**
 * The roster and cursor after a change of configuration. `archived`: endpoints absent for too long, no longer known.
 */
interface RosterChange {
  readonly roster: Roster
  readonly cursor: FanOutCursor
  readonly archived: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

interface ConfiguredEndpoint {
  readonly id: string
  readonly name: string
}

/** Identifies a set of configured endpoints. */
export const fingerprint = (configured: ReadonlyArray<ConfiguredEndpoint>) =>
  hash("sha256", JSON.stringify(configured.map((endpoint) => endpoint.id).toSorted()), "hex").slice(0, 32)

interface RosterInput {
  readonly configured: ReadonlyArray<ConfiguredEndpoint>
  /** The last sequence of EVENTS. */
  readonly lastSequence: number
  readonly nowMs: number
  readonly archiveAfterMs: number
  /** Whether an endpoint made at run time has the name now: it goes on in the place of the configured one. */
  readonly isMadeAtRunTime: (id: string) => boolean
  /** Whether the fan-out knows an endpoint made at run time: its place stays. */
  readonly isKnown: (id: string) => boolean
}

/** Applies the configured endpoints to the roster. Pure. */
export const changeRoster = (roster: Roster, cursor: FanOutCursor, now: RosterInput): RosterChange => {
  const { configured, lastSequence, nowMs, archiveAfterMs, isMadeAtRunTime, isKnown } = now
  const endpoints: Record<string, { name: string; absentSinceMs: number | null }> = {}
  const archived: Array<ConfiguredEndpoint> = []
  const present = new Set(configured.map((endpoint) => endpoint.id))
  let changed = cursor
  for (const [id, known] of Object.entries(roster.endpoints)) {
    if (present.has(id) || isMadeAtRunTime(id)) continue
    const absentSinceMs = known.absentSinceMs ?? nowMs
    if (nowMs - absentSinceMs >= archiveAfterMs) {
      archived.push({ id, name: known.name })
      continue
    }
    endpoints[id] = { name: known.name, absentSinceMs }
    changed = park(changed, id)
  }
  const next = { ...changed.next }
  for (const { id } of archived) delete next[id]
  for (const { id, name } of configured) {
    const isNew = roster.endpoints[id] === undefined && !isKnown(id)
    if (isNew && lastSequence + 1 > firstNeeded(changed, id)) next[id] = lastSequence + 1
    endpoints[id] = { name, absentSinceMs: null }
  }
  return { roster: { endpoints }, cursor: { ...changed, next, roster: fingerprint(configured) }, archived }
}

const absent = "the endpoint is no longer configured"
// Absence is counted in hours, so one look a minute is enough.
const lookEveryMs = 60_000

/** Keeps the stored roster equal to the configuration. */
export class RosterKeeper extends Context.Service<
  RosterKeeper,
  {
    /** A step when roster or cursor must change, otherwise nothing. */
    readonly keep: (
      cursor: FanOutCursor,
      isKnown: (id: string) => boolean
    ) => Effect.Effect<ReadonlyArray<FanOutStep>, BusError>
  }
>()("starling/webhook-dispatcher/RosterKeeper") {
  static readonly layer = Layer.effect(
    RosterKeeper,
    Effect.gen(function* () {
      const endpoints = yield* Endpoints
      const all = endpoints.configured
      const isMadeAtRunTime = (id: string) => endpoints.byId(id)?.madeAtRunTime != null
      const reader = yield* StreamReader
      const abandoned = yield* AbandonedDeliveries
      const { WebhookDelivery } = yield* Configuration
      const archiveAfterMs = WebhookDelivery.ArchiveAfterHours * 3_600_000
      const ours = fingerprint(all)
      let lookedAtMs = 0

      const keep = Effect.fnUntraced(function* (cursor: FanOutCursor, isKnown: (id: string) => boolean) {
        const nowMs = yield* Clock.currentTimeMillis
        if (cursor.roster === ours && nowMs - lookedAtMs < lookEveryMs) return []
        lookedAtMs = nowMs
        const roster = yield* Effect.provideService(readRoster, StreamReader, reader)
        const { lastSequence } = yield* reader.bounds("EVENTS")
        const change = changeRoster(roster, cursor, {
          configured: all,
          lastSequence,
          nowMs,
          archiveAfterMs,
          isMadeAtRunTime,
          isKnown
        })
        if (cursor.roster === ours && change.archived.length === 0) return []
        if (change.archived.length > 0) {
          const below = (yield* reader.bounds("DELIVERIES")).lastSequence + 1
          const putAway = (endpoint: ConfiguredEndpoint) => {
            const gone = { ...endpoint, reason: absent, below }
            return Effect.flatMap(abandoned.endpoint(gone), (deliveries) => logGone(gone, deliveries))
          }
          yield* Effect.forEach(change.archived, putAway, { discard: true })
        }
        const data = rosterCodec.encode(change.roster).data
        const message = { subject: subjects.deliveriesRoster, data, headers: [[header.rollup, "sub"]] as const }
        return [{ messages: [message], cursor: change.cursor }]
      })
      return RosterKeeper.of({ keep })
    })
  )
}
