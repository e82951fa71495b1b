import { assert, describe, it } from "@effect/vitest"
import { withEndpoint } from "../../../../services/webhook-dispatcher/endpoints/Endpoints.ts"

describe("the list of endpoints", () => {
  it("stays sorted by id as endpoints come, change and go", () => {
    const ids = Array.from({ length: 60 }, (_, index) => String((index * 7_919) % 20).padStart(2, "0"))
    let all: ReadonlyArray<{ readonly id: string; readonly at: number }> = []
    const model = new Map<string, number>()
    ids.forEach((id, at) => {
      const isGoing = at % 3 === 2
      all = withEndpoint(all, id, isGoing ? undefined : { id, at })
      if (isGoing) model.delete(id)
      else model.set(id, at)
      const expected = [...model].map(([key, value]) => ({ id: key, at: value }))
      assert.deepStrictEqual(
        all,
        expected.toSorted((left, right) => (left.id < right.id ? -1 : 1))
      )
    })
  })
})
