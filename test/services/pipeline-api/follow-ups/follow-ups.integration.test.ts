import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Actors } from "#actors"
import type { WorkItemPage } from "#pipeline/api"
import { release, workItem } from "#pipeline"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import {
  type Call,
  caller,
  createItem,
  dispatched,
  eventNames,
  eventsTold,
  type Json,
  pipelineOn,
  projectId,
  publishReport,
  reportSuccess,
  setUpProject,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"
import { creation } from "../../../libs/pipeline/work-item/item-at-work.ts"

const createRelease = (call: Call) =>
  Effect.map(call("POST /releases", { body: { name: "Spring", projectId } }), ({ body }) => String(body["id"]))

const linkedTo = (call: Call, releaseId: string) =>
  Effect.map(
    call(`GET /releases/${releaseId}`),
    ({ body }) => body["workItems"] as ReadonlyArray<{ readonly workItemId: string; readonly outcome: string }>
  )

describe("follow-ups on other entities", () => {
  it.live("tell a release its items, and how each of them ends and comes back", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const releaseId = yield* createRelease(call)
        const item = yield* createItem(call, { releaseId })
        assert.strictEqual(item.baseBranch, `release/${releaseId.slice(0, 8)}`)
        const outcome = Effect.map(linkedTo(call, releaseId), ([linked]) => linked?.outcome)
        yield* eventually(outcome, { is: (is) => is === "open" })
        yield* call(`DELETE /workitems/${item.id}`)
        yield* eventually(outcome, { is: (is) => is === "cancelled" })
        yield* call(`POST /workitems/${item.id}/resume`)
        yield* eventually(outcome, { is: (is) => is === "open" })
        yield* eventually(eventNames, { is: (names) => names.includes("release.work_item_added") })
      })
    )
  )

  it.live("give a check with a matching verdict its act, once", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const check = yield* createItem(call, { kind: "check", title: "Does it creak?" })
        const { dispatchId } = yield* dispatched()
        const followUp = { title: "Oil it", instructions: "With linseed." }
        yield* publishReport({
          kind: "check-verdict",
          workItemId: check.id,
          dispatchId,
          isMatched: true,
          answer: "yes",
          followUp
        })
        yield* untilState(call, check.id, "Done")
        const act = yield* dispatched()
        assert.deepStrictEqual(
          [act.kind, act.originCheckWorkItemId, act.workItem.title, act.instructions],
          ["follow-up", check.id, "Oil it", "With linseed."]
        )
        yield* eventually(eventNames, { is: (names) => names.includes("work_item.check_followup_enqueued") })
        yield* publishReport({
          kind: "recheck-completed",
          workItemId: act.workItem.id,
          iteration: 1,
          answer: "no",
          actionableAnswer: ""
        })
        const refused = yield* call(`POST /workitems/${act.workItem.id}/resume`)
        assert.strictEqual(refused.status, 409)
      })
    )
  )

  it.live("bench the agent at a login prompt, and report the item that hit it", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call, { agent: "owl" })
        const { dispatchId } = yield* dispatched({ agent: "owl" })
        yield* publishReport({
          kind: "auth-failed",
          workItemId: id,
          dispatchId,
          reason: "auth",
          category: "Persistent"
        })
        yield* untilState(call, id, "Failed")
        const told = Effect.map(eventsTold, (events) => events.find(({ event }) => event === "agent.smoke_failed"))
        yield* eventually(told, { is: (event) => event !== undefined })
        assert.strictEqual((((yield* told) as Json)["workItem"] as Json)["id"], id)
        assert.include(yield* eventNames, "work_item.failed")
        yield* createItem(call, { agent: "owl" })
        yield* eventually(call("GET /agents"), {
          is: ({ body }) =>
            (body["items"] as ReadonlyArray<Json>).some(({ agent, state }) => agent === "owl" && state === "Benched")
        })
      })
    )
  )

  it.live("link the item that fixes a deep audit's findings to its release", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const releaseId = yield* createRelease(call)
        yield* call(`POST /releases/${releaseId}/close`)
        yield* publishReport({ kind: "release-deep-audit-begun", releaseId, auditId: "a-1", maxIterations: 3 })
        const ended = {
          kind: "release-deep-audit-iteration-ended",
          reportId: randomUUID(),
          releaseId,
          auditId: "a-1",
          iteration: 1,
          maxIterations: 3,
          blockingFindings: 2,
          totalFindings: 5,
          remediation: { title: "Mend the hinge", instructions: null, agent: "smith" }
        }
        yield* publishReport(ended)
        yield* publishReport(ended)
        const given = yield* dispatched({ waitMs: 8_000 })
        assert.deepStrictEqual([given.workItem.title, given.releaseId], ["Mend the hinge", releaseId])
        const linked = yield* linkedTo(call, releaseId)
        assert.deepStrictEqual(linked, [{ workItemId: given.workItem.id, outcome: "open" }])
        const page = (yield* call("GET /workitems")).body as unknown as WorkItemPage
        assert.strictEqual(page.items.length, 1)
      })
    )
  )

  it.live("happen once after a death between the decision and the follow-up", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const ids = Array.from({ length: 30 }, () => randomUUID())
      const releaseId = randomUUID()
      // Decided, and then nothing: no relay, no follower, as after a process that was killed right there.
      yield* Effect.gen(function* () {
        const actors = yield* Actors
        const project = { id: "garden", displayName: "The garden", repositoryUrl: "https://git.example/garden.git" }
        yield* actors.run(
          release,
          { id: releaseId, commandId: "r" },
          {
            _tag: "Create",
            name: "Spring",
            project,
            sourceBranch: "release/1",
            targetBranch: "main",
            description: null
          }
        )
        for (const id of ids) {
          yield* actors.run(workItem, { id, commandId: "c" }, creation({ releaseId }))
          yield* actors.run(workItem, { id, commandId: "d" }, { _tag: "Cancel", reason: null, resolutionSha: null })
        }
      }).pipe(Effect.provide(Actors.layer.pipe(Layer.provideMerge(Layer.fresh(busOn(server))))))
      const look = Effect.gen(function* () {
        const call = yield* caller
        yield* setUpProject(call)
        yield* eventually(linkedTo(call, releaseId), {
          is: (linked) => linked.filter(({ outcome }) => outcome === "cancelled").length === 30
        })
        yield* eventually(eventNames, { is: (names) => names.length >= 61 })
        return yield* eventNames
      })
      // Two at once, and another one after: each event appears once.
      yield* Effect.all(
        [look.pipe(Effect.provide(pipelineOn(server))), look.pipe(Effect.provide(pipelineOn(server)))],
        {
          concurrency: 2
        }
      )
      const names = yield* look.pipe(Effect.provide(pipelineOn(server)))
      assert.strictEqual(names.filter((name) => name === "work_item.cancelled").length, 30)
      assert.strictEqual(names.filter((name) => name === "release.work_item_added").length, 30)
    })
  )
})

describe("an item's whole lifecycle", () => {
  it.live("emits its events in the order of the specification", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        for (let phase = 0; phase < 4; phase++) yield* reportSuccess(yield* dispatched())
        yield* untilState(call, id, "Done")
        const wanted = [
          "work_item.working",
          "iteration.started",
          "iteration.completed",
          "work_item.work_complete",
          "work_item.auditing",
          "audit.started",
          "audit.findings.emitted",
          "work_item.audit_iteration",
          "audit.completed",
          "work_item.audit_passed",
          "work_item.merging",
          "merge.started",
          "merge.completed",
          "work_item.merged",
          "work_item.upstream_pushing",
          "work_item.done"
        ]
        yield* eventually(eventNames, { is: (names) => names.length === wanted.length })
        assert.deepStrictEqual(yield* eventNames, wanted)
      })
    )
  )
})
