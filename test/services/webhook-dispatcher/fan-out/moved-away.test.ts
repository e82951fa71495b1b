import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { deliveryLaneOf, endpointIdOf } from "#webhooks/contract"
import { beginCursor } from "#webhooks"
import { movedAway } from "../../../../services/webhook-dispatcher/fan-out/fan-out.ts"

const ids = Array.from({ length: 64 }, (_, index) => endpointIdOf(`endpoint ${index}`))
const leaves = ids.find((id) => deliveryLaneOf(id, 2) === 0 && deliveryLaneOf(id, 4) === 2) ?? ""

describe("what leaves a lane when the number changes", () => {
  it.effect("is also an endpoint that the lane has and this process has yet to read", () => {
    const read = { revision: 3, ids: new Set<string>() }
    const endpoints = {
      byId: (id: string) => (read.ids.has(id) ? { id } : undefined),
      revision: () => read.revision,
      catchUp: Effect.sync(() => {
        read.revision = 5
        read.ids.add(leaves)
      })
    }
    const lanes = { knownIn: () => Effect.succeed(new Set([leaves])) }
    return Effect.gen(function* () {
      const cursor = { ...beginCursor(100), lanes: 2, revision: 5 }
      const moved = yield* movedAway({ lane: 0, lanes: lanes as never, endpoints: endpoints as never }, cursor, 4)
      assert.deepStrictEqual(moved?.left, { [leaves]: 101 })
    })
  })
})
