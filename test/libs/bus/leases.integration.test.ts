import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Ref } from "effect"
import { Leases } from "#bus"
import { eventually, withBus } from "../../../dev/fixtures/bus.ts"
import { trial } from "./trial.ts"

describe("a lease", () => {
  it.live("has one holder, and passes on within seconds after the holder's death", () =>
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
          yield* eventually(Effect.map(Ref.get(holders), (all) => all.length === 1))
          const second = yield* Effect.forkChild(hold("second"))
          yield* Effect.sleep("4 seconds")
          assert.deepStrictEqual(yield* Ref.get(holders), ["first"])
          yield* Fiber.interrupt(first)
          yield* eventually(Effect.map(Ref.get(holders), (all) => all.at(-1) === "second"))
          yield* Fiber.interrupt(second)
        }),
      trial
    )
  )
})
