/**
 * Calls to a free model, whole answers: ours counts each by its caller's address over all replicas, on the broker. In
 * turn with it the widely used gateway of `@portkey-ai/gateway`, which counts nothing, before the same provider. The
 * added time is that of a call through a gateway over that of a call to the provider itself, at one pace.
 */
import { createServer, type AddressInfo } from "node:net"
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { endOf } from "../children.ts"
import { atLeast, atMost, type Figure, figuresOf, type Findings, percentile } from "../figures.ts"
import { closedLoop, openLoop, until } from "../loops.ts"
import type { LoadOptions } from "../options.ts"
import { type CallOptions, markOf, openClient } from "./client.ts"
import { calledInTurn, type Server } from "./in-turn.ts"
import { callsOfAddressMax, type Rig, withRig } from "./rig.ts"

const figure = figuresOf("free")
const load = { inFlight: 16, callsInRound: 2_000, slices: 10, warmUp: 4_000, perSecond: 50, roundSeconds: 4, rounds: 3 }
// Each makes its calls over the whole scenario: warm-up, rounds that are made again, and pace.
const addresses = 256
const startMsMax = 30_000

const free = (rig: Rig) => {
  const client = openClient(rig.url, 64)
  let calls = 0
  const addressOf = (index: number) => `198.18.${(index >> 8) & 255}.${index & 255}`
  const call = () => {
    const index = calls++
    if (index >= addresses * callsOfAddressMax) throw new Error("all addresses have had their calls")
    return answered(client, {
      mark: markOf(index),
      model: "demo/free",
      headers: { "x-forwarded-for": addressOf(index % addresses) }
    })
  }
  return { call, close: client.close }
}

/** The same call, of another's API. */
const other = (origin: string, headers: Readonly<Record<string, string>>) => {
  const client = openClient(origin, 64)
  let calls = 0
  return {
    call: () => answered(client, { mark: markOf(calls++), model: "echo-1", headers }),
    close: client.close
  }
}

const answered = async ({ call }: ReturnType<typeof openClient>, options: CallOptions) => {
  const { status, ms, text } = await call(options)
  if (status !== 200) throw new Error(`a free call was answered ${status}: ${text.slice(0, 200)}`)
  return ms
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const startPortkey = async () => {
  const port = await freePort()
  const script = fileURLToPath(import.meta.resolve("@portkey-ai/gateway/build/start-server.js"))
  const child = fork(script, [`--port=${port}`, "--headless"], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
    execArgv: []
  })
  const url = `http://127.0.0.1:${port}`
  const isUp = () =>
    fetch(url).then(
      () => true,
      () => false
    )
  await until(isUp, startMsMax, "@portkey-ai/gateway listened").catch(async (error: unknown) => {
    await endOf(child)
    throw error
  })
  return { url, pid: child.pid ?? 0, end: () => endOf(child) }
}

type Caller = Pick<ReturnType<typeof free>, "call">

const callsBy =
  ({ call }: Caller): Server["call"] =>
  async (count, inFlight) => {
    const from = performance.now()
    await closedLoop(count, inFlight, call)
    return performance.now() - from
  }

/** Milliseconds of each call, at one pace, in turn. */
const atPace = async (callers: ReadonlyArray<Caller>) => {
  const ms = callers.map((): Array<number> => [])
  for (let round = 0; round < load.rounds; round++) {
    for (const [index, { call }] of callers.entries()) {
      ms[index]?.push(...(await openLoop(load.perSecond, load.roundSeconds, call)))
    }
  }
  return ms
}

const measure = async (servers: ReadonlyArray<Server>, callers: ReadonlyArray<Caller>) => {
  for (const { call } of servers) await call(load.warmUp, load.inFlight)
  const called = await calledInTurn(servers, { inFlight: load.inFlight, slices: load.slices })
  const at = `free, ${load.inFlight} in flight`
  const [oursMs = [], theirsMs = [], providersMs = []] = await atPace(callers)
  const added = (ms: ReadonlyArray<number>) => percentile(ms, 0.5) - percentile(providersMs, 0.5)
  const pace = `free at ${load.perSecond}/s, added, p50`
  const { rateRatio, cpuRatio, disturbed, rounds } = called
  return [
    ...called.servers.flatMap(({ name, perSecond, cpuMs }) => [
      figure(`${name}: ${at}`, perSecond, "/s"),
      figure(`${name}: processor time of a free call`, cpuMs, "ms")
    ]),
    figure("free calls over Portkey's", rateRatio, "times", atLeast(1, rateRatio, "times")),
    figure("processor time of a free call over Portkey's", cpuRatio, "times", atMost(1, cpuRatio, "times")),
    figure(`${at}, of ${rounds} rounds disturbed`, disturbed, ""),
    figure(`the provider itself at ${load.perSecond}/s, p50`, percentile(providersMs, 0.5), "ms"),
    figure(`ours: ${pace}`, added(oursMs), "ms", atMost(added(theirsMs), added(oursMs), "ms")),
    figure(`Portkey: ${pace}`, added(theirsMs), "ms")
  ] satisfies ReadonlyArray<Figure>
}

export const freeCalls = ({ apart }: LoadOptions): Promise<Findings> =>
  withRig(async (rig) => {
    const portkey = await startPortkey()
    const ours = free(rig)
    const theirs = other(portkey.url, {
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${rig.upstreamUrl}/v1`,
      authorization: "Bearer none"
    })
    const provider = other(rig.upstreamUrl, {})
    const { callsInRound } = load
    try {
      const servers = [
        { name: "ours", pids: rig.pids, callsInRound, call: callsBy(ours) },
        { name: "Portkey", pids: [portkey.pid], callsInRound, call: callsBy(theirs) }
      ]
      return { figures: await measure(servers, [ours, theirs, provider]), series: [] }
    } finally {
      for (const { close } of [ours, theirs, provider]) await close()
      await portkey.end()
    }
  }, apart)
