import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { CreateReleaseRequest, CreateWorkItemRequest } from "#pipeline/api"
import { createItem, projectId, tokenFor, withPipeline } from "../../../support/pipeline.ts"
import { codeOf, detailsOf, fieldsOf, held } from "./held-answers.ts"

describe("the API", () => {
  it.live("admits callers with the scope, and names the missing scope to others", () =>
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

  it.live("gives 404 for everything that does not exist", () =>
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

  it.live("refuses a command that the state does not allow, and names state and reason", () =>
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

  it.live("creates an item once for a key, and refuses a key that was used for another request", () =>
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

  const optional = {
    "POST /workitems": [CreateWorkItemRequest, { title: "Once", projectId }],
    "POST /releases": [CreateReleaseRequest, { name: "Once", projectId }]
  } as const
  for (const [route, [schema, needed]] of Object.entries(optional)) {
    it.live(`takes ${route} with a key for one request, with null in place of any field or without it`, () =>
      withPipeline((plain) =>
        Effect.gen(function* () {
          const call = held(plain)
          const names = Object.keys(schema.fields).filter((name) => !(name in needed))
          const nulls = Object.fromEntries(names.map((name) => [name, null]))
          const reversed = Object.fromEntries(Object.entries(needed).toReversed())
          const bodies = [
            needed,
            { ...needed, ...nulls },
            ...names.map((name) => ({ [name]: null, ...reversed })),
            { ...needed, unheardOf: 1 }
          ]
          const answers = yield* Effect.forEach(bodies, (body) =>
            call(route, { body, headers: { "idempotency-key": "one" } })
          )
          assert.deepStrictEqual(
            answers.map(({ status }) => status),
            bodies.map(() => 201)
          )
          assert.strictEqual(new Set(answers.map(({ body }) => body["id"])).size, 1)
          assert.isAbove(names.length, 2)
        })
      )
    )
  }
})
