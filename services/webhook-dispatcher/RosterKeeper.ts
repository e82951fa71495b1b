/**
 * Keeps the fan-out's roster true to the configuration: new endpoints start now, absent ones are parked,
 * and those absent for longer than ArchiveAfterHours are archived, their backlog moved to ABANDONED.
 */
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { subjects } from "#contracts"
import { type BusError, BusRefused, header, StreamReader } from "#bus"
import { Configuration } from "#runtime"
import { Archive } from "./Archive.ts"
import { Endpoints } from "./Endpoints.ts"
import type { FanOutCursor } from "./fan-out-cursor.ts"
import type { FanOutStep } from "./fan-out-plan.ts"
import { changeRoster, emptyRoster, fingerprint, type Roster, rosterCodec } from "./roster.ts"

// Absence is counted in hours; looking at it more often than once a minute tells nothing new.
const lookEveryMs = 60_000

export class RosterKeeper extends Context.Service<
  RosterKeeper,
  {
    /** A step when roster or cursor must change, else nothing. */
    readonly keep: (cursor: FanOutCursor) => Effect.Effect<ReadonlyArray<FanOutStep>, BusError>
  }
>()("starling/webhook-dispatcher/RosterKeeper") {
  static readonly layer = Layer.effect(
    RosterKeeper,
    Effect.gen(function* () {
      const { all } = yield* Endpoints
      const reader = yield* StreamReader
      const archive = yield* Archive
      const { WebhookDelivery } = yield* Configuration
      const archiveAfterMs = WebhookDelivery.ArchiveAfterHours * 3_600_000
      const ours = fingerprint(all)
      let lookedAtMs = 0

      const keep = Effect.fnUntraced(function* (cursor: FanOutCursor) {
        const nowMs = yield* Clock.currentTimeMillis
        if (cursor.roster === ours && nowMs - lookedAtMs < lookEveryMs) return []
        lookedAtMs = nowMs
        const roster = yield* loadRoster(reader)
        const { lastSequence } = yield* reader.bounds("EVENTS")
        const change = changeRoster(roster, cursor, all, lastSequence, nowMs, archiveAfterMs)
        if (cursor.roster === ours && change.archived.length === 0) return []
        yield* Effect.forEach(change.archived, ({ id, name }) => archive.endpoint(id, name), { discard: true })
        const data = rosterCodec.encode(change.roster).data
        const message = { subject: subjects.deliveriesRoster, data, headers: [[header.rollup, "sub"]] as const }
        return [{ messages: [message], cursor: change.cursor }]
      })
      return RosterKeeper.of({ keep })
    })
  )
}

const loadRoster = Effect.fnUntraced(function* (reader: StreamReader["Service"]): Effect.fn.Return<Roster, BusError> {
  const stored = yield* reader.last("DELIVERIES", subjects.deliveriesRoster)
  if (Option.isNone(stored)) return emptyRoster
  const decoded = rosterCodec.decode(stored.value)
  if (Result.isSuccess(decoded)) return decoded.success
  const detail = `the stored roster is broken: ${JSON.stringify(decoded.failure)}`
  return yield* new BusRefused({ operation: "read the roster", detail, code: 0 })
})
