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
import { canAlert, startAlerts } from "./fault-alerts.ts"

let fleet: FaultFleet

beforeAll(async () => {
  fleet = await startFaultFleet()
})
afterAll(() => fleet.end())

const nothingIsSeen = () =>
  until(() => conditionsOf(fleet), { is: ({ isWhole, items }) => isWhole && items.length === 0, withinMs: 60_000 })

const conditionOf = new Map(conditions.map((condition) => [condition.name, condition]))

/** `top` looks for a second: it sees states, and no rates. */
const isShownAtOnce = (name: string) => ["level", "down"].includes(conditionOf.get(name)?.seen.kind ?? "")

const othersSeeIt = async (batch: ReadonlyArray<Fault>) => {
  const { home, pods, running } = fleet
  const own = batch.flatMap(conditionsOfFault)
  const unseenByDoctor = async () => {
    const { out } = await starling(home, "doctor")
    // As a cause, or as what another one explains.
    return own.filter((name) => !out.includes(name))
  }
  await until(unseenByDoctor, { is: [], withinMs: 30_000 })
  if (!own.some((name) => conditionOf.get(name)?.severity === "critical" && isShownAtOnce(name))) return
  const processes = [running.ready.metrics, pods.far.url, pods.near.url, pods.shop.url]
  const top = await starling(home, "top", "--once", "--url", processes.join())
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

const steady = batches.filter((batch) => batch.every(({ wavers }) => wavers === undefined))

type Look = (batch: ReadonlyArray<Fault>) => Promise<unknown>

const isSeenAndEnds = async (batch: ReadonlyArray<Fault>, look: Look = othersSeeIt) => {
  const played = await play(fleet, batch, () => look(batch))
  for (const { condition, seenAfterSeconds, goneAfterSeconds, ...found } of played) {
    assert.deepStrictEqual(found, { above: [], othersCritical: [], effectsUnseen: [] }, condition)
    assert.isNotNull(seenAfterSeconds, `${condition} is not seen in time`)
    assert.isNotNull(goneAfterSeconds, `${condition} is not gone in time`)
  }
  await nothingIsSeen()
}

describe("a fault", () => {
  it.each(steady.map((batch) => [batch.map(({ what }) => what).join("; "), batch] as const))(
    "is seen as what it is, and ends with it: %s",
    (_, batch) => isSeenAndEnds(batch)
  )

  it
    .skipIf(!canAlert)
    .each(steady.filter(isAlerted).map((batch) => [batch.map(({ what }) => what).join("; "), batch] as const))(
    "is told by Alertmanager as the console shows it, and its effects are silent: %s",
    async (_, batch) => {
      const alerts = await startAlerts(fleet)
      await isSeenAndEnds(batch, () => alerts.agreeWith(() => conditionsOf(fleet))).finally(() => alerts.stop())
    }
  )
})
