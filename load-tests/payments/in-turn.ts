/**
 * Servers of one chain, called as fast as it goes and in turn: whatever the chain and the machine do meanwhile, they do
 * it to all of them. The processor time is what a busy machine changes least.
 */
import { cpuSecondsOf, processesOf } from "../process-use.ts"
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

const rounds = 3

export const calledInTurn = async (
  servers: ReadonlyArray<Server>,
  inFlight: number
): Promise<ReadonlyArray<InTurn>> => {
  const spent = servers.map((server) => ({ server, ms: 0, cpuSeconds: 0 }))
  for (let round = 0; round < rounds; round++) {
    for (const one of spent) {
      const { course, callsInRound, pids } = one.server
      const cpuSeconds = () => cpuSecondsOf(pids.flatMap((pid) => processesOf(pid)))
      const before = cpuSeconds()
      one.ms += await closedPaid(course, callsInRound, inFlight)
      one.cpuSeconds += cpuSeconds() - before
    }
  }
  return spent.map(({ server, ms, cpuSeconds }) => {
    const calls = server.callsInRound * rounds
    return { name: server.name, perSecond: (calls / ms) * 1_000, cpuMs: (cpuSeconds / calls) * 1_000 }
  })
}
