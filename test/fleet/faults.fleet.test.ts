/**
 * Each fault of a running fleet is seen by all views within half a minute, its own condition is on top and nothing else
 * is critical; half a minute after its mend nothing of it is shown.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  batches,
  conditionsOf,
  conditionsOfFault,
  type Fault,
  type FaultFleet,
  play,
  startFaultFleet
} from "../../dev/faults/index.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { starling } from "../../dev/fixtures/starling.ts"
import { conditions } from "../../libs/console/conditions/conditions.ts"
import { startAlerts } from "./fault-alerts.ts"

let fleet: FaultFleet

beforeAll(async () => {
  fleet = await startFaultFleet()
})
afterAll(() => fleet.end())

const nothingIsSeen = () =>
  until(() => conditionsOf(fleet), { is: ({ isWhole, items }) => isWhole && items.length === 0, withinMs: 60_000 })

const severityOf = new Map(conditions.map(({ name, severity }) => [name, severity]))

/** `top` looks for a second: it sees states, and few rates. */
const othersSeeIt = async (batch: ReadonlyArray<Fault>) => {
  const { home, pods, running } = fleet
  const processes = [running.ready.metrics, pods.far.url, pods.near.url, pods.shop.url]
  const [doctor, top] = await Promise.all([
    starling(home, "doctor"),
    starling(home, "top", "--once", "--url", processes.join())
  ])
  const own = batch.flatMap(conditionsOfFault)
  for (const name of own) assert.include(doctor.out, `docs/runbooks.md#${name.toLowerCase()}`)
  if (!own.some((name) => severityOf.get(name) === "critical")) return
  assert.isTrue(
    top.out.split("\n").some((line) => line.startsWith("critical")),
    top.out
  )
}

describe("a fleet that is well", () => {
  it("has no condition, also when its rates are known", nothingIsSeen)
})

/** With a cause that has effects in every product, and others beside it. */
const isAlerted = (batch: ReadonlyArray<Fault>) =>
  batch.some(({ effects }) => effects?.includes("PipelineCommandsFailing"))

describe("a fault", () => {
  it.each(batches.map((batch) => [batch.map(({ what }) => what).join("; "), batch] as const))(
    "is seen as what it is, and ends with it: %s",
    async (_, batch) => {
      const alerts = isAlerted(batch) ? await startAlerts(fleet) : undefined
      const look = async () => {
        await othersSeeIt(batch)
        await alerts?.agreeWith(() => conditionsOf(fleet))
      }
      const played = await play(fleet, batch, look).finally(() => alerts?.stop())
      for (const { condition, seenAfterSeconds, goneAfterSeconds, ...found } of played) {
        assert.deepStrictEqual(found, { isOnTop: true, othersCritical: [], effectsUnseen: [] }, condition)
        assert.isNotNull(seenAfterSeconds, `${condition} is not seen in time`)
        assert.isNotNull(goneAfterSeconds, `${condition} is not gone in time`)
      }
      await nothingIsSeen()
    }
  )
})
