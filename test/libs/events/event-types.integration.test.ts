import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Publisher } from "#bus"
import { subjects } from "#base"
import { EventTypeDeclarations, EventTypes } from "#events"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"

const order = { Name: "order.created", Owners: ["internal-services"], Description: "an order is placed" }
const settings = {
  Types: [{ ...order, Name: "order.paid", SchemaVersion: "1.0.0", OptIn: false, Retired: false }],
  Source: "/starling",
  Undeclared: "reject" as const
}

const withTypes = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    const services = Layer.mergeAll(EventTypes.layer(settings), EventTypeDeclarations.layer(settings))
    return yield* Effect.provide(work, Layer.fresh(services.pipe(Layer.provideMerge(busOn(server)))))
  })

const published = Effect.gen(function* () {
  const { sequence } = yield* (yield* Publisher).publishRaw(subjects.event("queue.paused"), new Uint8Array(2))
  return sequence
})

describe("event types declared at run time", () => {
  it.live("are in force for the events after them, with what held before for those before", () =>
    withTypes(
      Effect.gen(function* () {
        const types = yield* EventTypes
        const declarations = yield* EventTypeDeclarations
        const before = yield* published
        yield* declarations.declare(order, "t_1")
        const open = yield* published
        const { revision } = yield* declarations.get("order.created")
        yield* declarations.change("order.created", { revision, changes: { Retired: true } }, "t_1")
        const retired = yield* published
        yield* types.catchUp

        const isRetired = (sequence: number) => types.at("order.created", sequence)?.isRetired
        assert.deepStrictEqual([before, open, retired, Infinity].map(isRetired), [undefined, false, true, true])
        assert.deepStrictEqual(
          types.all().map(({ name }) => name),
          ["order.created", "order.paid"]
        )
      })
    )
  )

  it.live("cannot take a name of the configuration", () =>
    withTypes(
      Effect.gen(function* () {
        const declarations = yield* EventTypeDeclarations
        const refused = yield* Effect.flip(declarations.declare({ ...order, Name: "order.paid" }, "t_1"))
        assert.strictEqual(refused._tag, "EventTypeIsConfigured")
        const absent = yield* Effect.flip(declarations.change("order.paid", { revision: 1, changes: {} }, "t_1"))
        assert.strictEqual(absent._tag, "NoSuchEventType")
      })
    )
  )

  it.live("asked for by many at once are declared once", () =>
    withTypes(
      Effect.gen(function* () {
        const declarations = yield* EventTypeDeclarations
        const records = yield* Effect.all(
          Array.from({ length: 8 }, () => declarations.declare(order, "t_1")),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual([...new Set(records.map(({ revision }) => revision))], [1])
        assert.lengthOf(yield* declarations.list, 1)
      })
    )
  )
})
