/**
 * How work, rework and delegation end. A commit goes on to audit. Work with nothing to do ends the item; work that
 * should have made a commit and made none has failed. Rework without a commit goes on to audit as it is, and the number
 * of audits bounds that.
 *
 * A check changes nothing: it ends with a verdict. A match asks for a follow-up item, which a follower of the log
 * creates. After the follow-up's act the check runs once more, and its answer makes one event per iteration.
 */
import type { WorkItemState } from "#contracts"
import { type Concern, decided, type Decision, itemEvent, nothing, refused } from "./concern.ts"
import { movedTo } from "./conflicts.ts"
import { failing } from "./failures.ts"
import { readyFor, standing } from "./states.ts"

export const work = {
  reports: {
    "iteration-ended": (item, { outcome, commitSha, durationMs }, { dispatch }): Decision => {
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
    },
    "check-verdict": (item, { isMatched, answer, followUp }, { dispatch: { phase }, freshWorkItemId }) => {
      if (item.kind !== "check") return refused(item, "it is not a check")
      if (phase !== "work" && phase !== "delegation") {
        return refused(item, `a check has no verdict in the phase ${phase}`)
      }
      if (!isMatched) return decided({ _tag: "EndedWithoutAction" })
      const { title, instructions } = followUp ?? item
      const asked = { followupWorkItemId: freshWorkItemId, title, instructions, answer }
      return decided({ _tag: "FollowUpAsked", ...asked }, { _tag: "Completed" })
    }
  },
  asides: {
    "recheck-completed": (item, { iteration, answer, actionableAnswer }) => {
      const { originCheckWorkItemId } = item
      if (originCheckWorkItemId === null) return refused(item, "it follows from no check")
      if (iteration <= item.recheckedIteration) return nothing
      return decided({ _tag: "RecheckCompleted", iteration, answer, actionableAnswer, originCheckWorkItemId })
    }
  },
  evolve: {
    IterationCompleted: (item, fact) => committed(item, fact),
    WorkCompleted: (item, { commitSha }) => ({ ...readyFor("audit"), ...committed(item, { commitSha }) }),
    EndedWithoutAction: (_item, _fact, { atMs }) => ({
      ...standing("NoActionRequired"),
      phase: null,
      endedAtMs: atMs
    }),
    Completed: (_item, _fact, { atMs }) => ({ ...standing("Done"), phase: null, endedAtMs: atMs, lastError: null }),
    FollowUpAsked: (_item, { followupWorkItemId }) => ({ followupWorkItemId }),
    RecheckCompleted: (_item, { iteration }) => ({ recheckedIteration: iteration })
  },
  events: {
    IterationCompleted: (item, { _tag, ...details }, context) => [
      itemEvent(item, context, { event: "iteration.completed", details: { workItemId: context.id, ...details } })
    ],
    WorkCompleted: (item, _fact, context) => [itemEvent(item, context, { event: "work_item.work_complete" })],
    EndedWithoutAction: (item, _fact, context) => [itemEvent(item, context, { event: "work_item.no_action_required" })],
    Completed: (item, _fact, context) => [itemEvent(item, context, { event: "work_item.done" })],
    FollowUpAsked: (item, { followupWorkItemId }, context) => [
      itemEvent(item, context, {
        event: "work_item.check_followup_enqueued",
        details: {
          originCheckWorkItemId: context.id,
          followupWorkItemId
        }
      })
    ],
    RecheckCompleted: (item, { _tag, ...details }, context) => [
      itemEvent(item, context, { event: "work_item.post_act_recheck_completed", details })
    ]
  }
} satisfies Concern

/** A new commit becomes the head of the work branch. */
const committed = (item: WorkItemState, { commitSha }: Pick<WorkItemState, "commitSha">) =>
  commitSha === null || commitSha === item.commitSha ? { commitSha } : { commitSha, ...movedTo(item, commitSha) }
