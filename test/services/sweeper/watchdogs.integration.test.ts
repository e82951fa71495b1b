import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Actors, Views } from "#actors"
import {
  type WorkItemCommand,
  type WorkItemPhase,
  type WorkItemReport,
  workItemSettingsDefault,
  type WorkItemState
} from "#pipeline/contract"
import { workItem } from "#pipeline"
import { progressWatchdog, staleWatchdog } from "../../../services/sweeper/watchdogs.ts"
import { natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { creation } from "../../libs/pipeline/work-item/item-at-work.ts"
import { eventsOf, inProcess, rowOf, serveActors } from "./actors-at-work.ts"
import { uuid } from "./rows.ts"

const settings = { ...workItemSettingsDefault, maxRecoveryAttempts: 2 }
let commands = 0

const run = (id: string, command: WorkItemCommand) =>
  Effect.flatMap(Actors, (actors) => actors.run(workItem, { id, commandId: `c${(commands += 1)}` }, command))

const dispatch = (id: string, phase: WorkItemPhase, nth = 1) =>
  run(id, {
    _tag: "Dispatch",
    dispatchId: `${id} ${phase} ${nth}`,
    phase,
    agent: "smith",
    model: null,
    agentInstanceId: null,
    runner: "forge-1",
    sandboxId: null,
    auditors: [],
    settings
  })

const report = (id: string, phase: WorkItemPhase, fields: object, nth = 1) =>
  run(id, {
    _tag: "Report",
    report: {
      reportId: `r${commands}`,
      workItemId: id,
      dispatchId: `${id} ${phase} ${nth}`,
      ...fields
    } as WorkItemReport,
    jitter: 0,
    freshWorkItemId: uuid(9)
  })

const auditPassed = Effect.fnUntraced(function* (id: string) {
  yield* run(id, creation({ settings }))
  yield* dispatch(id, "work")
  yield* report(id, "work", { kind: "iteration-ended", outcome: "committed", commitSha: "abc1234", durationMs: 5 })
  yield* dispatch(id, "audit")
  yield* report(id, "audit", { kind: "audit-ended", findings: [], durationMs: 5 })
})

const shownAs = (id: string, state: WorkItemState["state"]) =>
  eventually(rowOf("workitem", id), { is: (row) => row?.state === state })

/** The details of every reported recovery of the item, in order. */
const recoveries = (id: string) =>
  Effect.map(eventsOf("workitem", id), (events) =>
    events.filter(({ event }) => event === "work_item.recovered").map(({ details }) => details)
  )

const fleet = <A, E, R>(configuration: unknown, test: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* inProcess(server, configuration, Effect.andThen(serveActors, test))
  }).pipe(Effect.scoped)

describe("the item-stale watchdog", () => {
  it.live("returns an item at a phase boundary to itself until its attempts are used up, with an event each time", () =>
    fleet(
      { Pipeline: { StaleHours: 0.0002 } },
      Effect.gen(function* () {
        const id = uuid(1)
        yield* auditPassed(id)
        yield* shownAs(id, "AuditPassed")
        const sweep = yield* (yield* staleWatchdog).begin
        yield* eventually(
          Effect.andThen(
            sweep,
            Effect.map(recoveries(id), (told) => told.length === 3)
          )
        )
        const of = { workItemId: id, projectId: "garden", fromState: "AuditPassed", maxRecoveryAttempts: 2 }
        const reason = "item-stale updatedAt"
        assert.deepStrictEqual(yield* recoveries(id), [
          { ...of, toState: "AuditPassed", reason, recoveryAttempt: 1 },
          { ...of, toState: "AuditPassed", reason, recoveryAttempt: 2 },
          { ...of, toState: "AbandonedAfterRecoveryAttempts", reason, recoveryAttempt: 3 }
        ])
        yield* shownAs(id, "AbandonedAfterRecoveryAttempts")
        yield* Effect.sleep("1 second")
        assert.deepStrictEqual(yield* sweep, {})
      })
    )
  )

  it.live("leaves an item alone that only waits in the queue", () =>
    fleet(
      { Pipeline: { StaleHours: 0.0001 } },
      Effect.gen(function* () {
        const id = uuid(1)
        yield* run(id, creation({ settings }))
        yield* shownAs(id, "Queued")
        const sweep = yield* (yield* staleWatchdog).begin
        const views = yield* Views
        yield* Effect.sleep("600 millis")
        yield* eventually(() => views.freshness().behind, { is: 0 })
        assert.deepStrictEqual(yield* sweep, {})
        assert.deepStrictEqual(yield* recoveries(id), [])
      })
    )
  )
})

describe("the worker-progress watchdog", () => {
  it.live("hands back the one stalled item of a live runner", () =>
    fleet(
      { Pipeline: { ProgressSeconds: 0.1, ProgressTimeoutSeconds: 4 } },
      Effect.gen(function* () {
        const [still, moving] = [uuid(1), uuid(2)]
        for (const id of [still, moving]) {
          yield* run(id, creation({ settings }))
          yield* dispatch(id, "work")
        }
        yield* shownAs(still, "Working")
        const sweep = yield* (yield* progressWatchdog).begin
        // Of progress it is written down every ten seconds that it was heard of, of a dispatch at once.
        let nth = 1
        const heardOf = Effect.gen(function* () {
          yield* report(moving, "work", { kind: "preempted" }, nth)
          yield* dispatch(moving, "work", (nth += 1))
        })
        yield* eventually(
          Effect.andThen(
            heardOf,
            Effect.map(sweep, (found) => found["no-progress"] === 1)
          )
        )
        assert.deepInclude((yield* recoveries(still))[0], {
          fromState: "Working",
          toState: "Queued",
          reason: "dead worker detected",
          recoveryAttempt: 1
        })
        assert.deepStrictEqual(yield* recoveries(moving), [])
      })
    )
  )
})
