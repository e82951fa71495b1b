import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import {
  caller,
  createItem,
  dispatched,
  type Json,
  pipelineOn,
  projectId,
  publishReport,
  setUpProject,
  withPipeline
} from "../../../support/pipeline.ts"
import { detailsOf, held } from "./held-answers.ts"

describe("the API", () => {
  it.live("lists in pages without a gap, and states the list's freshness", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const ids: Array<string> = []
        for (let n = 0; n < 7; n++)
          ids.push((yield* createItem(plain, { title: `item ${n}`, externalId: `x${n % 2}` })).id)
        yield* eventually(plain("GET /workitems"), { is: ({ body }) => (body["items"] as Array<unknown>).length === 7 })
        const seen: Array<unknown> = []
        let cursor: unknown = null
        do {
          const { body } = yield* call(
            `GET /workitems?limit=3&project=${projectId}${cursor === null ? "" : `&cursor=${String(cursor)}`}`
          )
          seen.push(...(body["items"] as Array<Json>).map((item) => item["id"]))
          cursor = body["nextCursor"]
          assert.strictEqual(body["isTruncated"], false)
          assert.isAbove(body["sequence"] as number, 0)
        } while (cursor !== null)
        assert.deepStrictEqual(seen, ids)
        const odd = yield* call("GET /workitems?externalId=x1&state=Queued&kind=act")
        assert.strictEqual((odd.body["items"] as Array<unknown>).length, 3)
        assert.deepStrictEqual((yield* call("GET /workitems?project=other")).body["items"], [])
      })
    )
  )

  it.live("shows an item's history, and a suggestion with its reasons", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const { id } = yield* createItem(plain)
        const { dispatchId } = yield* dispatched()
        const suggestion = {
          title: "Oil the hinge",
          rationale: "It creaks, and ghp_0123456789abcdefghij0123456789abcdef is in the notes.",
          category: "other",
          severity: "minor",
          estimatedEffort: "tiny",
          filesReferenced: []
        }
        yield* publishReport({
          kind: "suggestions-made",
          workItemId: id,
          dispatchId,
          suggestions: [suggestion, suggestion]
        })
        yield* eventually(plain(`GET /suggestions/${id}-2`), { is: ({ status }) => status === 200 })
        const found = yield* call(`GET /suggestions/${id}-1`)
        assert.strictEqual(found.body["rationale"], "It creaks, and [github-token] is in the notes.")
        assert.strictEqual((yield* call(`GET /suggestions/${id}-3`)).status, 404)
        const first = yield* call(`GET /workitems/${id}/history?limit=2`)
        const records = first.body["items"] as ReadonlyArray<{
          readonly facts: ReadonlyArray<Json>
          readonly events: ReadonlyArray<string>
        }>
        assert.deepStrictEqual(
          records.map(({ facts }) => facts.map(({ fact }) => fact)),
          [["Created"], ["Dispatched"]]
        )
        assert.deepStrictEqual(records[1]?.events, ["work_item.working", "iteration.started"])
        const rest = yield* call(`GET /workitems/${id}/history?cursor=${String(first.body["nextCursor"])}`)
        assert.strictEqual((rest.body["items"] as Array<unknown>).length, 1)
        assert.strictEqual(rest.body["nextCursor"], null)
      })
    )
  )

  it.live("keeps projects, pauses and resumes queues and agents, and shows them", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const changed = yield* setUpProject(plain, { monthlyBudgetUsd: 12.5, workItems: { autoMerge: true } })
        assert.deepStrictEqual([changed.status, changed.body["monthlyBudgetUsd"]], [200, 12.5])
        const paused = yield* call(`POST /projects/${projectId}/queue/pause`, { body: { reason: "freeze" } })
        assert.strictEqual(paused.body["state"], "Paused")
        const resumed = yield* call(`POST /projects/${projectId}/queue/resume`)
        assert.deepStrictEqual([resumed.body["state"], resumed.body["manualPause"]], ["Running", null])
        assert.strictEqual((yield* call(`GET /projects/${projectId}`)).body["hardCapPct"], 100)
        assert.strictEqual((yield* call("POST /queue/pause", { body: { reason: "night" } })).body["reason"], "night")
        assert.strictEqual((yield* call("POST /queue/resume")).body["state"], "Running")
        const agent = yield* call("POST /agents/owl/pause", {
          body: { reason: "tired", agentInstanceId: "o 1", expiresInSeconds: 60 }
        })
        assert.deepStrictEqual([agent.body["state"], agent.body["agentInstanceId"]], ["Paused", "o 1"])
        yield* eventually(call("GET /agents"), {
          is: ({ body }) => {
            const agents = body["items"] as ReadonlyArray<Json>
            return (
              JSON.stringify(agents.map(({ agent, agentInstanceId, state }) => [agent, agentInstanceId, state])) ===
              JSON.stringify([
                ["owl", null, "Available"],
                ["owl", "o 1", "Paused"],
                ["smith", null, "Available"],
                ["wren", null, "Available"]
              ])
            )
          }
        })
        const release = yield* call("POST /releases", { body: { name: "Spring", projectId } })
        const id = String(release.body["id"])
        assert.strictEqual(release.body["sourceBranch"], `release/${id.slice(0, 8)}`)
        assert.strictEqual((yield* call(`POST /releases/${id}/reopen`)).status, 409)
        assert.strictEqual(
          (yield* call(`POST /releases/${id}/close`, { body: { reason: "all in" } })).body["state"],
          "closed"
        )
        const late = yield* call("POST /workitems", { body: { title: "late", projectId, releaseId: id } })
        assert.deepStrictEqual([late.status, detailsOf(late)["state"]], [409, "closed"])
        yield* eventually(call("GET /releases?state=closed"), {
          is: ({ body }) => (body["items"] as Array<unknown>).length === 1
        })
        yield* eventually(call("GET /projects"), { is: ({ body }) => (body["items"] as Array<unknown>).length === 1 })
      })
    )
  )

  it.live("answers 503 with Retry-After while the log is unreachable, and continues afterwards", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const call = yield* caller
        yield* setUpProject(call)
        const { id } = yield* createItem(call)
        yield* Effect.promise(() => server.kill9())
        const away = yield* held(call)(`GET /workitems/${id}`)
        assert.strictEqual(away.status, 503)
        assert.isAtLeast(Number(away.headers.get("retry-after")), 1)
        yield* Effect.promise(() => server.start())
        yield* eventually(call(`GET /workitems/${id}`), { is: ({ status }) => status === 200 })
        const more = yield* Effect.repeat(call("POST /workitems", { body: { title: "more", projectId } }), {
          until: ({ status }) => status !== 503
        })
        assert.strictEqual(more.status, 201)
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )
})
