/**
 * Each fault of a running fleet is seen by all views within half a minute, its own condition is on top and nothing else
 * is critical; half a minute after its mend nothing of it is shown.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  batches,
  type Conditions,
  conditionsOf,
  type FaultFleet,
  play,
  startFaultFleet
} from "../../dev/faults/index.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { starling } from "../../dev/fixtures/starling.ts"

let fleet: FaultFleet

beforeAll(async () => {
  fleet = await startFaultFleet()
})
afterAll(() => fleet.end())

const nothingIsSeen = () =>
  until(() => conditionsOf(fleet), { is: ({ isWhole, items }) => isWhole && items.length === 0, withinMs: 60_000 })

const othersSeeIt = async ({ items }: Conditions) => {
  const causes = items.filter(({ causedBy }) => causedBy === null)
  const [doctor, top] = await Promise.all([starling(fleet.home, "doctor"), starling(fleet.home, "top", "--once")])
  for (const { name } of causes) assert.include(doctor.out, `docs/runbooks.md#${name.toLowerCase()}`)
  const worst = causes[0]?.severity ?? ""
  assert.isTrue(
    top.out.split("\n").some((line) => line.startsWith(worst)),
    top.out
  )
}

describe("a fleet that is well", () => {
  it("has no condition, also when its rates are known", nothingIsSeen)
})

describe("a fault", () => {
  it.each(batches.map((batch) => [batch.map(({ what }) => what).join("; "), batch] as const))(
    "is seen as what it is, and ends with it: %s",
    async (_, batch) => {
      for (const { condition, ...found } of await play(fleet, batch, othersSeeIt)) {
        const { seenAfterSeconds, goneAfterSeconds, isOnTop, othersCritical } = found
        assert.deepStrictEqual({ isOnTop, othersCritical }, { isOnTop: true, othersCritical: [] }, condition)
        assert.isNotNull(seenAfterSeconds, `${condition} is not seen in time`)
        assert.isNotNull(goneAfterSeconds, `${condition} is not gone in time`)
      }
      await nothingIsSeen()
    }
  )
})
