import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { applyTopology, topology } from "#bus"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { trial } from "../trial.ts"

describe("the topology", () => {
  it.live("is created once, unchanged the second time, and every difference is named by verify", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* applyTopology(topology, { mode: "create", replicas: 1 })
        yield* applyTopology(topology, { mode: "verify", replicas: 1 })
        const wrong = yield* Effect.flip(applyTopology(trial, { mode: "verify", replicas: 1 }))
        assert.strictEqual(wrong._tag, "TopologyMismatch")
        assert.include(wrong.message, "stream WORK does not exist")
      })
    )
  )
})
