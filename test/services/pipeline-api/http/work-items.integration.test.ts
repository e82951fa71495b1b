import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, natsServer } from "../../../../dev/fixtures/bus.ts"
import {
  caller,
  createItem,
  dispatched,
  eventNames,
  itemNow,
  pipelineOn,
  publishReport,
  setUpProject,
  untilState
} from "../../../support/pipeline.ts"

describe("a work item", () => {
  it.live("is created, given to a runner, worked on, and told of in order", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const call = yield* caller
        const made = yield* setUpProject(call)
        assert.strictEqual(made.status, 201)
        const { id, state } = yield* createItem(call)
        assert.strictEqual(state, "Queued")
        assert.strictEqual((yield* itemNow(call, id)).id, id)
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
        yield* untilState(call, id, "WorkComplete")
        yield* eventually(Effect.map(eventNames, (names) => names.length === 4))
        assert.deepStrictEqual(yield* eventNames, [
          "work_item.working",
          "iteration.started",
          "iteration.completed",
          "work_item.work_complete"
        ])
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )
})
