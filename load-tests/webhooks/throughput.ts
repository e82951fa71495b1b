/** How many deliveries a second: from a preloaded backlog and with a live publisher, beside a bare loop. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream"
import { atLeast, type Findings, figuresOf } from "../figures.ts"
import { publishMany } from "./publisher.ts"
import { type Rig, startDispatcher, withRig } from "./rig.ts"
import { until } from "../loops.ts"
import { verify } from "./verify.ts"

const count = 60_000
// The first part warms up what the rest measures, for the bare loop as for ours.
const warmUp = 10_000
const concurrency = 128

const rateOf = async (rig: Rig, total: number) => {
  await until(async () => (await rig.receiver.taken()) >= warmUp, 60_000)
  const [started, from] = [performance.now(), await rig.receiver.taken()]
  await until(async () => (await rig.receiver.taken()) >= total, 120_000)
  return ((total - from) / (performance.now() - started)) * 1_000
}

const bareRate = async (rig: Rig) => {
  const { last_seq } = (await rig.manager.streams.info("EVENTS")).state
  await rig.manager.consumers.add("EVENTS", {
    durable_name: "bare",
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: last_seq - count + 1,
    max_ack_pending: concurrency * 2
  })
  const parameters = [rig.nats.url, rig.receiver.url("ok"), "EVENTS", "bare", String(concurrency)]
  const child = spawn(process.execPath, [join(import.meta.dirname, "bare.ts"), ...parameters], { stdio: "inherit" })
  const rate = await rateOf(rig, count)
  child.kill()
  await rig.manager.consumers.delete("EVENTS", "bare")
  await rig.receiver.reset()
  return rate
}

export const throughput = (): Promise<Findings> =>
  withRig(async (rig) => {
    const endpoints = [
      {
        Name: "a",
        Url: rig.receiver.url("ok"),
        SecretEnvVar: "LOAD_SECRET",
        Concurrency: concurrency,
        BacklogMax: 10_000_000
      }
    ]
    // Known to the fan-out, then gone: what is published now is its backlog.
    await (await startDispatcher(rig.nats.url, endpoints)).stop()
    const preloaded = await publishMany(rig.jetstream, count)
    const bare = await bareRate(rig)
    const dispatcher = await startDispatcher(rig.nats.url, endpoints)
    const backlog = await rateOf(rig, count)
    const verdict = verify(preloaded.confirmedAtMs.keys(), await rig.receiver.arrivals())
    const busyMb = dispatcher.rssMb()
    await rig.receiver.reset()

    const publishing = publishMany(rig.jetstream, count, count)
    const live = await rateOf(rig, count)
    await publishing
    await dispatcher.stop()
    const figure = figuresOf("throughput")
    return {
      figures: [
        figure("bare loop", bare, "/s"),
        figure("from a backlog", backlog, "/s", atLeast(3_000, backlog, "/s")),
        figure("from a backlog, of bare", (100 * backlog) / bare, "%", atLeast(55, (100 * backlog) / bare, "%")),
        figure("with a live publisher", live, "/s", atLeast(3_000, live, "/s")),
        figure("with a live publisher, of bare", (100 * live) / bare, "%", atLeast(40, (100 * live) / bare, "%")),
        figure("lost", verdict.lost, "events", { target: "0", met: verdict.lost === 0 }),
        figure("memory of the dispatcher", busyMb, "MB", { target: "< 500 MB", met: busyMb < 500 })
      ],
      series: []
    }
  })
