/**
 * One reading of the views for pickup: ready items by the agent that they name, in dispatch order; the number in flight
 * of each project; the agents that items are parked for; the paused projects. It is a moment behind the actors, who
 * decide. Pure.
 *
 * The conditions that keep a runner from getting work: the queue, its agent, its disks. Also which items of a held
 * agent no other agent can take. Pure.
 */
import type { ViewRow } from "#actors"
import type { ConfigurationFile } from "#configuration"
import { isoTime } from "#base"
import type { PickupNothing, PickupQuestion, QueueState, WorkItemPhase, WorkItemSummary } from "#pipeline/contract"
import type { AgentHold, AgentRoster } from "../Routing.ts"

export interface ReadyItem {
  readonly id: string
  readonly projectId: string
  /** The kind or class that the item names, or the kind that its phase was moved to. */
  readonly name: string
  readonly phase: WorkItemPhase
  readonly priority: number
  readonly createdAtMs: number
  readonly notBeforeMs: number
  readonly sequence: number
}

interface InHandItem {
  readonly id: string
  readonly projectId: string
  readonly agent: string
  readonly dispatchId: string
  readonly sequence: number
}

export interface ReadyLook {
  readonly ready: ReadonlyMap<string, ReadonlyArray<ReadyItem>>
  readonly inHand: ReadonlyArray<InHandItem>
  /** Kinds and classes whose items wait until an agent is resumed. */
  readonly parkedFor: ReadonlySet<string>
  readonly pausedProjects: ReadonlySet<string>
}

export const emptyLook: ReadyLook = { ready: new Map(), inHand: [], parkedFor: new Set(), pausedProjects: new Set() }

/** The relevant fields of an item that has not ended. */
export type MovingRow = Pick<ViewRow, "id" | "project" | "state" | "createdAtMs" | "sequence"> & {
  readonly summary: Pick<
    WorkItemSummary,
    "agent" | "assignedAgent" | "agentAtWork" | "dispatchId" | "isReady" | "phase" | "priority" | "notBeforeMs"
  >
}

/** Higher priority first, then the older. */
export const byPriority = (left: ReadyItem, right: ReadyItem): number =>
  right.priority - left.priority || left.createdAtMs - right.createdAtMs || (left.id < right.id ? -1 : 1)

/** The item's place: ready, in flight or parked, or none. */
interface QueueEntry {
  readonly ready?: ReadyItem
  readonly inHand?: InHandItem
  readonly parkedFor?: string
}

// Rows do not change, and most were seen at the last reading.
const places = new WeakMap<MovingRow, QueueEntry>()

const placeOf = (row: MovingRow): QueueEntry => {
  const known = places.get(row)
  if (known !== undefined) return known
  const place = placeNew(row)
  places.set(row, place)
  return place
}

const placeNew = ({ id, project, state, sequence, createdAtMs, summary: item }: MovingRow): QueueEntry => {
  if (state === "WaitingForAgentResume") return { parkedFor: item.assignedAgent ?? item.agent }
  const of = { id, projectId: project ?? "", sequence }
  if (item.dispatchId !== null) {
    return { inHand: { ...of, agent: item.agentAtWork ?? item.agent, dispatchId: item.dispatchId } }
  }
  if (!item.isReady || item.phase === null) return {}
  const { phase, priority } = item
  const name = item.assignedAgent ?? item.agent
  return { ready: { ...of, name, phase, priority, createdAtMs, notBeforeMs: item.notBeforeMs ?? 0 } }
}

export const lookOf = (
  items: ReadonlyArray<MovingRow>,
  projects: ReadonlyArray<Pick<ViewRow, "id" | "state">>
): ReadyLook => {
  const ready = new Map<string, Array<ReadyItem>>()
  const inHand: Array<InHandItem> = []
  const parkedFor = new Set<string>()
  for (const row of items) {
    const place = placeOf(row)
    if (place.inHand !== undefined) inHand.push(place.inHand)
    if (place.parkedFor !== undefined) parkedFor.add(place.parkedFor)
    if (place.ready === undefined) continue
    const named = ready.get(place.ready.name)
    if (named === undefined) ready.set(place.ready.name, [place.ready])
    else named.push(place.ready)
  }
  for (const named of ready.values()) named.sort(byPriority)
  const paused = projects.filter(({ state }) => state === "Paused").map(({ id }) => id)
  return { ready, inHand, parkedFor, pausedProjects: new Set(paused) }
}

export type NoWork = Pick<PickupNothing, "why" | "reason">

export const queueCondition = (queue: QueueState | undefined): NoWork | undefined =>
  queue?.pause == null ? undefined : { why: "queue-paused", reason: queue.pause.reason }

export const agentCondition = ({ hold, reason }: AgentHold): NoWork | undefined => {
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

export const diskCondition = (question: Pick<PickupQuestion, "disks">, guard: Guard): NoWork | undefined => {
  const full = fullDisk(question, guard)
  const { MinFreeBytes } = guard
  return full === undefined
    ? undefined
    : { why: "disk", reason: `${full.mountPath} has ${full.freeBytes} bytes free, ${MinFreeBytes} are the least` }
}

/** The names that only this kind serves. */
export const namesOnlyOf = (roster: AgentRoster, kind: string): ReadonlyArray<string> =>
  roster.namesFor(kind).filter((name) => roster.members(name).every((member) => member === kind))

export const parkReason = (kind: string, reason: string | null, atMs: number): string =>
  `${kind}, the only agent that may take it, is paused since before ${isoTime(atMs)}${reason === null ? "" : `: ${reason}`}`
