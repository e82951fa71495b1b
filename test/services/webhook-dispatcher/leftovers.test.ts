import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { BusNotFound, Consumers } from "#bus"
import { deliveryStream, subjects } from "#base"
import { Backlogs, type DueInLane } from "../../../services/webhook-dispatcher/backlogs.ts"
import { Endpoints } from "../../../services/webhook-dispatcher/endpoints/Endpoints.ts"
import { removeLeftovers } from "../../../services/webhook-dispatcher/leftovers.ts"
import { memoryStream } from "../../support/memory-stream.ts"
import { recorder } from "../../support/recorder.ts"

const id = "0123456789abc"
const subjectOf = (endpoint: string) => subjects.deliveries(0).due(3, endpoint)
const dueOf = (endpoint: string): DueInLane => ({
  lane: 0,
  endpointId: endpoint,
  subject: subjectOf(endpoint),
  count: 1
})

/** A lane that does not shrink. `floors`: up to where each endpoint's consumer has had its deliveries acked. */
const world = (stagnant: Array<DueInLane>, floors: Map<string, number>) => {
  const stream = memoryStream(recorder())
  const asked: Array<string> = []
  const uncovered: Array<string> = []
  const services = Layer.mergeAll(
    stream.layer,
    Layer.succeed(Backlogs, { stagnant: () => stagnant } as never),
    Layer.succeed(Endpoints, { byId: (one: string) => (one === "gone" ? undefined : { name: one }) } as never),
    Layer.succeed(Consumers, {
      backlog: (name: string, durable: string) =>
        Effect.suspend(() => {
          assert.strictEqual(name, deliveryStream(0))
          asked.push(durable)
          const ackFloor = floors.get(durable)
          return ackFloor === undefined
            ? Effect.fail(new BusNotFound({ operation: "look", detail: "no such consumer" }))
            : Effect.succeed({ ackFloor })
        })
    } as never)
  )
  const look = removeLeftovers({
    durableOf: ({ endpointId }) => endpointId,
    uncovered: ({ endpointId }) => Effect.sync(() => void uncovered.push(endpointId))
  })
  const put = (endpoint = id) => stream.store(subjectOf(endpoint), new Uint8Array(0)).sequence
  const left = () => stream.messages.map(({ sequence }) => sequence)
  return { services, look, put, left, asked, uncovered }
}

describe("a delivery that was acked and is still stored", () => {
  it.effect("is removed when it is found a second time, with all others that were acked and none that was not", () => {
    const floors = new Map([[id, 2]])
    const { services, look, put, left } = world([dueOf(id)], floors)
    for (let count = 0; count < 3; count += 1) put()
    return Effect.gen(function* () {
      const once = yield* look
      yield* once
      assert.deepStrictEqual(left(), [1, 2, 3])
      yield* once
      assert.deepStrictEqual(left(), [3])
      yield* once
      yield* once
      assert.deepStrictEqual(left(), [3], "it is above what was acked")
      floors.set(id, 3)
      yield* once
      assert.deepStrictEqual(left(), [3], "it is found for the first time")
      yield* once
      assert.deepStrictEqual(left(), [])
      yield* once
    }).pipe(Effect.provide(services))
  })

  it.effect("is suspected again when its backlog has moved meanwhile", () => {
    const stagnant = [dueOf(id)]
    const { services, look, put, left } = world(stagnant, new Map([[id, 9]]))
    put()
    return Effect.gen(function* () {
      const once = yield* look
      yield* once
      const all = stagnant.splice(0)
      yield* once
      stagnant.push(...all)
      yield* once
      assert.deepStrictEqual(left(), [1])
      yield* once
      assert.deepStrictEqual(left(), [])
    }).pipe(Effect.provide(services))
  })

  it.effect("of an endpoint without a consumer is another's work, and of one that is gone nobody's", () => {
    const { services, look, put, left, asked, uncovered } = world([dueOf(id), dueOf("gone")], new Map())
    put()
    put("gone")
    return Effect.gen(function* () {
      const once = yield* look
      yield* once
      yield* once
      assert.deepStrictEqual(uncovered, [id, id])
      assert.deepStrictEqual(asked, [id, id])
      assert.deepStrictEqual(left(), [1, 2])
    }).pipe(Effect.provide(services))
  })

  it.effect("is looked for among 64 endpoints at a time, in turn", () => {
    const names = Array.from({ length: 100 }, (_, index) => `e${index}`)
    const { services, look, put, asked } = world(
      names.map((name) => dueOf(name)),
      new Map(names.map((name) => [name, 0]))
    )
    for (const name of names) put(name)
    return Effect.gen(function* () {
      const once = yield* look
      yield* once
      assert.deepStrictEqual(asked, names.slice(0, 64))
      yield* once
      assert.deepStrictEqual(asked.slice(64), [...names.slice(64), ...names.slice(0, 28)])
      assert.strictEqual(new Set(asked).size, 100)
    }).pipe(Effect.provide(services))
  })
})
