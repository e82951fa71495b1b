/**
 * How many deliveries a second: from a preloaded backlog and with a live publisher, beside a bare loop, and beside one
 * that stores deliveries before it sends them; and what each costs the processor, by process, which says how far the
 * cores of this machine can bring it.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream"
import { atLeast, type Findings, figuresOf } from "../figures.ts"
import { bareDeliveries, makeBareDeliveries } from "./bare-deliveries.ts"
import { publishMany } from "./publisher.ts"
import { type Rig, startDispatcher, withRig } from "./rig.ts"
import { until } from "../loops.ts"
import { useOf } from "../process-use.ts"
import { verify } from "./verify.ts"

const count = 60_000
// The first part warms up what the rest measures, for the bare loop as for ours.
const warmUp = 10_000
const concurrency = 128

interface Pace {
  readonly rate: number
  /** Microseconds of processor for a delivery. */
  readonly costs: Readonly<Record<"sender" | "broker" | "receiver", number>>
}

/** `sender`: the process that delivers. */
const paceOf = async (rig: Rig, total: number, sender: number): Promise<Pace> => {
  await until(async () => (await rig.receiver.taken()) >= warmUp, 60_000)
  const pids = { sender, broker: rig.nats.pid(), receiver: rig.receiver.pid }
  const spent = (name: keyof typeof pids) => useOf(pids[name]).cpuSeconds
  const before = { sender: spent("sender"), broker: spent("broker"), receiver: spent("receiver") }
  const [started, from] = [performance.now(), await rig.receiver.taken()]
  await until(async () => (await rig.receiver.taken()) >= total, 120_000)
  const seconds = (performance.now() - started) / 1_000
  const each = (name: keyof typeof pids) => ((spent(name) - before[name]) * 1e6) / (total - from)
  return {
    rate: (total - from) / seconds,
    costs: { sender: each("sender"), broker: each("broker"), receiver: each("receiver") }
  }
}

/** `keeps`: it stores deliveries before it sends them. */
const barePace = async (rig: Rig, keeps: boolean) => {
  const { manager, nats, receiver } = rig
  const { last_seq } = (await manager.streams.info("EVENTS")).state
  const ofBacklog = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: last_seq - count + 1 }
  const acked = { ack_policy: AckPolicy.Explicit, max_ack_pending: concurrency * 2 }
  const stream = keeps ? bareDeliveries.stream : "EVENTS"
  if (keeps) {
    await makeBareDeliveries(manager)
    await manager.consumers.add("EVENTS", { ...ofBacklog, durable_name: "copied", ack_policy: AckPolicy.None })
  }
  await manager.consumers.add(stream, { ...acked, ...(keeps ? {} : ofBacklog), durable_name: "bare" })
  const copiedFrom = keeps ? ["copied"] : []
  const parameters = [nats.url, receiver.url("ok"), stream, "bare", String(concurrency), ...copiedFrom]
  const child = spawn(process.execPath, [join(import.meta.dirname, "bare.ts"), ...parameters], { stdio: "inherit" })
  const pace = await paceOf(rig, count, child.pid ?? 0)
  child.kill()
  await manager.consumers.delete(stream, "bare")
  if (keeps) {
    await manager.consumers.delete("EVENTS", "copied")
    await manager.streams.delete(stream)
  }
  await receiver.reset()
  return pace
}

const costFigures = (figure: ReturnType<typeof figuresOf>, name: string, { costs }: Pace) =>
  (["sender", "broker", "receiver"] as const).map((part) =>
    figure(`${name}: processor of the ${part} for a delivery`, costs[part], "µs")
  )

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
    const bare = await barePace(rig, false)
    const keeping = await barePace(rig, true)
    const dispatcher = await startDispatcher(rig.nats.url, endpoints)
    const backlog = await paceOf(rig, count, dispatcher.pid)
    const verdict = verify(preloaded.confirmedAtMs.keys(), await rig.receiver.arrivals())
    const busyMb = dispatcher.rssMb()
    await rig.receiver.reset()

    const publishing = publishMany(rig.jetstream, count, count)
    const live = await paceOf(rig, count, dispatcher.pid)
    await publishing
    await dispatcher.stop()
    const figure = figuresOf("throughput")
    const ofBare = ({ rate }: Pace) => (100 * rate) / bare.rate
    const ofKeeping = (100 * backlog.rate) / keeping.rate
    return {
      figures: [
        figure("bare loop", bare.rate, "/s"),
        figure("bare loop that stores deliveries", keeping.rate, "/s"),
        figure("bare loop that stores deliveries, of bare", ofBare(keeping), "%"),
        figure("from a backlog", backlog.rate, "/s", atLeast(3_000, backlog.rate, "/s")),
        figure("from a backlog, of bare", ofBare(backlog), "%", atLeast(55, ofBare(backlog), "%")),
        figure("from a backlog, of the loop that stores deliveries", ofKeeping, "%", atLeast(75, ofKeeping, "%")),
        figure("with a live publisher", live.rate, "/s", atLeast(3_000, live.rate, "/s")),
        figure("with a live publisher, of bare", ofBare(live), "%", atLeast(40, ofBare(live), "%")),
        ...costFigures(figure, "bare loop", bare),
        ...costFigures(figure, "bare loop that stores deliveries", keeping),
        ...costFigures(figure, "from a backlog", backlog),
        figure("lost", verdict.lost, "events", { target: "0", met: verdict.lost === 0 }),
        figure("memory of the dispatcher", busyMb, "MB", { target: "< 500 MB", met: busyMb < 500 })
      ],
      series: []
    }
  })
