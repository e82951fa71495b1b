/**
 * The restore sweep: queues the items again that an agent's absence had failed, and reports once how many. Which items
 * those are is written down before the first of them is asked, so that a sweep that goes on after a crash counts what
 * was queued before it.
 */
import { Effect, Option } from "effect"
import { Views } from "#actors"
import type { BusError } from "#bus"
import { Configuration } from "#runtime"
import { Commander, findingsOf, isDone, type Sent } from "../Commander.ts"
import { Marks, restoreItemsMax } from "../Marks.ts"
import { toAgent } from "../planned-command.ts"
import type { Sweep } from "../sweep.ts"
import { readAgents, readWorkItems } from "../view-summaries.ts"
import { affectedItems, requeueCommands, type Restore, restoreKey, restoresDue } from "./restore-policy.ts"

export const restoreSweep: Effect.Effect<Sweep, never, Commander | Configuration | Marks | Views> = Effect.gen(
  function* () {
    const { Sweeper } = yield* Configuration
    const commander = yield* Commander
    const marks = yield* Marks
    const views = yield* Views

    /** The items as they were written down for this very restore, or now. */
    const itemsOf = Effect.fnUntraced(function* (restore: Restore, seen: ReadonlyArray<string>) {
      const key = restoreKey(restore)
      const held = yield* marks.read(key)
      const mark = Option.getOrUndefined(held.mark)
      if (mark?._tag === "Restore" && mark.restoredAtMs === restore.restoredAtMs) return mark.workItemIds
      const workItemIds = seen.slice(0, restoreItemsMax)
      if (workItemIds.length < seen.length) yield* Effect.logWarning("more items failed in an outage than are retried")
      yield* marks.set(key, held, { _tag: "Restore", restoredAtMs: restore.restoredAtMs, workItemIds })
      return workItemIds
    })

    const sendAll = Effect.fnUntraced(function* (
      restore: Restore,
      workItemIds: ReadonlyArray<string>
    ): Effect.fn.Return<ReadonlyArray<Sent>, BusError> {
      const sent: Array<Sent> = []
      const commands = requeueCommands(workItemIds, restore)
      for (let from = 0; from < commands.length; from += Sweeper.ActionsMax) {
        sent.push(...(yield* commander.send("restores", commands.slice(from, from + Sweeper.ActionsMax))))
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
      return [...sent, ...(yield* commander.send("restores", [toAgent(agent, "restored-agent", completed)]))]
    })

    const sweep = Effect.gen(function* () {
      const restores = restoresDue(readAgents(views.list({ entity: "agent" })))
      return findingsOf((yield* Effect.forEach(restores, restoreOne)).flat())
    })
    return { name: "restores", everyMs: Sweeper.RestoreSeconds * 1_000, begin: Effect.succeed(sweep) }
  }
)
