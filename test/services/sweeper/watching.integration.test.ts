import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { Actors, announceRelay, Views } from "#actor"
import { Kv, StreamReader } from "#bus"
import {
  type AgentCommand,
  Count,
  forecastKey,
  QuotaForecast,
  subjects,
  type WorkItemCommand,
  type WorkItemReport,
  workItemSettingsDefault
} from "#contracts"
import { agent } from "../../../services/pipeline-api/agent/index.ts"
import { workItem } from "../../../services/pipeline-api/work-item/index.ts"
import { adviceSweep } from "../../../services/sweeper/advice/advice-sweep.ts"
import { agentSweep } from "../../../services/sweeper/agents/agent-sweep.ts"
import { restoreSweep } from "../../../services/sweeper/agents/restore-sweep.ts"
import { openSpendLedger } from "../../../services/sweeper/budget/SpendLedger.ts"
import { reconciliationSweep } from "../../../services/sweeper/reconciliation/reconciliation-sweep.ts"
import { purgeSweep } from "../../../services/sweeper/retention/purge-sweep.ts"
import { retentionSweep } from "../../../services/sweeper/retention/retention-sweep.ts"
import { retrySweep } from "../../../services/sweeper/retries/retry-sweep.ts"
import type { Sweep } from "../../../services/sweeper/sweep.ts"
import { deadWorkerReaper } from "../../../services/sweeper/watchdogs/dead-worker-reaper.ts"
import { eventually, natsServer } from "../../support/bus.ts"
import { later, standingAt } from "../../support/clock.ts"
import { creation } from "../pipeline-api/work-item/item-at-work.ts"
import { eventsOf, inProcess, rowOf, serveActors, serveAgents, serveItems } from "./actors-at-work.ts"
import { dayMs, hourMs, minuteMs, present, uuid } from "./rows.ts"

const item = uuid(1)
let commands = 0
const next = () => `c${(commands += 1)}`

const toItem = (command: WorkItemCommand, id = item) =>
  Effect.flatMap(Actors, (actors) => actors.run(workItem, { id, commandId: next() }, command))
const toAgent = (command: AgentCommand, id = "smith") =>
  Effect.flatMap(Actors, (actors) => actors.run(agent, { id, commandId: next() }, command))

const settings = { ...workItemSettingsDefault, transientBackoff: { initialMs: 1, maxMs: 1, jitter: 0 } }

const dispatched = Effect.gen(function* () {
  yield* toItem(creation({ settings }))
  yield* toItem({
    _tag: "Dispatch",
    dispatchId: "d1",
    phase: "work",
    agent: "smith",
    model: null,
    agentInstanceId: null,
    runner: "forge-1",
    sandboxId: null,
    auditors: [],
    settings
  })
})
const reported = (fields: Record<string, unknown>) =>
  toItem({
    _tag: "Report",
    report: { reportId: next(), workItemId: item, dispatchId: "d1", ...fields } as WorkItemReport,
    jitter: 0,
    freshWorkItemId: uuid(2)
  })

const shownAs = (entity: string, id: string, state: string) =>
  eventually(Effect.map(rowOf(entity, id), (row) => row?.state === state))
const namesOf = (entity: string, id: string) =>
  Effect.map(eventsOf(entity, id), (events) => events.map(({ event }) => event))

/** A fleet with actors, in whose process the test runs too. */
const fleet = <A, E, R>(configuration: unknown, test: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* inProcess(server, configuration, Effect.andThen(serveActors, test))
  }).pipe(Effect.scoped)

const begun = Effect.fnUntraced(function* <R>(making: Effect.Effect<Sweep, never, R>) {
  return yield* (yield* making).begin
})

describe("the sweeper", () => {
  it.live("hands the item of a silent runner back, once, and says why", () =>
    fleet(
      { Pipeline: { ProgressSeconds: 0.1, ProgressTimeoutSeconds: 0.4 } },
      Effect.gen(function* () {
        yield* dispatched
        const sweep = yield* begun(deadWorkerReaper)
        yield* shownAs("workitem", item, "Working")
        yield* eventually(Effect.map(sweep, (found) => found["dead-worker"] === 1))
        yield* shownAs("workitem", item, "Queued")
        yield* sweep
        const [recovered, ...more] = (yield* eventsOf("workitem", item)).filter(
          ({ event }) => event === "work_item.recovered"
        )
        assert.strictEqual(recovered?.details?.["reason"], "dead worker detected")
        assert.strictEqual(recovered?.details?.["recoveryAttempt"], 1)
        assert.strictEqual(more.length, 0)
      })
    )
  )

  it.live("says of an item that was silent before the start that it was stranded", () =>
    fleet(
      { Pipeline: { ProgressSeconds: 30, ProgressTimeoutSeconds: 180 } },
      Effect.gen(function* () {
        yield* dispatched
        yield* shownAs("workitem", item, "Working")
        // A watch that leaps would take views that are behind for ones that stand still.
        yield* eventually(Effect.map(Views, (views) => views.freshness().behind === 0))
        const startedLater = later(hourMs)
        const sweep = yield* startedLater(begun(deadWorkerReaper))
        assert.deepStrictEqual(yield* startedLater(sweep), {})
        yield* eventually(Effect.map(later(hourMs + minuteMs)(sweep), (found) => found["dead-worker"] === 1))
        const events = yield* eventsOf("workitem", item)
        assert.strictEqual(events.at(-1)?.details?.["reason"], "orchestrator restart with stranded item")
      })
    )
  )

  it.live("queues an item again after a transport failure, first for the start's sake, then when its time comes", () =>
    fleet(
      {},
      Effect.gen(function* () {
        yield* dispatched
        yield* reported({ kind: "transient-failed", reason: "connection reset" })
        yield* shownAs("workitem", item, "WaitingForTransientRetry")
        const sweep = yield* begun(retrySweep)
        yield* eventually(Effect.map(sweep, (found) => found["transient-startup"] === 1))
        yield* shownAs("workitem", item, "Queued")
        const retried = (yield* eventsOf("workitem", item)).at(-1)
        assert.deepStrictEqual(retried?.details, {
          workItemId: item,
          reason: "transient",
          attemptNumber: 1,
          triggeredBy: "startup"
        })
        assert.deepStrictEqual(yield* sweep, {})
      })
    )
  )

  it.live("resumes an agent when the time of its pause is over", () =>
    fleet(
      {},
      Effect.gen(function* () {
        const expiresAtMs = present() + 300
        yield* toAgent({ _tag: "Pause", reason: "holiday", pausedBy: "ann", expiresAtMs })
        yield* shownAs("agent", "smith", "Paused")
        const sweep = yield* begun(agentSweep)
        assert.deepStrictEqual(yield* standingAt(expiresAtMs - 1)(sweep), {})
        yield* eventually(Effect.map(sweep, (found) => found["pause-expired"] === 1))
        assert.isAtLeast(present(), expiresAtMs)
        assert.deepStrictEqual(yield* namesOf("agent", "smith"), ["agent.paused", "agent.resumed"])
      })
    )
  )

  it.live("counts what an agent's return has queued again, also when it died before it could report it", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const test = Effect.gen(function* () {
        yield* serveItems
        yield* toAgent({
          _tag: "FailSmoke",
          cause: "probe",
          reason: "auth",
          category: "Persistent",
          occurredAtMs: present() - hourMs,
          item: null,
          epoch: null
        })
        yield* dispatched
        yield* reported({ kind: "auth-failed", reason: "401", category: "Persistent" })
        yield* shownAs("workitem", item, "Failed")
        yield* toAgent({ _tag: "PassSmoke", occurredAtMs: present() + 1 })
        yield* eventually(Effect.map(Views, (views) => views.due("agent", "restored", present() + 10).length === 1))
        const first = yield* begun(restoreSweep)
        yield* Effect.flip(first)
        yield* shownAs("workitem", item, "Queued")
        yield* serveAgents
        const second = yield* begun(restoreSweep)
        yield* second
        const swept = (yield* eventsOf("agent", "smith")).at(-1)
        assert.strictEqual(swept?.event, "agent.restore_requeue_swept")
        assert.strictEqual(swept?.details?.["requeued"], 1)
        assert.strictEqual(swept?.details?.["skipped"], 0)
        assert.strictEqual((yield* eventsOf("workitem", item)).at(-1)?.event, "work_item.agent_restore_requeued")
        yield* eventually(Effect.map(second, (found) => Object.keys(found).length === 0))
      })
      yield* inProcess(server, {}, test)
    }).pipe(Effect.scoped)
  )

  it.live("tells once that a quota is best spent now, when the time for it has come", () =>
    fleet(
      {},
      Effect.gen(function* () {
        const nowMs = present()
        const forecast: QuotaForecast = {
          kind: "quota-forecast",
          reportId: uuid(3),
          atMs: nowMs,
          agent: "smith",
          bankedCredits: 1,
          usableQuotaPct: null,
          predictedNaturalResetMs: null,
          nextCreditExpiresAtMs: null,
          nextCreditIsEstimated: true,
          optimalFromMs: nowMs + minuteMs,
          optimalUntilMs: nowMs + hourMs,
          decisionDeadlineMs: null
        }
        const bucket = yield* (yield* Kv).open("forecasts", QuotaForecast)
        const revision = yield* bucket.create(forecastKey("smith"), forecast)
        const sweep = yield* begun(adviceSweep)
        assert.deepStrictEqual(yield* standingAt(nowMs + minuteMs - 1)(sweep), {})
        const sweepThen = standingAt(nowMs + minuteMs)
        yield* eventually(Effect.map(sweepThen(sweep), (found) => found["advice"] === 1))
        // Another window within the cooldown, and another process with the same one.
        yield* bucket.update(forecastKey("smith"), { ...forecast, optimalUntilMs: nowMs + 2 * hourMs }, revision)
        assert.deepStrictEqual(yield* sweepThen(sweep), {})
        yield* sweepThen(yield* begun(adviceSweep))
        assert.deepStrictEqual(yield* namesOf("agent", "smith"), ["quota.reset_optimal"])
      })
    )
  )

  it.live("retires what ended long ago, and takes its history out of the log 31 days later", () =>
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
        yield* eventually(Effect.map(rowOf("workitem", item), (row) => row === undefined))

        const purge = yield* begun(purgeSweep)
        yield* Effect.forkScoped(yield* announceRelay(Effect.void))
        const { lastSequence } = yield* reader.bounds("LOG")
        const cursors = yield* (yield* Kv).open("cursors", Schema.Struct({ position: Count }))
        yield* cursors.create("follow-ups", { position: lastSequence })
        yield* (yield* openSpendLedger()).catchUp(present())
        yield* eventually(Effect.map(reader.last("EVENTS", subjects.eventsCursor), Option.isSome))
        const views = yield* Views
        yield* eventually(Effect.sync(() => views.freshness().sequence >= lastSequence))

        assert.deepStrictEqual(yield* later(31 * dayMs - minuteMs)(purge), { "purged-record": 0 })
        const before = yield* records
        yield* eventually(
          Effect.map(later(31 * dayMs + minuteMs)(purge), (found) => found["purged-record"] === before - 1)
        )
        assert.strictEqual(yield* records, 1)
        assert.strictEqual((yield* Effect.flip(toItem({ _tag: "Resume" })))._tag, "EntityNotFound")
      })
    )
  )

  it.live("finds that every event of the log is there, and says which one is not", () =>
    fleet(
      {},
      Effect.gen(function* () {
        const reader = yield* StreamReader
        yield* dispatched
        const { lastSequence } = yield* reader.bounds("LOG")
        yield* Effect.forkScoped(yield* announceRelay(Effect.void))
        // Two events and the cursor.
        yield* eventually(Effect.map(reader.bounds("EVENTS"), ({ messages }) => messages >= 3))
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
