import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import {
  type Call,
  createItem,
  dispatched,
  eventsTold,
  itemNow,
  type Json,
  pickUp,
  publishReport,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"

const tested = (fields: Json) =>
  Effect.flatMap(Clock.currentTimeMillis, (occurredAtMs) =>
    publishReport({
      kind: "smoke-result",
      agent: "owl",
      agentInstanceId: null,
      outcome: "failed",
      cause: "pickup",
      workItemId: null,
      reason: "auth",
      category: "Persistent",
      occurredAtMs,
      epoch: null,
      ...fields
    })
  )

const told = (event: string) => Effect.map(eventsTold, (events) => events.filter((one) => one.event === event))
const isBenched = (call: Call) =>
  eventually(call("GET /agents"), {
    is: ({ body }) =>
      (body["items"] as ReadonlyArray<Json>).some(({ agent, state }) => agent === "owl" && state === "Benched")
  })

const given = Effect.fnUntraced(function* (call: Call) {
  const { id } = yield* createItem(call, { agent: "owl" })
  yield* dispatched({ agent: "owl" })
  return id
})

describe("a test of an agent's credentials", () => {
  it.live("that fails permanently at an item's pickup fails the item too, and both events name it", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const id = yield* given(call)
        yield* tested({ workItemId: id })
        yield* untilState(call, id, "Failed")
        assert.deepInclude(yield* itemNow(call, id), {
          failureKind: "auth",
          lastError: "the agent is not authorised: auth"
        })
        for (const event of ["agent.smoke_failed", "work_item.failed"]) {
          yield* eventually(told(event), { is: (events) => events.length === 1 })
          const [envelope] = yield* told(event)
          const of = (key: string) => (envelope?.[key] as Json | null | undefined)?.["id"]
          assert.deepStrictEqual([of("workItem"), of("project")], [id, "gates"], event)
        }
        yield* isBenched(call)
        const next = yield* pickUp({ agent: "owl", waitMs: 0 })
        assert.strictEqual(next._tag, "Nothing")
      })
    )
  )

  it.live("that fails temporarily benches the agent, and leaves its item in hand", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const id = yield* given(call)
        yield* tested({ workItemId: id, category: "Transient", reason: "503 of the provider" })
        yield* isBenched(call)
        assert.strictEqual((yield* itemNow(call, id)).state, "Working")
        yield* eventually(told("agent.smoke_failed"), { is: (events) => events.length === 1 })
        assert.deepInclude((yield* told("agent.smoke_failed"))[0]?.["details"], {
          agentKind: "owl",
          reason: "503 of the provider",
          category: "Transient"
        })
      })
    )
  )

  it.live("in the background names no item and no project, and touches none", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const id = yield* given(call)
        yield* tested({ cause: "probe", workItemId: id, epoch: "e1" })
        yield* eventually(told("agent.smoke_failed"), { is: (events) => events.length === 1 })
        const [envelope] = yield* told("agent.smoke_failed")
        assert.deepStrictEqual([envelope?.["workItem"], envelope?.["project"]], [null, null])
        assert.strictEqual((yield* itemNow(call, id)).state, "Working")
      })
    )
  )
})
