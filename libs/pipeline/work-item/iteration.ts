/**
 * How work, rework and delegation end: with a commit, which goes on to audit; or without. Work that found nothing to
 * do ends the item; work that only brought no commit has failed. Rework without a commit goes on to audit with what
 * is there, which the number of audits bounds.
 */
import type { WorkItemState } from "#contracts"
import {
  type EventsByFact,
  decided,
  type Decision,
  type Evolvers,
  type InHandDeciders,
  refused,
  silent
} from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { failing } from "./failures.ts"
import { readyFor, standing } from "./phases.ts"
import { movedTo } from "./stale-heads.ts"

export const iterationDeciders = {
  "iteration-ended": (item, { outcome, commitSha, durationMs }, dispatch): Decision => {
    const { phase, iteration } = dispatch
    if (phase !== "work" && phase !== "rework" && phase !== "delegation") {
      return refused(item, `no iteration is at work in the phase ${phase}`)
    }
    if (outcome === "committed") {
      if (item.kind === "check") return refused(item, "a check ends with a verdict, not with a commit")
      const completed = { _tag: "WorkCompleted", commitSha } as const
      return phase === "delegation"
        ? decided(completed)
        : decided({ _tag: "IterationCompleted", iteration, phase, commitSha, durationMs }, completed)
    }
    if (phase === "rework") return decided({ _tag: "WorkCompleted", commitSha: item.commitSha })
    return outcome === "no-action"
      ? decided({ _tag: "EndedWithoutAction" })
      : decided(...failing(item, "the iteration ended without a commit", "no-commit"))
  }
} satisfies Partial<InHandDeciders>

/** A commit that is new is where the work branch stands. */
const committed = (item: WorkItemState, { commitSha }: Pick<WorkItemState, "commitSha">) =>
  commitSha === null || commitSha === item.commitSha ? { commitSha } : { commitSha, ...movedTo(item, commitSha) }

export const iterationEvolvers = {
  IterationCompleted: committed,
  WorkCompleted: (item, { commitSha }) => ({ ...readyFor("audit"), ...committed(item, { commitSha }) }),
  EndedWithoutAction: (_item, _fact, { atMs }) => ({
    ...standing("NoActionRequired"),
    phase: null,
    endedAtMs: atMs
  }),
  Completed: (_item, _fact, { atMs }) => ({ ...standing("Done"), phase: null, endedAtMs: atMs, lastError: null })
} satisfies Partial<Evolvers>

export const iterationEvents = {
  IterationCompleted: (item, { _tag, ...details }, context) => [
    itemEvent(item, context, "iteration.completed", { workItemId: context.id, ...details })
  ],
  WorkCompleted: (item, _fact, context) => [itemEvent(item, context, "work_item.work_complete")],
  EndedWithoutAction: (item, _fact, context) => [itemEvent(item, context, "work_item.no_action_required")],
  Completed: (item, _fact, context) => [itemEvent(item, context, "work_item.done")],
  Created: silent,
  Retired: silent
} satisfies Partial<EventsByFact>
