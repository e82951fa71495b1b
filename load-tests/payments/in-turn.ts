/**
 * Servers of one chain, called as fast as it goes and in turn: whatever the chain and the machine do meanwhile, they do
 * it to all of them. Rounds in which the machine was kept for others are made again. The processor time is what a busy
 * machine changes least.
 */
import { cpuSecondsOf, processesOf } from "../process-use.ts"
import { undisturbed } from "../undisturbed.ts"
import { closedPaid, type Course } from "./course.ts"

export interface Server {
  readonly name: string
  readonly course: Course
  readonly pids: ReadonlyArray<number>
  /** A slow one is given fewer. */
  readonly callsInRound: number
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
  readonly servers: ReadonlyArray<InTurn>
  readonly rounds: number
  /** Of them, those that were disturbed. */
  readonly disturbed: number
}

export const calledInTurn = async (servers: ReadonlyArray<Server>, inFlight: number): Promise<CalledInTurn> => {
  const callOne = async ({ course, callsInRound, pids }: Server) => {
    const cpuSeconds = () => cpuSecondsOf(pids.flatMap((pid) => processesOf(pid)))
    const before = cpuSeconds()
    const ms = await closedPaid(course, callsInRound, inFlight)
    return { ms, cpuMs: (cpuSeconds() - before) * 1_000 }
  }
  const round = async () => {
    const spent: Array<{ readonly ms: number; readonly cpuMs: number }> = []
    for (const server of servers) spent.push(await callOne(server))
    return spent
  }
  const { results, disturbed } = await undisturbed(wanted, round, madeMax)
  const inTurn = servers.map(({ name, callsInRound }, index) => {
    const sum = (of: "ms" | "cpuMs") => results.reduce((total, spent) => total + (spent[index]?.[of] ?? 0), 0)
    const calls = callsInRound * results.length
    return { name, perSecond: (calls / sum("ms")) * 1_000, cpuMs: sum("cpuMs") / calls }
  })
  return { servers: inTurn, rounds: results.length, disturbed }
}
