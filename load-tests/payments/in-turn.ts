/**
 * Servers called as fast as it goes and in turn: whatever their surroundings and the machine do meanwhile, they do it
 * to all of them. Rounds in which the machine was kept for others are made again. The processor time is what a busy
 * machine changes least.
 */
import { percentile } from "../figures.ts"
import { cpuSecondsOf, processesOf } from "../process-use.ts"
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

export const calledInTurn = async (servers: ReadonlyArray<Server>, inFlight: number): Promise<CalledInTurn> => {
  const callOne = async ({ call, callsInRound, name, pids }: Server): Promise<InTurn> => {
    const cpuSeconds = () => cpuSecondsOf(pids.flatMap((pid) => processesOf(pid)))
    const before = cpuSeconds()
    const ms = await call(callsInRound, inFlight)
    const cpuMs = ((cpuSeconds() - before) * 1_000) / callsInRound
    return { name, perSecond: (callsInRound / ms) * 1_000, cpuMs }
  }
  const round = async () => {
    const called: Array<InTurn> = []
    for (const server of servers) called.push(await callOne(server))
    return called
  }
  const { results, disturbed } = await undisturbed(wanted, round, madeMax)
  const median = (of: (round: ReadonlyArray<InTurn>) => number | undefined) =>
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
