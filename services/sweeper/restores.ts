/**
 * The restore sweep requeues items that an agent's absence had failed, and reports once how many. The list of items is
 * stored before the first of them is asked, so that a sweep that resumes after a crash includes those requeued before
 * it.
 */
import { Effect, Option } from "effect"
import { Views } from "#actors"
import type { BusError } from "#bus"
import { encodeToken } from "#base"
import type { FailureKind, WorkItemCommandOf } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { Checkpoints, restoreItemsMax, type Sweep } from "./sweeps.ts"
import { readAgents, readWorkItems, type SeenAgent, type SeenWorkItem } from "./seen-entities.ts"
import { CommandClient, findingsOf, isDone, type PlannedCommand, type Sent, toAgent } from "./command-client.ts"

export const restoreSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Checkpoints | Views> =
  Effect.gen(function* () {
    const { Sweeper } = yield* Configuration
    const client = yield* CommandClient
    const checkpoints = yield* Checkpoints
    const views = yield* Views

    /** The items stored for this very restore; if there are none, `seen` is stored now. */
    const itemsOf = Effect.fnUntraced(function* (restore: Restore, seen: ReadonlyArray<string>) {
      const key = restoreKey(restore)
      const stored = yield* checkpoints.read(key)
      const checkpoint = Option.getOrUndefined(stored)?.value
      if (checkpoint?._tag === "Restore" && checkpoint.restoredAtMs === restore.restoredAtMs)
        return checkpoint.workItemIds
      const workItemIds = seen.slice(0, restoreItemsMax)
      if (workItemIds.length < seen.length) yield* Effect.logWarning("more items failed in an outage than are retried")
      yield* checkpoints.set(key, stored, { _tag: "Restore", restoredAtMs: restore.restoredAtMs, workItemIds })
      return workItemIds
    })

    const sendAll = Effect.fnUntraced(function* (
      restore: Restore,
      workItemIds: ReadonlyArray<string>
    ): Effect.fn.Return<ReadonlyArray<Sent>, BusError> {
      const sent: Array<Sent> = []
      const commands = requeueCommands(workItemIds, restore)
      for (let from = 0; from < commands.length; from += Sweeper.ActionsMax) {
        sent.push(...(yield* client.send("restores", commands.slice(from, from + Sweeper.ActionsMax))))
      }
      return sent
    })

    const restoreOne = Effect.fnUntraced(function* (restore: Restore) {
      const { agent, outageStartedAtMs, restoredAtMs } = restore
      const failed = readWorkItems(views.list({ entity: "workitem", states: ["Failed"] }))
      const affected = affectedItems(failed, restore)
      const sent = yield* sendAll(restore, yield* itemsOf(restore, affected.workItemIds))
      const requeued = sent.filter(isDone).length
      const skipped = affected.skipped + sent.length - requeued
      const completed = { _tag: "CompleteRestoreSweep", outageStartedAtMs, restoredAtMs, requeued, skipped } as const
      return [...sent, ...(yield* client.send("restores", [toAgent(agent, "restored-agent", completed)]))]
    })

    const sweep = Effect.gen(function* () {
      const restores = restoresDue(readAgents(views.list({ entity: "agent" })))
      return findingsOf((yield* Effect.forEach(restores, restoreOne)).flat())
    })
    return { name: "restores", everyMs: Sweeper.RestoreSeconds * 1_000, begin: Effect.succeed(sweep) }
  })

/** An agent is back: items that its absence may have failed are to be requeued. */
interface Restore {
  /** The agent's row. */
  readonly agent: SeenAgent
  readonly outageStartedAtMs: number | null
  readonly restoredAtMs: number
}

// Failures caused by an agent's absence; the actor decides in the end.
const infraFailures: ReadonlySet<FailureKind> = new Set(["infra", "auth", "quota", "transient"])

export const restoresDue = (agents: ReadonlyArray<SeenAgent>): ReadonlyArray<Restore> =>
  agents.flatMap((agent) => (agent.summary.restore === null ? [] : [{ agent, ...agent.summary.restore }]))

interface Affected {
  /** Oldest failure first. */
  readonly workItemIds: ReadonlyArray<string>
  /** Failed with the agent while it was away, but through their own fault. */
  readonly skipped: number
}

/**
 * Items that failed with the agent while it was away, through its absence and not their own fault. None when the start
 * of the outage is unknown. Pure.
 */
export const affectedItems = (
  failed: ReadonlyArray<SeenWorkItem>,
  { agent, outageStartedAtMs, restoredAtMs }: Restore
): Affected => {
  if (outageStartedAtMs === null) return { workItemIds: [], skipped: 0 }
  const { agentKind } = agent.summary
  const endedAtMs = ({ deadlinesMs }: SeenWorkItem) => deadlinesMs["ended"] ?? 0
  const inOutage = failed
    .filter(({ summary }) => (summary.failedAgent ?? summary.agent) === agentKind)
    .filter((item) => endedAtMs(item) >= outageStartedAtMs && endedAtMs(item) <= restoredAtMs)
  const workItemIds = inOutage
    .filter(({ summary: { failureKind } }) => failureKind !== null && infraFailures.has(failureKind))
    .toSorted((left, right) => endedAtMs(left) - endedAtMs(right))
    .map(({ id }) => id)
  return { workItemIds, skipped: inOutage.length - workItemIds.length }
}

/** The command's id derives from the restore: retried after a crash, an item is not requeued a second time. */
export const requeueCommands = (
  workItemIds: ReadonlyArray<string>,
  { agent, outageStartedAtMs, restoredAtMs }: Restore
): ReadonlyArray<PlannedCommand> => {
  const command: WorkItemCommandOf<"AgentRestoreRequeue"> = {
    _tag: "AgentRestoreRequeue",
    restoredAgent: agent.summary.agentKind,
    outageStartedAtMs,
    restoredAtMs
  }
  return workItemIds.map((id) => ({
    entity: "workitem",
    id,
    commandId: `sweep.restore.${restoredAtMs}`,
    command,
    finding: "restored-item"
  }))
}

/** The key of the checkpoint that lists the items of a restore. */
const restoreKey = ({ agent }: Restore): string => `restore.${encodeToken(agent.id)}`
