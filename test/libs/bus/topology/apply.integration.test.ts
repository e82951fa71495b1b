import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { applyTopology, configsOf, Nats, reservedBytes, streamDifferences, topology, type Topology } from "#bus"
import { Metrics } from "#runtime"
import { withBus } from "../../../../dev/fixtures/bus.ts"
import { startNatsServer } from "../../../../dev/fixtures/nats-server.ts"
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

  it.live("shows what somebody changes of a running broker, and room beyond the declared as no difference", () =>
    withBus(() =>
      Effect.gen(function* () {
        const declared = changed({ bytesMax: 1_000_000 })
        yield* applyTopology(declared, create)
        assert.deepStrictEqual(yield* streamDifferences(declared, 1), [])
        const change = (limits: { readonly max_msgs?: number; readonly max_bytes?: number }) =>
          Effect.flatMap(Nats, (nats) => nats.use("change", ({ manager }) => manager.streams.update("WORK", limits)))

        yield* change({ max_bytes: 2_000_000 })
        assert.deepStrictEqual(yield* streamDifferences(declared, 1), [])
        yield* change({ max_msgs: 2 })
        assert.deepStrictEqual(yield* streamDifferences(declared, 1), ["stream WORK: max_msgs is 2, declared -1"])
      })
    )
  )

  it.live("that has no room on a server is refused with the room that it needs and the settings that give it", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startNatsServer({ fileStoreMax: "4G" })),
        (started) => Effect.promise(() => started.stop())
      )
      const nats = Nats.layerWith({ servers: [server.url], name: "test" }).pipe(Layer.provide(Metrics.layerTest))
      const { message } = yield* Effect.flip(applyTopology(topology, create)).pipe(Effect.provide(nats))
      assert.match(message, /^could not create stream \w+: insufficient storage resources available; /u)
      const mib = Math.ceil(reservedBytes(configsOf(topology, 1), "file") / 1_024 ** 2)
      assert.include(message, `${mib} MiB of file storage and 64 MiB of memory`)
      assert.include(message, "max_file_store and max_memory_store")
    }).pipe(Effect.scoped)
  )
})
