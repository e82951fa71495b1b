import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { IdempotencyKey } from "#base/http"
import { pipelineClient } from "#pipeline/api"
import { HttpListener } from "#http"
import { natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { dispatched, eventNames, pipelineOn, publishReport, tokenFor } from "../../../support/pipeline.ts"

/** As a customer's program uses it: typed, with exactly the declaration. */
const client = Effect.gen(function* () {
  const { url } = yield* HttpListener
  return yield* pipelineClient({ url, token: yield* tokenFor() })
}).pipe(Effect.provide(FetchHttpClient.layer))

const settings = { displayName: "Gates", repositoryUrl: "https://git.example/gates" }
const wanted = { title: "Oil the gate", projectId: "gates" }

const withClient = <A, E, R>(test: (api: Effect.Success<typeof client>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    return yield* Effect.flatMap(client, test).pipe(Effect.provide(pipelineOn(server)))
  })

describe("a work item", () => {
  it.live("is created, given to a runner, worked on, and reported in order", () =>
    withClient((api) =>
      Effect.gen(function* () {
        const [project, { status }] = yield* api.putProject({
          params: { id: "gates" },
          payload: settings,
          responseMode: "decoded-and-response"
        })
        assert.deepStrictEqual([project.id, status], ["gates", 201])
        const { id, state } = yield* api.createWorkItem({ payload: wanted })
        assert.strictEqual(state, "Queued")
        assert.strictEqual((yield* api.getWorkItem({ params: { id } })).id, id)
        const work = yield* dispatched()
        assert.strictEqual(work.workItem.id, id)
        yield* publishReport({
          kind: "iteration-ended",
          workItemId: id,
          dispatchId: work.dispatchId,
          outcome: "committed",
          commitSha: "abc1234",
          durationMs: 5
        })
        yield* eventually(api.getWorkItem({ params: { id } }), { is: (item) => item.state === "WorkComplete" })
        yield* eventually(eventNames, { is: (names) => names.length === 4 })
        assert.deepStrictEqual(yield* eventNames, [
          "work_item.working",
          "iteration.started",
          "iteration.completed",
          "work_item.work_complete"
        ])
      })
    )
  )

  it.live("is refused to a typed client with its status' envelope, and created once for a key", () =>
    withClient((api) =>
      Effect.gen(function* () {
        yield* api.putProject({ params: { id: "gates" }, payload: settings })
        const id = "00000000-0000-4000-8000-000000000000"
        const unknown = yield* Effect.flip(api.getWorkItem({ params: { id } }))
        assert.strictEqual("error" in unknown ? unknown.error.code : unknown, "work_item_not_found")
        const create = api.createWorkItem({ payload: wanted }).pipe(Effect.provideService(IdempotencyKey, "once"))
        const first = yield* create
        assert.deepStrictEqual(yield* create, first)
        const cancelled = yield* api.cancelWorkItem({ params: { id: first.id }, query: {}, payload: undefined })
        assert.strictEqual(cancelled.state, "Cancelled")
        yield* eventually(api.listWorkItems({ query: { project: "gates" } }), {
          is: ({ items }) => items[0]?.state === "Cancelled"
        })
      })
    )
  )

  it.live("has a reference page for every browser, from the API itself alone", () =>
    withClient((api) =>
      Effect.gen(function* () {
        const [page, { headers }] = yield* api.getReference({ responseMode: "decoded-and-response" })
        assert.match(headers["content-type"] ?? "", /^text\/html/u)
        assert.include(headers["content-security-policy"] ?? "", "default-src 'none'")
        assert.include(page, '<h2 id="create-a-work-item">Create a work item</h2>')
        assert.notMatch(page, /<script|<link|<img|@import|url\(/u)
        const document = yield* api.getDescription()
        assert.strictEqual(document["openapi"], "3.1.0")
      })
    )
  )
})
