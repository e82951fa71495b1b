import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { entityOrder } from "../../../services/webhook-dispatcher/endpoint-worker.ts"

describe("first attempts for one entity", () => {
  it.effect("leave in the order of arrival", () =>
    Effect.gen(function* () {
      const entities = entityOrder()
      const order: Array<number> = []
      const turns = [1, 2, 3].map((number) => ({ number, turn: entities.enter("workItem:a") }))
      const leave = ({ number, turn }: (typeof turns)[number]) =>
        Effect.andThen(
          turn.before ?? Effect.void,
          Effect.sync(() => {
            order.push(number)
            turn.left()
          })
        )
      yield* Effect.forEach(turns.toReversed(), leave, { concurrency: "unbounded" })
      assert.deepStrictEqual(order, [1, 2, 3])
    })
  )

  it("wait for none when the previous one has left, and never for another entity", () => {
    const entities = entityOrder()
    entities.enter("workItem:a").left()
    assert.isUndefined(entities.enter("workItem:a").before)
    assert.isUndefined(entities.enter("workItem:b").before)
  })

  it("may release the next one more than once without harm", () => {
    const entities = entityOrder()
    const first = entities.enter("a")
    const second = entities.enter("a")
    first.left()
    first.left()
    assert.isDefined(second.before)
    assert.isDefined(entities.enter("a").before)
  })
})
