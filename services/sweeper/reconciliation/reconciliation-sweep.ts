/**
 * The reconciliation: compares LOG with the events and the views that are made of it, and says what is missing. It
 * mends nothing: what is missing was lost by a mistake, and somebody must look. It stays one run behind the relay, so
 * that events that are on their way count as there.
 */
import { Clock, Effect, Option } from "effect"
import { Views } from "#actors"
import { type BusError, eventsKeptDays, StreamReader } from "#bus"
import { Configuration } from "#runtime"
import { readAnnounced } from "../log-readers.ts"
import { Marks } from "../Marks.ts"
import type { Findings, Sweep } from "../sweep.ts"
import { missingEvents, outdatedViews } from "./compare.ts"
import { readAnnouncedEvents, readRecorded, recordsMax } from "./read-recorded.ts"

const dayMs = 86_400_000
// A day less than EVENTS keeps: at its edge an event may just have gone.
const keptMs = (eventsKeptDays - 1) * dayMs
const key = "reconciliation"
// Enough to look them up by; the metric says how many there are.
const idsShownMax = 10

export const reconciliationSweep: Effect.Effect<Sweep, never, Configuration | Marks | StreamReader | Views> =
  Effect.gen(function* () {
    const { Sweeper } = yield* Configuration
    const marks = yield* Marks
    const reader = yield* StreamReader
    const views = yield* Views

    const compareTo = Effect.fnUntraced(function* (announced: number): Effect.fn.Return<Findings, BusError> {
      const keptSinceMs = (yield* Clock.currentTimeMillis) - keptMs
      const held = yield* marks.read(key)
      const mark = Option.getOrUndefined(held.mark)
      const from = mark?._tag === "Reconciliation" ? mark : { position: 0, eventsPosition: 0 }
      const position = Math.min(announced, from.position + recordsMax)
      if (position <= from.position) return {}
      const { records, unreadable } = yield* readRecorded(reader, from.position + 1, position)
      const events = yield* readAnnouncedEvents(reader, from.eventsPosition, position)
      const missing = missingEvents(records, (id) => events.ids.has(id), keptSinceMs)
      const find = (entity: string, id: string) => Option.getOrUndefined(views.find(entity, id))
      const outdated = outdatedViews(records, find, views.freshness().sequence)
      if (missing.length + outdated.length > 0) {
        const found = { missing: missing.slice(0, idsShownMax), outdated: outdated.slice(0, idsShownMax) }
        yield* Effect.logError("LOG says what events or views do not").pipe(Effect.annotateLogs(found))
      }
      yield* marks.set(key, held, { _tag: "Reconciliation", position, eventsPosition: events.position })
      return { "missing-event": missing.length, "outdated-view": outdated.length, "unreadable-record": unreadable }
    })

    const begin = Effect.sync(() => {
      let before = 0
      return Effect.gen(function* () {
        const announced = yield* readAnnounced(reader)
        const findings = yield* compareTo(before)
        before = announced
        return findings
      })
    })
    return { name: "reconciliation", everyMs: Sweeper.ReconciliationSeconds * 1_000, begin }
  })
