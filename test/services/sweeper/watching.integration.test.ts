import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Views } from "#actors"
import { Kv } from "#bus"
import { forecastKey, QuotaForecast } from "#pipeline/contract"
import { adviceSweep, agentSweep } from "../../../services/sweeper/agents.ts"
import { restoreSweep } from "../../../services/sweeper/restores.ts"
import { retrySweep } from "../../../services/sweeper/retries.ts"
import { deadWorkerReaper } from "../../../services/sweeper/watchdogs.ts"
import { natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { later, standingAt } from "../../support/clock.ts"
import { eventsOf, inProcess, serveAgents, serveItems } from "./actors-at-work.ts"
import { begun, dispatched, fleet, item, namesOf, reported, shownAs, toAgent } from "./fleet-at-work.ts"
import { hourMs, minuteMs, present, uuid } from "./rows.ts"

describe("the sweeper", () => {
  it.live("hands a silent runner's item back, once, with the reason", () =>
    fleet(
      { Pipeline: { ProgressSeconds: 0.1, ProgressTimeoutSeconds: 0.4 } },
      Effect.gen(function* () {
        yield* dispatched
        const sweep = yield* begun(deadWorkerReaper)
        yield* shownAs("workitem", item, "Working")
        yield* eventually(sweep, { is: (found) => found["dead-worker"] === 1 })
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

  it.live("reports an item that was silent before the start as stranded", () =>
    fleet(
      { Pipeline: { ProgressSeconds: 30, ProgressTimeoutSeconds: 180 } },
      Effect.gen(function* () {
        yield* dispatched
        yield* shownAs("workitem", item, "Working")
        // A watch that leaps would take views that are behind for ones that stand still.
        yield* eventually(Views, { is: (views) => views.freshness().behind === 0 })
        const startedLater = later(hourMs)
        const sweep = yield* startedLater(begun(deadWorkerReaper))
        assert.deepStrictEqual(yield* startedLater(sweep), {})
        yield* eventually(later(hourMs + minuteMs)(sweep), { is: (found) => found["dead-worker"] === 1 })
        const events = yield* eventsOf("workitem", item)
        assert.strictEqual(events.at(-1)?.details?.["reason"], "orchestrator restart with stranded item")
      })
    )
  )

  it.live(
    "queues an item again after a transport failure, first with the startup reason, then when its time comes",
    () =>
      fleet(
        {},
        Effect.gen(function* () {
          yield* dispatched
          yield* reported({ kind: "transient-failed", reason: "connection reset" })
          yield* shownAs("workitem", item, "WaitingForTransientRetry")
          const sweep = yield* begun(retrySweep)
          yield* eventually(sweep, { is: (found) => found["transient-startup"] === 1 })
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
        yield* eventually(sweep, { is: (found) => found["pause-expired"] === 1 })
        assert.isAtLeast(present(), expiresAtMs)
        assert.deepStrictEqual(yield* namesOf("agent", "smith"), ["agent.paused", "agent.resumed"])
      })
    )
  )

  it.live("counts the items that an agent's return queued again, even when it died before its report", () =>
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
        yield* eventually(Views, { is: (views) => views.due("agent", "restored", present() + 10).length === 1 })
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
        yield* eventually(second, { is: (found) => Object.keys(found).length === 0 })
      })
      yield* inProcess(server, {}, test)
    }).pipe(Effect.scoped)
  )

  it.live("reports once that a quota is best spent now, when its window opens", () =>
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
        yield* eventually(sweepThen(sweep), { is: (found) => found["advice"] === 1 })
        // Another window within the cooldown, and another process with the same one.
        yield* bucket.update(forecastKey("smith"), { ...forecast, optimalUntilMs: nowMs + 2 * hourMs }, revision)
        assert.deepStrictEqual(yield* sweepThen(sweep), {})
        yield* sweepThen(yield* begun(adviceSweep))
        assert.deepStrictEqual(yield* namesOf("agent", "smith"), ["quota.reset_optimal"])
      })
    )
  )
})
