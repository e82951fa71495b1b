import { assert, describe, it } from "@effect/vitest"
import { until } from "../../dev/fixtures/eventually.ts"
import { startDispatcher, withRig } from "../../load-tests/webhooks/rig.ts"
import { publishAtRate } from "../../load-tests/webhooks/publisher.ts"
import { watchProcessorShare } from "../support/processor-share.ts"

describe("kill -9 under load", () => {
  for (const victim of ["dispatcher", "nats-server", "both"] as const) {
    it(`of ${victim} loses no event, and what comes twice has the same delivery id`, async () => {
      await withRig(async (rig) => {
        const concurrency = 16
        const rate = 150
        const endpoints = [{ Name: "a", Url: rig.receiver.url("ok"), Concurrency: concurrency }]
        let dispatcher = await startDispatcher(rig.nats.url, endpoints)
        const share = watchProcessorShare()
        const publishing = publishAtRate(rig.jetstream, rate, 4)
        await until(() => rig.receiver.taken(), { is: (seen) => seen > rate })

        if (victim !== "nats-server") await dispatcher.stop("SIGKILL")
        if (victim !== "dispatcher") {
          await rig.nats.kill9()
          await rig.nats.start()
        }
        if (victim !== "nats-server") dispatcher = await startDispatcher(rig.nats.url, endpoints)

        const { confirmedAtMs } = await publishing
        const missing = async () => {
          const got = new Set((await rig.receiver.arrivals()).map(([id]) => id))
          return [...confirmedAtMs.keys()].filter((id) => !got.has(id)).length
        }
        await until(() => missing(), { is: 0 })
        await dispatcher.stop()
        const shareThen = await share.end()

        const arrivals = await rig.receiver.arrivals()
        const bySequence = Map.groupBy(arrivals, ([, , , , sequence]) => sequence)
        const repeated = [...bySequence.values()].filter((all) => all.length > 1)
        for (const all of repeated) assert.strictEqual(new Set(all.map(([, , delivery]) => delivery)).size, 1)
        const twice = arrivals.length - bySequence.size
        assert.isAtMost(twice, concurrency + (rate * 0.2) / shareThen, `${twice} came twice`)
      })
    })
  }
})
