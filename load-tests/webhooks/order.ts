/**
 * Order by key: two ordered endpoints in two lanes beside one without an order, taken by two dispatchers, while these and
 * the broker are killed, the receiver is down until breakers open, abandoned deliveries are sent again, and endpoints
 * move between lanes. And what a delivery in order costs beside one without.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { JetStreamClient } from "@nats-io/jetstream"
import { deliveryPartitionOf, endpointIdOf } from "#webhooks/contract"
import { startHelper } from "../children.ts"
import { exactly, type Findings, figuresOf, percentile } from "../figures.ts"
import { pause, until } from "../loops.ts"
import type { OrderedTally } from "./ordered-receiver.ts"
import { type Dispatcher, type Rig, startDispatcher, withRig } from "./rig.ts"

const example = JSON.parse(readFileSync("dev/examples/merged.json", "utf8")) as { workItem: Record<string, unknown> }

/** One of eight events is of one of eight keys, the others of two thousand. */
const keyOf = (id: number) => (id % 8 === 0 ? (id / 8) % 8 : 8 + ((id * 7_919) % 2_000))

const bodyOf = (event: string, id: number) => {
  const key = keyOf(id)
  const item = `6f1c2f0e-5d0a-4c1b-9a55-${key.toString(16).padStart(12, "0")}`
  return JSON.stringify({ ...example, event, workItem: { ...example.workItem, externalId: `k${key}-${id}`, id: item } })
}

const orderBy = "/workItem/id"
const quick = { InitialBackoffSeconds: 0.3, MaxAttempts: 4, TimeoutSeconds: 5 }

/** Names whose endpoints lie in the two lanes, and of which the second moves where there are three. */
const names = (["zero", "one"] as const).map((told, lane) => {
  for (let at = 0; ; at += 1) {
    const partition = deliveryPartitionOf(endpointIdOf(`${told}-${at}`))
    if (partition % 2 === lane && (partition % 3 === lane) === (lane === 0)) return `${told}-${at}`
  }
})
const beside = "beside"

interface World {
  readonly rig: Rig
  readonly receiver: Awaited<ReturnType<typeof startOrderedReceiver>>
  readonly dispatchers: Array<Dispatcher>
  lanes: number
}

const startOrderedReceiver = async () => {
  const { said, ask, end } = await startHelper<{ port: number }>(join(import.meta.dirname, "ordered-receiver.ts"))
  return {
    url: (name: string) => `http://127.0.0.1:${said.port}/${name}`,
    tally: (name: string) => ask<OrderedTally>(`/${name}`),
    be: (how: "down" | "up") => ask<OrderedTally>(how),
    end
  }
}

const start = ({ rig, receiver, lanes }: World) =>
  startDispatcher(
    rig.nats.url,
    [
      ...names.map((Name) => ({ Name, Url: receiver.url(Name), OrderBy: orderBy, ...quick })),
      { Name: beside, Url: receiver.url(beside), ...quick }
    ],
    { Lanes: lanes }
  )

const killed = async (world: World, ...victims: ReadonlyArray<number>) => {
  await Promise.all(victims.map((at) => world.dispatchers[at]?.stop("SIGKILL")))
  await Promise.all(victims.map(async (at) => (world.dispatchers[at] = await start(world))))
}

/** What is done to the fleet. */
export const faults = {
  dispatcher: (world: World) => killed(world, 0),
  other: (world: World) => killed(world, 1),
  both: (world: World) => killed(world, 0, 1),
  broker: async ({ rig }: World) => {
    await rig.nats.kill9()
    await rig.nats.start()
    const isBack = () =>
      rig.manager.streams.info("ABANDONED").then(
        () => true,
        () => false
      )
    await until(isBack, 60_000)
  },
  /** So long that breakers open. */
  outage: async ({ receiver }: World) => {
    await receiver.be("down")
    await pause(40_000)
    await receiver.be("up")
  },
  /** One after the other, for longer than a lease. */
  frozen: async ({ dispatchers }: World) => {
    for (const { pid } of dispatchers) {
      process.kill(pid, "SIGSTOP")
      await pause(6_000)
      process.kill(pid, "SIGCONT")
    }
  },
  lanes: async (world: World) => {
    world.lanes = 3
    await killed(world, 0)
    await killed(world, 1)
  },
  redrive: async ({ rig }: World) => {
    const { last_seq, first_seq } = (await rig.manager.streams.info("ABANDONED")).state
    for (let sequence = Math.max(1, first_seq); sequence <= last_seq; sequence += 1) {
      const question = JSON.stringify({ _tag: "Redrive", sequence })
      const answer = await rig.connection
        .request("deliveries-asked", question, { timeout: 10_000 })
        .catch(() => undefined)
      if (answer?.string().includes("Stored") === true) await rig.manager.streams.deleteMessage("ABANDONED", sequence)
    }
  }
} satisfies Record<string, (world: World) => Promise<unknown>>

export interface Load {
  readonly events: number
  readonly rate: number
  /** At equal distances over the events. */
  readonly faults: ReadonlyArray<keyof typeof faults>
}

const publish = async (client: JetStreamClient, id: number) => {
  for (;;) {
    const options = { msgID: `load-${id}`, timeout: 2_000 }
    const stored = await client
      .publish("events.work_item.merged", bodyOf("work_item.merged", id), options)
      .catch(() => undefined)
    if (stored !== undefined) return
    await pause(100)
  }
}

/** How all endpoints stand when everything has come, or does not come any more. */
export const orderUnder = ({ events, rate, faults: planned }: Load) =>
  withRig(async (rig) => {
    const receiver = await startOrderedReceiver()
    const world: World = { rig, receiver, dispatchers: [], lanes: 2 }
    try {
      world.dispatchers.push(await start(world), await start(world))
      let done = 0
      const publishing = (async () => {
        const [started, sent] = [performance.now(), new Array<Promise<unknown>>()]
        while (sent.length < events) {
          const due = Math.min(events, Math.ceil(((performance.now() - started) / 1_000) * rate))
          while (sent.length < due) sent.push(publish(rig.jetstream, sent.length).then(() => (done += 1)))
          await pause(2)
        }
        await Promise.all(sent)
      })()
      for (const [at, name] of planned.entries()) {
        const wanted = ((at + 1) * events) / (planned.length + 1)
        await until(async () => Promise.resolve(done >= wanted), 600_000)
        await faults[name](world)
      }
      await publishing
      // One after another: the next answer belongs to whoever asked first.
      const tallies = async () => {
        const all: Array<OrderedTally> = []
        for (const name of [...names, beside]) all.push(await receiver.tally(name))
        return all
      }
      const isAll = async () => (await tallies()).every(({ different }) => different >= events)
      await until(isAll, 300_000).catch(() => undefined)
      return await tallies()
    } finally {
      await Promise.all(world.dispatchers.map(({ stop }) => stop("SIGKILL")))
      await receiver.end()
    }
  })

const underFaults = async (): Promise<Findings> => {
  const load: Load = {
    events: 50_000,
    rate: 400,
    faults: ["dispatcher", "other", "broker", "outage", "redrive", "lanes", "both", "dispatcher"]
  }
  const tallies = await orderUnder(load)
  const ordered = tallies.slice(0, names.length)
  const sum = (of: (tally: OrderedTally) => number) => ordered.reduce((total, tally) => total + of(tally), 0)
  for (const line of ordered.flatMap(({ examples }) => examples)) process.stderr.write(`${line}\n`)
  const figure = figuresOf("order by key, 100,000 deliveries")
  const lost = load.events * names.length - sum(({ different }) => different)
  return {
    figures: [
      figure(
        "inversions",
        sum(({ inversions }) => inversions),
        "",
        exactly(
          0,
          sum(({ inversions }) => inversions)
        )
      ),
      figure("lost", lost, "events", exactly(0, lost)),
      figure(
        "attempts",
        sum(({ taken }) => taken),
        ""
      ),
      figure(
        "attempts that told a gap",
        sum(({ gaps }) => gaps),
        ""
      ),
      figure(
        "sent again by an operator",
        sum(({ redriven }) => redriven),
        ""
      ),
      figure("inversions without an order, beside", tallies.at(-1)?.inversions ?? 0, "")
    ],
    series: []
  }
}

const costEvents = 15_000
const costTimes = 3

const beingBeside = (): Promise<Findings> =>
  withRig(async (rig) => {
    const kinds = [
      { event: "work_item.merged", path: "ok/0", more: {} },
      { event: "work_item.done", path: "ok/1", more: { OrderBy: orderBy } }
    ]
    const endpoints = kinds.map(({ event, more }, at) => ({
      Name: event,
      Url: rig.receiver.url("ok", at),
      EventFilter: [event],
      Concurrency: 128,
      ...more
    }))
    const dispatcher = await startDispatcher(rig.nats.url, endpoints)
    const rates = kinds.map(() => new Array<number>())
    const costs = kinds.map(() => new Array<number>())
    for (let time = 0; time <= costTimes; time += 1) {
      for (const [at, { event, path }] of kinds.entries()) {
        const [from, spent, started] = [await rig.receiver.takenAt(path), dispatcher.cpuSeconds(), performance.now()]
        let next = 0
        const work = async () => {
          while (next < costEvents) await rig.jetstream.publish(`events.${event}`, bodyOf(event, next++))
        }
        await Promise.all(Array.from({ length: 512 }, work))
        await until(async () => (await rig.receiver.takenAt(path)) >= from + costEvents, 120_000)
        // The first time warms up.
        if (time === 0) continue
        rates[at]?.push((1_000 * costEvents) / (performance.now() - started))
        costs[at]?.push(((dispatcher.cpuSeconds() - spent) * 1e6) / costEvents)
      }
    }
    await dispatcher.stop()
    const [unordered, ordered] = [percentile(rates[0] ?? [], 0.5), percentile(rates[1] ?? [], 0.5)]
    const [cost, costOrdered] = [percentile(costs[0] ?? [], 0.5), percentile(costs[1] ?? [], 0.5)]
    const figure = figuresOf("order by key, published and delivered")
    return {
      figures: [
        figure("without an order", unordered, "/s"),
        figure("in order", ordered, "/s"),
        figure("in order, of without", ordered / unordered, "x"),
        figure("processor of the dispatcher for a delivery without an order", cost, "µs"),
        figure("the same in order", costOrdered, "µs"),
        figure("processor in order, of without", costOrdered / cost, "x")
      ],
      series: []
    }
  })

export const order = async (): Promise<Findings> => {
  const [found, cost] = [await underFaults(), await beingBeside()]
  return { figures: [...found.figures, ...cost.figures], series: [] }
}
