/**
 * The conditions that keep a runner from getting work: the queue, its agent, its disks. Also which items of a held
 * agent no other agent may take. Pure.
 */
import { type ConfigurationFile, isoTime, type PickupNothing, type PickupQuestion, type QueueState } from "#contracts"
import type { AgentHold, AgentRoster } from "../Routing.ts"

export type Nothing = Pick<PickupNothing, "why" | "reason">

export const queueCondition = (queue: QueueState | undefined): Nothing | undefined =>
  queue?.pause == null ? undefined : { why: "queue-paused", reason: queue.pause.reason }

export const agentCondition = ({ hold, reason }: AgentHold): Nothing | undefined => {
  switch (hold) {
    case undefined:
      return undefined
    case "Paused":
      return { why: "agent-paused", reason }
    case "Benched":
      return { why: "agent-benched", reason }
    case "QuotaExhausted":
      return { why: "agent-benched", reason: "its quota is used up" }
  }
}

type Guard = ConfigurationFile["DiskGuard"]

/** The first of the monitored mounts that is too full to launch on. */
export const fullDisk = ({ disks }: Pick<PickupQuestion, "disks">, { MinFreeBytes }: Guard) =>
  disks.find(({ freeBytes }) => freeBytes < MinFreeBytes)

export const diskCondition = (question: Pick<PickupQuestion, "disks">, guard: Guard): Nothing | undefined => {
  const full = fullDisk(question, guard)
  const { MinFreeBytes } = guard
  return full === undefined
    ? undefined
    : { why: "disk", reason: `${full.mountPath} has ${full.freeBytes} bytes free, ${MinFreeBytes} are the least` }
}

/** The names that only this kind serves. */
export const namesOfAlone = (roster: AgentRoster, kind: string): ReadonlyArray<string> =>
  roster.namesFor(kind).filter((name) => roster.members(name).every((member) => member === kind))

export const parkReason = (kind: string, reason: string | null, atMs: number): string =>
  `${kind}, the only agent that may take it, is paused since before ${isoTime(atMs)}${reason === null ? "" : `: ${reason}`}`
