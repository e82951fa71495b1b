import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pipelineOpenApi } from "../../../../services/pipeline-api/openapi/document.ts"
import { eventually, natsServer } from "../../../support/bus.ts"
import {
  type Asked,
  type Call,
  caller,
  createItem,
  dispatched,
  type Heard,
  type Json,
  pipelineOn,
  projectId,
  publishReport,
  setUpProject,
  tokenFor,
  withPipeline
} from "../../../support/pipeline.ts"
import { contractOf } from "../../speech-api/openapi-answers.ts"

const document = JSON.parse(JSON.stringify(pipelineOpenApi())) as Json
const { breaches } = contractOf({ ...document })
const templates = Object.keys(document["paths"] as Json)

/** Asks, and holds the answer against the document that the API serves. */
const held = (call: Call) => (verb: string, asked?: Asked) =>
  Effect.tap(call(verb, asked), (heard) =>
    Effect.sync(() => {
      const [method = "", path = ""] = verb.split(" ")
      const plain = path.split("?")[0] ?? ""
      const template =
        templates.find((each) => each === plain) ??
        templates.find((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u").test(plain))
      assert.isDefined(template, verb)
      const answered = { ...heard, contentType: heard.headers.get("content-type") ?? "" }
      assert.deepStrictEqual(breaches(method, template ?? "", answered), [], `${verb}: ${JSON.stringify(heard.body)}`)
    })
  )

const codeOf = ({ body }: Heard) => (body["error"] as Json | undefined)?.["code"]
const fieldsOf = ({ body }: Heard) => Object.keys(((body["error"] as Json)["fields"] ?? {}) as Json).toSorted()
const detailsOf = ({ body }: Heard) => (body["error"] as Json)["details"] as Json

describe("the API", () => {
  it.live("lets in who has the scope, and tells everybody else what is missing", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const none = yield* call("GET /workitems", { token: null })
        assert.deepStrictEqual([none.status, codeOf(none)], [401, "unauthorized"])
        const reader = yield* tokenFor("pipeline:read")
        assert.strictEqual((yield* call("GET /queue", { token: reader })).status, 200)
        const write = yield* call("POST /workitems", { token: reader, body: { title: "x", projectId } })
        assert.deepStrictEqual([write.status, codeOf(write)], [403, "insufficient_scope"])
        const writer = yield* tokenFor("pipeline:write")
        const operate = yield* call("POST /queue/pause", { token: writer, body: { reason: "no" } })
        assert.deepStrictEqual([operate.status, detailsOf(operate)], [403, { scopes: ["pipeline:operate"] }])
      })
    )
  )

  it.live("names every fault of a request at once", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const bad = yield* call("POST /workitems", {
          body: { title: " ", projectId: "", agent: 3, baseBranch: "a..b", releaseId: "x", kind: "deed", priority: 11 }
        })
        assert.deepStrictEqual([bad.status, codeOf(bad)], [400, "validation_failed"])
        assert.deepStrictEqual(fieldsOf(bad), [
          "agent",
          "baseBranch",
          "kind",
          "priority",
          "projectId",
          "releaseId",
          "title"
        ])
        const nowhere = yield* call("POST /workitems", {
          body: { title: "x", projectId: "nowhere", agent: "nobody", releaseId: randomUUID() }
        })
        assert.deepStrictEqual(fieldsOf(nowhere), ["agent", "projectId", "releaseId"])
        const page = yield* call("GET /workitems?limit=0&cursor=abc&state=Dreaming")
        assert.strictEqual(page.status, 400)
        const { id } = yield* createItem(plain)
        const sha = yield* call(`DELETE /workitems/${id}?resolutionSha=xyz`)
        assert.deepStrictEqual([sha.status, fieldsOf(sha)], [400, ["resolutionSha"]])
      })
    )
  )

  it.live("knows nothing of what there is not", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const unknown = randomUUID()
        for (const [verb, code] of [
          [`GET /workitems/${unknown}`, "work_item_not_found"],
          ["GET /workitems/nonsense", "work_item_not_found"],
          [`GET /workitems/${unknown}/history`, "work_item_not_found"],
          [`POST /workitems/${unknown}/resume`, "work_item_not_found"],
          [`DELETE /workitems/${unknown}`, "work_item_not_found"],
          [`GET /suggestions/${unknown}-1`, "suggestion_not_found"],
          ["GET /suggestions/none", "suggestion_not_found"],
          [`GET /releases/${unknown}`, "release_not_found"],
          [`POST /releases/${unknown}/close`, "release_not_found"],
          ["GET /projects/nowhere", "project_not_found"],
          ["POST /agents/nobody/resume", "agent_not_found"]
        ] as const) {
          const heard = yield* call(verb)
          assert.deepStrictEqual([heard.status, codeOf(heard)], [404, code], verb)
        }
        assert.strictEqual((yield* plain("GET /nothing")).status, 404)
        assert.strictEqual((yield* plain("PATCH /workitems")).status, 405)
      })
    )
  )

  it.live("refuses what the state does not allow, and says in which state and why", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const { id } = yield* createItem(plain)
        const resume = yield* call(`POST /workitems/${id}/resume`)
        assert.deepStrictEqual([resume.status, codeOf(resume)], [409, "conflict"])
        assert.strictEqual(detailsOf(resume)["state"], "Queued")
        const answer = yield* call(`POST /workitems/${id}/answer`, { body: { questionId: "q", answer: "yes" } })
        assert.strictEqual(answer.status, 409)
        const cancelled = yield* call(`DELETE /workitems/${id}`, { body: { reason: "done by hand" } })
        assert.deepStrictEqual([cancelled.status, cancelled.body["state"]], [200, "Cancelled"])
        assert.strictEqual((yield* call(`DELETE /workitems/${id}`)).status, 409)
        assert.strictEqual((yield* call(`POST /workitems/${id}/resume`)).body["state"], "Queued")
        const delegated = yield* call(`POST /workitems/${id}/delegate`, { body: { reason: "it needs a welder" } })
        assert.strictEqual(delegated.body["state"], "Delegated")
      })
    )
  )

  it.live("creates an item once for a key, and tells a key that was used for something else", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const asked = { body: { title: "Once", projectId }, headers: { "idempotency-key": "k-1" } }
        const all = yield* Effect.all(
          Array.from({ length: 8 }, () =>
            Effect.repeat(call("POST /workitems", asked), { until: ({ status }) => status !== 409 })
          ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(all.map(({ body }) => body["id"])).size, 1)
        assert.isTrue(all.every(({ status }) => status === 201))
        const other = yield* call("POST /workitems", { ...asked, body: { title: "Twice", projectId } })
        assert.deepStrictEqual([other.status, codeOf(other)], [409, "idempotency_conflict"])
        const again = yield* call("POST /workitems", asked)
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      })
    )
  )

  it.live("lists in pages without a gap, and says how fresh the list is", () =>
    withPipeline((plain) =>
      Effect.gen(function* () {
        const call = held(plain)
        const ids: Array<string> = []
        for (let n = 0; n < 7; n++)
          ids.push((yield* createItem(plain, { title: `item ${n}`, externalId: `x${n % 2}` })).id)
        yield* eventually(
          Effect.map(plain("GET /workitems"), ({ body }) => (body["items"] as Array<unknown>).length === 7)
        )
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

  it.live("shows what happened to an item, and a suggestion with its reasons", () =>
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
        yield* eventually(Effect.map(plain(`GET /suggestions/${id}-2`), ({ status }) => status === 200))
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
        yield* eventually(
          Effect.map(call("GET /agents"), ({ body }) => {
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
          })
        )
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
        yield* eventually(
          Effect.map(call("GET /releases?state=closed"), ({ body }) => (body["items"] as Array<unknown>).length === 1)
        )
        yield* eventually(
          Effect.map(call("GET /projects"), ({ body }) => (body["items"] as Array<unknown>).length === 1)
        )
      })
    )
  )

  it.live("answers 503 with Retry-After while the log is away, and goes on when it is back", () =>
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
        yield* eventually(Effect.map(call(`GET /workitems/${id}`), ({ status }) => status === 200))
        const more = yield* Effect.repeat(call("POST /workitems", { body: { title: "more", projectId } }), {
          until: ({ status }) => status !== 503
        })
        assert.strictEqual(more.status, 201)
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )
})
