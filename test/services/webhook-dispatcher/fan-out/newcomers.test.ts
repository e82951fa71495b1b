import { assert, describe, it } from "@effect/vitest"
import { beginCursor } from "#webhooks"
import { planArrivals } from "../../../../services/webhook-dispatcher/fan-out/roster.ts"
import { withEndpoint } from "../../../../services/webhook-dispatcher/endpoints/Endpoints.ts"

const endpoint = (id: string, startsAfter: number) => ({ id, startsAfter })
const arrival = {
  known: new Set<string>(),
  hadPlace: () => false,
  isThere: () => true,
  revision: 9
}

describe("an endpoint made at run time", () => {
  it.each([
    ["before the cursor came there: it waits for its first event", 50, { n: 51 }],
    ["where the cursor stands: it is in step", 40, {}],
    ["behind the cursor: it catches up", 30, { n: 31 }]
  ])("begins %s", (_when, startsAfter, next) => {
    const steps = planArrivals(beginCursor(40), { ...arrival, present: [endpoint("n", startsAfter)] })
    assert.deepStrictEqual(steps.at(-1)?.cursor, { ...beginCursor(40), next, revision: 9 })
    assert.deepStrictEqual(
      steps.flatMap(({ messages }) => messages.map(({ subject }) => subject)),
      ["deliveries.roster.n"]
    )
  })

  it("keeps its place once it is known, and the place that it had in the configuration", () => {
    const known = { ...arrival, present: [endpoint("n", 3)], known: new Set(["n"]) }
    assert.deepStrictEqual(planArrivals(beginCursor(40), known), [])
    const cursor = { ...beginCursor(40), next: { n: 12 } }
    const [step] = planArrivals(cursor, { ...arrival, present: [endpoint("n", 3)], hadPlace: () => true })
    assert.deepStrictEqual(step?.cursor.next, { n: 12 })
  })

  it("is parked while its record cannot be read", () => {
    const lost = { ...arrival, present: [], known: new Set(["n"]), isThere: () => false }
    assert.deepStrictEqual(planArrivals(beginCursor(40), lost).at(-1)?.cursor.next, { n: 41 })
  })

  it("fits with a thousand others into steps of what the broker takes at once", () => {
    const present = Array.from({ length: 1_200 }, (_, index) => endpoint(`n${index}`, 50))
    const steps = planArrivals(beginCursor(40), { ...arrival, present })
    assert.deepStrictEqual(
      steps.map(({ messages }) => messages.length),
      [500, 500, 200]
    )
    assert.strictEqual(Object.keys(steps.at(-1)?.cursor.next ?? {}).length, 1_200)
  })
})

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
