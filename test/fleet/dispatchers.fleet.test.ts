import { assert, describe, it } from "@effect/vitest"
import { now, pause } from "../../load-tests/loops.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { publishAtRate } from "../../load-tests/webhooks/publisher.ts"
import { type Dispatcher, type Rig, startDispatcher, withRig } from "../../load-tests/webhooks/rig.ts"
import { watchProcessorShare } from "../support/processor-share.ts"
import { parseExposition } from "../../libs/console/readings/readings.ts"

const rate = 100
const seconds = 6
const concurrency = 16
// A delivery of a killed dispatcher comes after the ack wait; everything else goes on within 5 s of a processor.
const ackWaitMs = 5_000
const goOnMs = 5_000

const metricOf = async ({ metricsUrl }: Dispatcher, name: string) => {
  const found = parseExposition(await (await fetch(`${metricsUrl}/metrics`)).text()).get(name) ?? []
  return found.reduce((sum, { value }) => sum + value, 0)
}

/** The dispatcher with the active fan-out, once the others stand by. */
const theActive = async (dispatchers: ReadonlyArray<Dispatcher>): Promise<Dispatcher> => {
  const look = async () => {
    const active = await Promise.all(dispatchers.map((one) => metricOf(one, "bus_relay_active")))
    return dispatchers.filter((_, index) => active[index] === 1)
  }
  await until(() => look(), { is: ({ length }) => length === 1 })
  return (await look())[0] ?? theActive(dispatchers)
}

/** Events during the test: how late each was, and which came under more than one id. */
const arrived = async (rig: Rig, confirmedAtMs: ReadonlyMap<string, number>) => {
  const missing = async () => {
    const got = new Set((await rig.receiver.arrivals()).map(([id]) => id))
    return [...confirmedAtMs.keys()].filter((id) => !got.has(id)).length
  }
  await until(() => missing(), { is: 0 })
  const arrivals = await rig.receiver.arrivals()
  const bySequence = Map.groupBy(arrivals, ([, , , , sequence]) => sequence)
  const firsts = [...bySequence.values()].flatMap((all) => all.slice(0, 1))
  return {
    twice: arrivals.length - bySequence.size,
    fannedOutTwice: [...bySequence.values()].filter((all) => new Set(all.map(([, , id]) => id)).size > 1).length,
    late: firsts.map(([id, , , atMs]) => {
      const fromMs = confirmedAtMs.get(id) ?? 0
      return { fromMs, ms: atMs - fromMs }
    })
  }
}
interface Arrived extends Awaited<ReturnType<typeof arrived>> {
  readonly takenUpMs: number
}
const latest = (late: Arrived["late"], fromMs = 0) =>
  Math.max(...late.filter((one) => one.fromMs >= fromMs).map(({ ms }) => ms))

/** Three at work under load, and a disturbance of the one with the active fan-out. */
const whileThreeWork = (
  act: (active: Dispatcher, others: ReadonlyArray<Dispatcher>) => Promise<unknown>,
  check: (arrived: Arrived, atMs: number, left: ReadonlyArray<Dispatcher>) => unknown
) =>
  withRig(async (rig) => {
    const endpoints = [{ Name: "a", Url: rig.receiver.url("ok"), Concurrency: concurrency }]
    const dispatchers = await Promise.all([1, 2, 3].map(() => startDispatcher(rig.nats.url, endpoints)))
    try {
      const publishing = publishAtRate(rig.jetstream, rate, seconds)
      await until(() => rig.receiver.taken(), { is: (seen) => seen > rate })
      const active = await theActive(dispatchers)
      const others = dispatchers.filter((one) => one !== active)
      const share = watchProcessorShare()
      const atMs = now()
      await act(active, others)
      const { confirmedAtMs } = await publishing
      const all = await arrived(rig, confirmedAtMs)
      await check({ ...all, takenUpMs: goOnMs / (await share.end()) }, atMs, others)
    } finally {
      await Promise.all(dispatchers.map(({ stop }) => stop()))
    }
  })

const lostWrites = async (dispatchers: ReadonlyArray<Dispatcher>) => {
  const lost = await Promise.all(dispatchers.map((one) => metricOf(one, "bus_relay_conflicts_total")))
  return lost.reduce((sum, one) => sum + one, 0)
}

describe("three dispatchers under load, one of which does the fan-out", () => {
  it("go on within the recovery bound when the active one is killed", async () => {
    await whileThreeWork(
      (active) => active.stop("SIGKILL"),
      async ({ twice, fannedOutTwice, late, takenUpMs }, killedAtMs, left) => {
        assert.strictEqual(fannedOutTwice, 0)
        assert.isAtMost(twice, concurrency + rate * 0.2)
        assert.isBelow(latest(late), ackWaitMs + takenUpMs)
        // Events after its death were never given to it.
        assert.isBelow(latest(late, killedAtMs + 500), takenUpMs)
        await theActive(left)
      }
    )
  })

  it("continue while the active one is paused, and on waking it repeats nothing", async () => {
    await whileThreeWork(
      async (active, others) => {
        process.kill(active.pid, "SIGSTOP")
        const before = await lostWrites(others)
        await pause(2_500)
        const stoodIn = await theActive(others)
        process.kill(active.pid, "SIGCONT")
        await until(() => metricOf(active, "bus_relay_active"), { is: 0 })
        assert.strictEqual(await metricOf(stoodIn, "bus_relay_active"), 1)
        assert.isBelow((await lostWrites([active, ...others])) - before, 10)
      },
      ({ fannedOutTwice, late, takenUpMs }) => {
        assert.strictEqual(fannedOutTwice, 0)
        assert.isBelow(latest(late), ackWaitMs + takenUpMs)
      }
    )
  })

  it("continue at once when the active one shuts down, and nothing comes twice", async () => {
    await whileThreeWork(
      async (active) => assert.strictEqual((await active.stop("SIGTERM")).code, 0),
      ({ twice, fannedOutTwice, late, takenUpMs }) => {
        assert.deepStrictEqual([twice, fannedOutTwice], [0, 0])
        assert.isBelow(latest(late), takenUpMs)
      }
    )
  })
})
