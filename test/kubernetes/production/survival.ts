/** The tests of what production survives: each a disturbance under traffic of all three jobs. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { quantity } from "../../../deploy/generate/quantity.ts"
import { fleetDeployments } from "../../../deploy/generate/roles.ts"
import { type Survived, tell } from "../../containers/chaos.ts"
import { lastNode } from "../cluster.ts"
import { apply } from "../fleet.ts"
import { withHouse } from "../house.ts"
import { releases } from "../images.ts"
import { applyObjects, kubectl, untilReady } from "../kubectl.ts"
import { callers, scripts, worldName } from "../outside.ts"
import { startTraffic, type Traffic, underTraffic } from "../traffic/under-traffic.ts"
import { missing } from "./controllers.ts"
import {
  drain,
  killPods,
  restart,
  rollBack,
  runningReleases,
  scaleByHand,
  scaleByKeda,
  untilPods
} from "./disturbances.ts"
import { scaleQuickly } from "./scaling.ts"
import { largerOf, readSizes, readStartMs, type Sizes, tellSize } from "./sizes.ts"

const roles = fleetDeployments.map(({ name }) => name)
const readyWithinMs = 600_000
const brokers = ["statefulset/nats", "statefulset/nats-payments"]

/** Of a fleet that earlier tests bring up, with traffic's password and authority in its namespace. */
export const survives = (of: () => Traffic) => {
  const namespace = () => of().fleet.namespace

  let sizes: Sizes = {}
  let startMs: Readonly<Record<string, number>> = {}
  const measure = async () => (sizes = largerOf(sizes, await readSizes(namespace())))

  const disturbed = async (name: string, disturb: () => Promise<unknown>): Promise<Survived> => {
    let tookMs = 0
    const survived = await underTraffic(of(), async () => {
      const beganMs = performance.now()
      await disturb()
      tookMs = performance.now() - beganMs
      await measure()
    })
    tell(`kubernetes: ${name} in ${Math.round(tookMs / 1_000)} s, slowest`, survived, survived.slowest)
    return survived
  }

  /** Pods that are told to end finish what they have begun. */
  const loses = { nothing: (survived: Survived) => assert.deepStrictEqual(survived.cut, [], "streams were cut") }

  describe("under traffic of all three jobs", () => {
    beforeAll(async () => {
      startMs = await readStartMs(namespace())
      await startTraffic()
    })

    it("loses nothing while every role is restarted in turn", async () => {
      const workloads = roles.map((role) => `deployment/${role}`)
      loses.nothing(await disturbed("every role restarted", () => restart(namespace(), workloads)))
    })

    it("loses nothing while every server of both brokers is restarted in turn", async () => {
      await disturbed("every broker restarted", () => restart(namespace(), brokers))
    })

    it("loses nothing while a node is drained, with brokers, controllers and roles, and comes back", async () => {
      let left = 0
      await disturbed("a node drained", async () => (left = await drain(namespace(), lastNode, roles)))

      assert.isAbove(left, 0, `no pod was on ${lastNode}`)
    })

    it("loses nothing while a pod of each role is killed", async () => {
      await disturbed("a pod of each role killed", () => killPods(namespace(), roles))
    })

    it("loses nothing while all roles are upgraded at once, and rolled back", async () => {
      let seen: ReadonlyArray<string> = []
      await disturbed("an upgrade and its rollback", async () => {
        await withHouse("prod", apply, { release: releases.next })
        await untilReady(namespace(), readyWithinMs)
        seen = await runningReleases(namespace(), roles)
        await rollBack(namespace(), roles)
      })

      assert.deepStrictEqual(seen, [releases.next])
      assert.deepStrictEqual(await runningReleases(namespace(), roles), [releases.installed])
    })

    it.skipIf(missing().scaling.length > 0)(
      "loses nothing while every role is scaled to one pod, to three, and to one by hand",
      async () => {
        await disturbed("scaled by hand", async () => {
          for (const replicas of [1, 3, 1]) await scaleByHand(namespace(), roles, replicas)
        })
        await scaleByKeda(namespace(), roles, 2)
      }
    )

    it.skipIf(missing().scaling.length > 0)(
      "loses nothing while KEDA scales the synthesizer by its backlog from one pod to three, and to one again",
      async () => {
        const { fleet, token } = of()
        const role = "speech-synthesizer"
        await scaleQuickly(namespace(), role)
        await untilPods(namespace(), [role], 1)
        await disturbed("scaled by KEDA", async () => {
          const text = "Nobody minds the gulls of the harbour. ".repeat(20)
          const order = JSON.stringify({ namespace: fleet.namespace, world: worldName, token, text })
          await applyObjects([scripts("crowd", callers, ["test/kubernetes/errand.ts", "crowd", order])])
          await untilPods(namespace(), [role], 3)
          await measure()
          await kubectl("-n", callers, "delete", "deployment", "crowd", "--wait=true", "--timeout=60s")
          await untilPods(namespace(), [role], 1)
        })
        await withHouse("prod", apply)
        await untilPods(namespace(), [role], 2)
      }
    )

    it("needed no more than four fifths of any role's memory limit", () => {
      for (const { name } of fleetDeployments) tellSize(name, sizes[name], startMs[name])
      const tight = fleetDeployments.filter(
        ({ name, memoryMax }) => (sizes[name]?.memoryBytesMax ?? 0) > 0.8 * quantity(memoryMax)
      )

      assert.isTrue(fleetDeployments.every(({ name }) => (sizes[name]?.memoryBytesMax ?? 0) > 0))
      assert.deepStrictEqual(
        tight.map(({ name }) => name),
        []
      )
    })
  })
}
