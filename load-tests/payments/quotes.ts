/**
 * Unpaid calls, as fast as they go: ours, a server of the protocol's own parts, and one that only reads the question and
 * answers as many bytes, in turn. All of ours reads the body, decodes it by its schema and makes the price.
 */
import { join } from "node:path"
import { startHelper } from "../children.ts"
import { atLeast, figuresOf, type Findings } from "../figures.ts"
import { closedLoop } from "../loops.ts"
import type { LoadOptions } from "../options.ts"
import { type Client, markOf, openClient, quoteFrom } from "./client.ts"
import { calledInTurn, type Server } from "./in-turn.ts"
import { withReference } from "./paid.ts"
import { withRig } from "./rig.ts"

const figure = figuresOf("quotes")
const load = { inFlight: 32, callsInRound: 8_000, slices: 20, warmUp: 20_000 }

const unpaidBy = ({ call }: Client) => {
  const ask = async (index: number) => {
    const { status } = await call({ mark: markOf(index) })
    if (status !== 402) throw new Error(`an unpaid call was answered ${status}`)
  }
  return async (count: number, inFlight: number) => {
    const from = performance.now()
    await closedLoop(count, inFlight, ask)
    return performance.now() - from
  }
}

const measure = async (servers: ReadonlyArray<Server>): Promise<Findings> => {
  for (const { call } of servers) await call(load.warmUp, load.inFlight)
  const called = await calledInTurn(servers, { inFlight: load.inFlight, slices: load.slices })
  const at = `unpaid, ${load.inFlight} in flight`
  const figures = called.servers.flatMap(({ name, perSecond, cpuMs }) => [
    figure(`${name}: ${at}`, perSecond, "/s"),
    figure(`${name}: processor time of an unpaid call`, cpuMs, "ms")
  ])
  const { rateRatio, cpuRatio, disturbed, rounds } = called
  figures.push(
    figure("unpaid calls over the reference's", rateRatio, "times", atLeast(0.6, rateRatio, "times")),
    figure("processor time of an unpaid call over the reference's", cpuRatio, "times"),
    figure(`${at}, of ${rounds} rounds disturbed`, disturbed, "")
  )
  return { figures, series: [] }
}

export const quotes = ({ apart }: LoadOptions): Promise<Findings> =>
  withRig(async (rig) => {
    const ours = openClient(rig.url, load.inFlight)
    const { text } = await ours.call({ mark: markOf(0) })
    const bare = await startHelper<{ url: string }>(
      join(import.meta.dirname, "bare-server.ts"),
      String(Buffer.byteLength(text))
    )
    const doingNothing = openClient(bare.said.url, load.inFlight)
    try {
      return await withReference(rig, await quoteFrom(ours), async (url, pid) => {
        const reference = openClient(url, load.inFlight)
        const { callsInRound } = load
        const servers = [
          { name: "ours", pids: rig.pids, callsInRound, call: unpaidBy(ours) },
          { name: "a bare server", pids: [bare.pid], callsInRound, call: unpaidBy(doingNothing) },
          { name: "reference", pids: [pid], callsInRound, call: unpaidBy(reference) }
        ]
        return measure(servers).finally(() => reference.close())
      })
    } finally {
      await ours.close()
      await doingNothing.close()
      await bare.end()
    }
  }, apart)
