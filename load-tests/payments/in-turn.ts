/**
 * Servers called as fast as it goes and in turn: whatever their surroundings and the machine do meanwhile, they do it
 * to all of them. Rounds in which the machine was kept for others are made again. The processor time is what a busy
 * machine changes least.
 */
import { percentile } from "../figures.ts"
import { threadsCpuMs } from "../process-use.ts"
import { undisturbed } from "../undisturbed.ts"

export interface Server {
  readonly name: string
  readonly pids: ReadonlyArray<number>
  /** A slow one is given fewer. */
  readonly callsInRound: number
  /** Makes so many calls, so many at a time; milliseconds for all of them. */
  readonly call: (count: number, inFlight: number) => Promise<number>
}

export interface InTurn {
  readonly name: string
  readonly perSecond: number
  readonly cpuMs: number
}

const wanted = 3
// The local chain becomes slower, and forgets blocks, after some 7,000 payments.
const madeMax = 5

export interface CalledInTurn {
  /** The medians over all rounds. */
  readonly servers: ReadonlyArray<InTurn>
  readonly rounds: number
  /** Of them, those that were disturbed. */
  readonly disturbed: number
  /** The first server's rate over the last one's, and its processor time over the last one's: medians of the rounds. */
  readonly rateRatio: number
  readonly cpuRatio: number
}

interface TurnOptions {
  readonly inFlight: number
  /** How often a round goes around: what disturbs a machine lasts longer than a slice, and so disturbs all servers alike. */
  readonly slices: number
}

export const calledInTurn = async (
  servers: ReadonlyArray<Server>,
  { inFlight, slices }: TurnOptions
): Promise<CalledInTurn> => {
  const round = async () => {
    const spent = servers.map(() => ({ ms: 0, cpuMs: 0, calls: 0 }))
    for (let slice = 0; slice < slices; slice++) {
      for (const [index, { call, callsInRound, pids }] of servers.entries()) {
        const cpuMs = () => pids.reduce((sum, pid) => sum + threadsCpuMs(pid), 0)
        const [sum, calls, before] = [spent[index], Math.ceil(callsInRound / slices), cpuMs()]
        const ms = await call(calls, inFlight)
        if (sum === undefined) continue
        sum.ms += ms
        sum.cpuMs += cpuMs() - before
        sum.calls += calls
      }
    }
    return spent.map(({ ms, cpuMs, calls }) => ({ perSecond: (calls / ms) * 1_000, cpuMs: cpuMs / calls }))
  }
  const { results, disturbed } = await undisturbed(wanted, round, madeMax)
  const median = (of: (round: ReadonlyArray<Omit<InTurn, "name">>) => number | undefined) =>
    percentile(
      results.map((round) => of(round) ?? Number.NaN),
      0.5
    )
  const ratio = (key: "perSecond" | "cpuMs") =>
    median((round) => (round[0]?.[key] ?? Number.NaN) / (round.at(-1)?.[key] ?? Number.NaN))
  return {
    servers: servers.map(({ name }, index) => ({
      name,
      perSecond: median((round) => round[index]?.perSecond),
      cpuMs: median((round) => round[index]?.cpuMs)
    })),
    rounds: results.length,
    disturbed,
    rateRatio: ratio("perSecond"),
    cpuRatio: ratio("cpuMs")
  }
}
