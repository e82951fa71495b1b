/**
 * The endpoints that the fan-out knows, kept beside its cursor. It tells a newly configured endpoint (which
 * starts now) from one that was there all along, and remembers since when one has been absent from the
 * configuration: within a day it can come back and miss nothing, after that it is archived.
 */
import { hash } from "node:crypto"
import { Schema } from "effect"
import { jsonCodec } from "#bus"
import { type FanOutCursor, firstNeeded, park } from "./fan-out-cursor.ts"

export const Roster = Schema.Struct({
  endpoints: Schema.Record(
    Schema.String,
    Schema.Struct({ name: Schema.String, absentSinceMs: Schema.NullOr(Schema.Int) })
  )
})
export interface Roster extends Schema.Schema.Type<typeof Roster> {}

export const rosterCodec = jsonCodec(Roster)
export const emptyRoster: Roster = { endpoints: {} }

/** What a changed configuration makes of roster and cursor. `archived`: absent for too long, no longer known. */
export interface RosterChange {
  readonly roster: Roster
  readonly cursor: FanOutCursor
  readonly archived: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

export interface ConfiguredEndpoint {
  readonly id: string
  readonly name: string
}

/** Identifies a set of configured endpoints. */
export const fingerprint = (configured: ReadonlyArray<ConfiguredEndpoint>) =>
  hash("sha256", JSON.stringify(configured.map((endpoint) => endpoint.id).toSorted()), "hex").slice(0, 32)

export const changeRoster = (
  roster: Roster,
  cursor: FanOutCursor,
  configured: ReadonlyArray<ConfiguredEndpoint>,
  lastSequence: number,
  nowMs: number,
  archiveAfterMs: number
): RosterChange => {
  const endpoints: Record<string, { name: string; absentSinceMs: number | null }> = {}
  const archived: Array<ConfiguredEndpoint> = []
  const present = new Set(configured.map((endpoint) => endpoint.id))
  let changed = cursor
  for (const [id, known] of Object.entries(roster.endpoints)) {
    if (present.has(id)) continue
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
    const isNew = roster.endpoints[id] === undefined
    if (isNew && lastSequence + 1 > firstNeeded(changed, id)) next[id] = lastSequence + 1
    endpoints[id] = { name, absentSinceMs: null }
  }
  return { roster: { endpoints }, cursor: { ...changed, next, roster: fingerprint(configured) }, archived }
}
