import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { applyTopology, topology, type Topology } from "#bus"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { trial } from "../trial.ts"

const create = { mode: "create", replicas: 1 } as const
const verify = { mode: "verify", replicas: 1 } as const

/** The trial's work queue alone, changed. */
const changed = (changes: Partial<Topology["streams"][number]>): Topology => ({
  streams: trial.streams.flatMap((stream) => (stream.name === "WORK" ? [{ ...stream, ...changes }] : [])),
  buckets: [],
  objectStores: []
})

describe("the topology", () => {
  it.live("is created once, unchanged the second time, and every difference is named by verify", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* applyTopology(topology, create)
        yield* applyTopology(topology, verify)
        const wrong = yield* Effect.flip(applyTopology(trial, verify))
        assert.strictEqual(wrong._tag, "TopologyMismatch")
        assert.include(wrong.message, "stream WORK does not exist")
      })
    )
  )

  it.live("is as declared for a role that is rolled back, when a later release gave a stream subjects and room", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* applyTopology(changed({ subjects: ["work.*", "work.later.*"], bytesMax: 2_000_000 }), create)
        yield* applyTopology(changed({ subjects: ["work.*"], bytesMax: 1_000_000 }), verify)
      })
    )
  )

  it.live("is not as declared when a stream lacks a subject or room, or keeps messages for another time", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* applyTopology(changed({ subjects: ["work.*"], bytesMax: 1_000_000 }), create)
        const wanted = { subjects: ["work.*", "work.later.*"], bytesMax: 2_000_000, ageMsMax: 60_000 }
        const { message } = yield* Effect.flip(applyTopology(changed(wanted), verify))

        for (const key of ["subjects", "max_bytes", "max_age"]) assert.include(message, `stream WORK: ${key} is`)
      })
    )
  )
})
