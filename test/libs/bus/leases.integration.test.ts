import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Ref } from "effect"
import { Leases, Nats } from "#bus"
import { busOn, natsServer, withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { trial } from "./trial.ts"

describe("a lease", () => {
  it.live("passes on within seconds when its holder is cut off from the broker", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const bus = () => Layer.build(Layer.fresh(busOn(server)))
      const [one, other] = [yield* bus(), yield* bus()]
      const holders: Array<string> = []
      const hold = (holder: string) =>
        Effect.flatMap(Leases, ({ whileHeld }) =>
          whileHeld(
            { key: "job", holder },
            Effect.andThen(
              Effect.sync(() => holders.push(holder)),
              Effect.never
            )
          )
        )
      yield* Effect.forkScoped(Effect.provideContext(hold("first"), one))
      yield* eventually(() => holders.length, { is: 1 })
      yield* Effect.forkScoped(Effect.provideContext(hold("second"), other))
      const cutAtMs = performance.now()
      // Nothing is given back on the way.
      yield* Effect.promise(() => Context.get(one, Nats).connection.close())
      yield* eventually(() => holders.at(-1), { is: "second" })
      assert.isBelow(performance.now() - cutAtMs, 10_000)
      assert.deepStrictEqual(holders, ["first", "second"])
    }).pipe(Effect.scoped)
  )

  it.live("has one holder, and passes on within seconds when that one gives it back", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const leases = yield* Leases
          const holders = yield* Ref.make<ReadonlyArray<string>>([])
          const hold = (holder: string) =>
            leases.whileHeld(
              { key: "job", holder },
              Effect.andThen(
                Ref.update(holders, (all) => [...all, holder]),
                Effect.never
              )
            )
          const first = yield* Effect.forkChild(hold("first"))
          yield* eventually(Ref.get(holders), { is: (all) => all.length === 1 })
          const second = yield* Effect.forkChild(hold("second"))
          yield* Effect.sleep("4 seconds")
          assert.deepStrictEqual(yield* Ref.get(holders), ["first"])
          yield* Fiber.interrupt(first)
          yield* eventually(Ref.get(holders), { is: (all) => all.at(-1) === "second" })
          yield* Fiber.interrupt(second)
        }),
      trial
    )
  )

  it.live("is renewed together with the others of its process, whenever each was taken", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const leases = yield* Leases
          const { connection } = yield* Nats
          const seenAtMs = { one: Array<number>(), other: Array<number>() }
          for (const key of ["one", "other"] as const) {
            connection.subscribe(`$KV.leases.${key}`, { callback: () => void seenAtMs[key].push(performance.now()) })
          }
          yield* Effect.forkScoped(leases.whileHeld({ key: "one", holder: "us" }, Effect.never))
          // Renewed by its own taking, the other would come so much later each time.
          yield* Effect.sleep("400 millis")
          yield* Effect.forkScoped(leases.whileHeld({ key: "other", holder: "us" }, Effect.never))
          yield* eventually(() => seenAtMs.other.length, { is: (length) => length > 5 })
          const gapsMs = seenAtMs.other
            .slice(1)
            .map((atMs) => Math.min(...seenAtMs.one.map((one) => Math.abs(one - atMs))))
          assert.isBelow(gapsMs.toSorted((one, other) => one - other)[2] ?? Infinity, 200)
        }).pipe(Effect.scoped),
      trial
    )
  )
})
