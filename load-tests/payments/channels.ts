/**
 * Calls paid by voucher over 64 channels, and in the same run a server of the protocol's own parts with its channels in
 * files and, where there is one, in Redis, and our own calls paid by `exact`; as fast as they go, in turn, all of them
 * past the proxy that takes times. Of each call by voucher the provider's time is taken off, and what the proxy takes
 * itself: what is left is ours. At the end the books must agree: what the answers cost, what the records say was
 * charged, and what arrives on the chain.
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "#dev/fixtures/free-port"
import { endOf, startHelper } from "../children.ts"
import { atLeast, atMost, distribution, exactly, figuresOf, type Findings, percentile } from "../figures.ts"
import { closedLoop, pause } from "../loops.ts"
import type { LoadOptions } from "../options.ts"
import { undisturbed } from "../undisturbed.ts"
import { type Client, markOf, openClient, timedModel } from "./client.ts"
import { closedPaid, courseTo } from "./course.ts"
import { calledInTurn, type Server } from "./in-turn.ts"
import { fundedPayers } from "./payers.ts"
import { proxyCostMs } from "./proxy-cost.ts"
import { type Rig, untimedModel, withRig } from "./rig.ts"
import { outsideByKey } from "./stages.ts"
import { channelOffer, channelsOf, type LoadChannel, payByChannel, signAhead } from "./vouchers.ts"
import type { PaymentRequirements } from "#payments/contract"

const figure = figuresOf("channels")
const channelCount = 64
const load = {
  inFlight: 32,
  callsInRound: 4_000,
  // Those of a young process, which the compiler holds up; and as many more until it has compiled what they need.
  young: 2_000,
  warmUp: 10_000,
  referenceWarmUp: 1_000,
  rounds: 4,
  callsAlone: 400,
  depositCalls: 100_000
}
const referencePayTo = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
// What is charged is claimed within seconds of the end of a round, not within each.
export const claimSeconds = 20

interface Course {
  readonly client: Client
  readonly offer: PaymentRequirements
  readonly channels: ReadonlyArray<LoadChannel>
  readonly marks: { next: number }
  readonly served: { count: number; refused: number }
}

const openCourse = async (url: string, channels: ReadonlyArray<LoadChannel>): Promise<Course> => {
  const client = openClient(url, 256)
  return {
    client,
    offer: await channelOffer(client, timedModel),
    channels,
    marks: { next: 0 },
    served: { count: 0, refused: 0 }
  }
}

const payOne = async (course: Course, channel: LoadChannel, model: string) => {
  const mark = markOf(++course.marks.next)
  const order = { mark, calls: load.depositCalls, model }
  const { ms, status } = await payByChannel(course.client, channel, course.offer, order)
  if (status === 200) course.served.count += 1
  else course.served.refused += 1
  return { ms, mark }
}

// Channels take turns, but some answers overtake others.
const spareVouchers = 8

/** Each channel pays for one call at a time: so many of them at once, in turn. */
const closedVouchers = async (course: Course, count: number, inFlight: number, model = untimedModel) => {
  const free = [...course.channels]
  signAhead(free, course.offer, Math.ceil(count / free.length) + spareVouchers)
  const from = performance.now()
  const calls = await closedLoop(count, Math.min(inFlight, free.length), async () => {
    const channel = free.shift()
    if (channel === undefined) throw new Error("no channel is free")
    const call = await payOne(course, channel, model)
    free.push(channel)
    return call
  })
  return { ms: performance.now() - from, calls }
}

/** One call after the other, so that none waits for another: what a voucher adds to its answer. */
const measureAlone = async (rig: Rig, course: Course): Promise<Findings> => {
  const proxyMs = await proxyCostMs(rig.chain.rpcUrl, rig.proxy.chain, 0)
  await rig.proxy.begin()
  const alone = async () => (await closedVouchers(course, load.callsAlone, 1, timedModel)).calls
  const rounds = await undisturbed(load.rounds, alone)
  const passed = outsideByKey(await rig.proxy.report())
  const calls = rounds.results.flat()
  const added = calls.map(({ ms, mark }) => ms - proxyMs - (passed.get(mark)?.ms ?? Number.NaN))
  const p50 = percentile(added, 0.5)
  const p99 = percentile(added, 0.99)
  return {
    figures: [
      figure("of it the proxy that takes the times", proxyMs, "ms"),
      figure("by voucher, added, p50", p50, "ms", atMost(2, p50, "ms")),
      figure("by voucher, added, p99", p99, "ms", atMost(10, p99, "ms")),
      figure(`of ${load.rounds} rounds disturbed`, rounds.disturbed, "")
    ],
    series: [{ title: "calls by voucher", unit: "ms", lines: [{ name: "added", values: distribution(added) }] }]
  }
}

const hasRedis = () => spawnSync("redis-server", ["--version"]).status === 0

/** Writes each change to its log, and flushes that once a second: its default for data that is to be kept. */
const startRedis = async (directory: string) => {
  const port = await freePort()
  const options = { port: `${port}`, bind: "127.0.0.1", dir: directory, appendonly: "yes", save: "" }
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn("redis-server", flags, { stdio: "ignore" })
  return { pid: child.pid ?? 0, url: `redis://127.0.0.1:${port}`, end: () => endOf(child) }
}

interface Reference {
  readonly url: string
  /** Of the server, and of the Redis that it needs. */
  readonly pids: ReadonlyArray<number>
}

const withReference = async <A>(
  rig: Rig,
  offer: PaymentRequirements,
  keeps: "files" | "redis",
  use: (reference: Reference) => Promise<A>
) => {
  const directory = await mkdtemp(join(tmpdir(), "starling-channels-"))
  const redis = keeps === "redis" ? await startRedis(directory) : undefined
  const key = rig.chain.settlers.at(-1)?.privateKey ?? ""
  const helper = await startHelper<{ url: string }>(
    join(import.meta.dirname, "reference-channel-server.ts"),
    rig.proxy.chain,
    rig.upstreamUrl,
    key,
    referencePayTo,
    offer.amount,
    offer.asset,
    redis?.url ?? directory
  )
  try {
    return await use({ url: helper.said.url, pids: [helper.pid, ...(redis === undefined ? [] : [redis.pid])] })
  } finally {
    await helper.end()
    await redis?.end()
    await rm(directory, { recursive: true, force: true })
  }
}

export const channelCalls = ({ apart }: LoadOptions): Promise<Findings> =>
  withRig(
    async (rig) => {
      const course = await openCourse(rig.url, await channelsOf(rig.chain, channelCount))
      const young = await closedVouchers(course, load.young, load.inFlight)
      await closedVouchers(course, load.warmUp, load.inFlight)
      const alone = await measureAlone(rig, course)
      const exact = await courseTo(rig.url, await fundedPayers(rig.chain, channelCount), untimedModel)
      const calledBeside = async (references: ReadonlyArray<readonly [name: string, Reference]>) => {
        const others: Array<Server & { readonly other: Course }> = []
        // One after the other: they send their deposits from one account.
        for (const [name, { url, pids }] of references) {
          const other = await openCourse(url, await channelsOf(rig.chain, channelCount))
          await closedVouchers(other, load.referenceWarmUp, load.inFlight)
          others.push({ name, pids, other, callsInRound: load.callsInRound / 16, ...calledBy(other) })
        }
        const servers = [
          { name: "ours by voucher", pids: rig.pids, callsInRound: load.callsInRound, ...calledBy(course) },
          {
            name: "ours by exact",
            pids: rig.pids,
            callsInRound: 500,
            call: (count: number, inFlight: number) => closedPaid(exact, count, inFlight)
          },
          ...others
        ]
        const called = await calledInTurn(servers, { inFlight: load.inFlight, slices: 1 })
        for (const { other } of others) await other.client.close()
        return called
      }
      const isRedisHere = hasRedis()
      if (!isRedisHere) process.stderr.write("left out: the reference with Redis, for there is no redis-server\n")
      const inTurn = await withReference(rig, course.offer, "files", (inFiles) =>
        isRedisHere
          ? withReference(rig, course.offer, "redis", (inRedis) =>
              calledBeside([
                ["reference by voucher, files", inFiles],
                ["reference by voucher, Redis", inRedis]
              ])
            )
          : calledBeside([["reference by voucher, files", inFiles]])
      )
      const rates = inTurn.servers.flatMap(({ name, perSecond, cpuMs }) => [
        figure(
          `${name}, ${load.inFlight} in flight`,
          perSecond,
          "/s",
          ...(name === "ours by voucher" ? [atLeast(1_000, perSecond, "/s")] : [])
        ),
        figure(`${name}: processor time of a call`, cpuMs, "ms")
      ])
      await course.client.close()
      await exact.client.close()
      const atFirst = figure("ours by voucher, the first calls of a process", (load.young / young.ms) * 1_000, "/s")
      return { figures: [atFirst, ...alone.figures, ...rates, ...(await booksOf(rig, course))], series: alone.series }
    },
    apart,
    { channels: { claimSeconds } }
  )

const calledBy = (course: Course) => ({
  call: async (count: number, inFlight: number) => (await closedVouchers(course, count, inFlight)).ms
})

/** Until everything that was charged is claimed and has arrived. */
const booksOf = async (rig: Rig, { channels, served }: Course) => {
  const charged = channels.reduce((sum, channel) => sum + channel.charged, 0n)
  let books = await rig.channelBooks()
  for (const began = performance.now(); books.unclaimed > 0n && performance.now() - began < claimSeconds * 3_000;) {
    await pause(250)
    books = await rig.channelBooks()
  }
  const perThousand = (books.transactions / served.count) * 1_000
  const matches = (name: string, amount: bigint) =>
    figure(name, Number(amount), "units", exactly(Number(charged), Number(amount)))
  return [
    figure("answers by voucher", served.count, ""),
    figure("calls by voucher refused", served.refused, "", exactly(0, served.refused)),
    matches("charged, by the records", books.charged),
    matches("claimed, by the chain", books.claimed),
    figure("transactions for a thousand calls", perThousand, "", atMost(1, perThousand, ""))
  ]
}
