import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { eventRelay, eventRelayPlace, Views } from "#actors"
import { Kv, StreamReader } from "#bus"
import { Count, subjects } from "#base"
import { openSpendLedger } from "../../../services/sweeper/spend-ledger.ts"
import { reconciliationSweep } from "../../../services/sweeper/reconciliation.ts"
import { purgeSweep, retentionSweep } from "../../../services/sweeper/retention.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { later } from "../../support/clock.ts"
import { rowOf } from "./actors-at-work.ts"
import { begun, dispatched, fleet, item, reported, shownAs, toItem } from "./fleet-at-work.ts"
import { dayMs, minuteMs, present } from "./rows.ts"

describe("the sweeper", () => {
  it.live("retires long-ended entities, and removes their history from the log 31 days later", () =>
    fleet(
      { Pipeline: { ItemsKeptDays: 1 } },
      Effect.gen(function* () {
        const reader = yield* StreamReader
        const records = Effect.map(
          reader.countBySubject("LOG", subjects.log("workitem", item)),
          (counts) => counts[subjects.log("workitem", item)] ?? 0
        )
        yield* dispatched
        yield* reported({ kind: "failed", reason: "no idea", failureKind: "agent" })
        yield* shownAs("workitem", item, "Failed")
        const retire = yield* begun(retentionSweep)
        assert.deepStrictEqual(yield* retire, {})
        yield* later(2 * dayMs)(retire)
        assert.strictEqual((yield* Effect.flip(toItem({ _tag: "Resume" })))._tag, "EntityNotFound")
        yield* eventually(rowOf("workitem", item), { is: (row) => row === undefined })

        const purge = yield* begun(purgeSweep)
        yield* Effect.forkScoped(yield* eventRelay(Effect.void))
        const { lastSequence } = yield* reader.bounds("LOG")
        const cursors = yield* (yield* Kv).open("cursors", Schema.Struct({ position: Count }))
        yield* cursors.create("follow-ups", { position: lastSequence })
        yield* (yield* openSpendLedger()).catchUp(present())
        yield* eventually(reader.last(eventRelayPlace.stream, eventRelayPlace.subject), { is: Option.isSome })
        const views = yield* Views
        yield* eventually(() => views.freshness().sequence, { is: (sequence) => sequence >= lastSequence })

        assert.deepStrictEqual(yield* later(31 * dayMs - minuteMs)(purge), { "purged-record": 0 })
        const before = yield* records
        yield* eventually(later(31 * dayMs + minuteMs)(purge), { is: (found) => found["purged-record"] === before - 1 })
        assert.strictEqual(yield* records, 1)
        assert.strictEqual((yield* Effect.flip(toItem({ _tag: "Resume" })))._tag, "EntityNotFound")
      })
    )
  )

  it.live("finds every event of the log, and names a missing one", () =>
    fleet(
      {},
      Effect.gen(function* () {
        const reader = yield* StreamReader
        yield* dispatched
        const { lastSequence } = yield* reader.bounds("LOG")
        yield* Effect.forkScoped(yield* eventRelay(Effect.void))
        yield* eventually(reader.bounds("EVENTS"), { is: ({ messages }) => messages >= 2 })
        const good = yield* begun(reconciliationSweep)
        assert.deepStrictEqual(yield* good, {})
        assert.deepStrictEqual(yield* good, { "missing-event": 0, "outdated-view": 0, "unreadable-record": 0 })
        assert.deepStrictEqual(yield* good, {})

        yield* reader.purge("EVENTS", subjects.event("work_item.working"))
        yield* reader.purge("KV_sweeps", "$KV.sweeps.>")
        const bad = yield* begun(reconciliationSweep)
        yield* bad
        assert.deepStrictEqual(yield* bad, { "missing-event": 1, "outdated-view": 0, "unreadable-record": 0 })
        assert.isAbove(lastSequence, 0)
      })
    )
  )
})
