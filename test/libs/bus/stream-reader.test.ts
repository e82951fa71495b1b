import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Nats, StreamReader } from "#bus"

const time = "2026-11-29T07:33:52.000Z"
const info = {
  state: { messages: 3, bytes: 9, first_seq: 2, last_seq: 7, first_ts: time, last_ts: time, consumer_count: 2 },
  config: { max_bytes: 1, max_age: 1_000_000, num_replicas: 3 },
  cluster: {
    leader: "broker-1",
    replicas: [
      { name: "broker-2", current: true },
      { name: "broker-3", current: false },
      { name: "broker-4", current: true, offline: true }
    ]
  }
}
type Info = Readonly<Record<"state" | "config" | "cluster", object | undefined>>

const readerOf = (found: Info) => {
  const clients = { manager: { streams: { info: () => Promise.resolve(found) } } }
  const nats = { use: (_: string, call: (given: unknown) => Promise<unknown>) => Effect.promise(() => call(clients)) }
  return StreamReader.layer.pipe(Layer.provide(Layer.succeed(Nats, nats as unknown as Nats["Service"])))
}
const figuresOf = (found: Info = info) =>
  Effect.flatMap(StreamReader, (reader) => reader.figures("LOG")).pipe(Effect.provide(readerOf(found)))

describe("the figures of a stream", () => {
  it.effect("are what it holds, what it may hold, and which brokers keep it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* figuresOf(), {
        messages: 3,
        bytes: 9,
        bytesMax: 1,
        ageMsMax: 1,
        firstAtMs: Date.parse(time),
        lastAtMs: Date.parse(time),
        consumers: 2,
        leader: "broker-1",
        replicas: 3,
        replicasBehind: ["broker-3", "broker-4"],
        lostAt: undefined
      })
    })
  )

  it.effect("say none where there is no bound, no message and no leader", () =>
    Effect.gen(function* () {
      const config = { max_bytes: -1, max_age: 0, num_replicas: 1 }
      const empty = { ...info, config, state: { ...info.state, messages: 0 } }
      const none = { bytesMax: null, ageMsMax: null, firstAtMs: null, lastAtMs: null, leader: null, replicasBehind: [] }
      assert.deepInclude(yield* figuresOf({ ...empty, cluster: undefined }), none)
      assert.deepInclude(yield* figuresOf({ ...empty, cluster: { leader: "" } }), none)
    })
  )

  it.effect("have the bounds that its messages are read by", () =>
    Effect.gen(function* () {
      const reader = yield* StreamReader
      assert.deepStrictEqual(yield* reader.bounds("LOG"), { firstSequence: 2, lastSequence: 7, messages: 3 })
    }).pipe(Effect.provide(readerOf(info)))
  )
})
