import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { departures } from "../../../services/webhook-dispatcher/departures.ts"

describe("first attempts for one entity", () => {
  it.effect("leave in the order in which they came", () =>
    Effect.gen(function* () {
      const lines = departures()
      const order: Array<number> = []
      const places = [1, 2, 3].map((number) => ({ number, place: lines.enter("workItem:a") }))
      const leave = ({ number, place }: (typeof places)[number]) =>
        Effect.andThen(
          place.before ?? Effect.void,
          Effect.sync(() => {
            order.push(number)
            place.left()
          })
        )
      yield* Effect.forEach(places.toReversed(), leave, { concurrency: "unbounded" })
      assert.deepStrictEqual(order, [1, 2, 3])
    })
  )

  it("wait for nobody when the one before has left, and never for another entity", () => {
    const lines = departures()
    lines.enter("workItem:a").left()
    assert.isUndefined(lines.enter("workItem:a").before)
    assert.isUndefined(lines.enter("workItem:b").before)
  })

  it("let the next one go more than once without harm", () => {
    const lines = departures()
    const first = lines.enter("a")
    const second = lines.enter("a")
    first.left()
    first.left()
    assert.isDefined(second.before)
    assert.isDefined(lines.enter("a").before)
  })
})
