/**
 * How work, rework and delegation end. A commit proceeds to audit. Work with nothing to do ends the item; work that
 * should have made a commit and made none has failed. Rework without a commit proceeds to audit unchanged, and the
 * number of audits bounds that.
 *
 * A check changes nothing: it ends with a verdict. A match requests a follow-up item, which a follower of the log
 * creates. After the follow-up's act the check runs once more, and its answer makes one event per iteration.
 *
 * Audits. Every iteration ends with events of its findings and counts, passed or not. Blocking findings send the item
 * to rework while iterations are left. At the last one the item has failed its audit or, if the project wants that,
 * delegates itself once.
 */
import { findingSeverities, type WorkItemDispatch, type WorkItemFact, type WorkItemState } from "#pipeline/contract"
import { type Concern, decided, type Decision, itemEvent, nothing, refused } from "./concern.ts"
import { movedTo } from "./merge.ts"
import { escalation, failing } from "./failures.ts"
import { readyFor, undispatched } from "./states.ts"

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
      ...undispatched("NoActionRequired"),
      phase: null,
      endedAtMs: atMs
    }),
    Completed: (_item, _fact, { atMs }) => ({ ...undispatched("Done"), phase: null, endedAtMs: atMs, lastError: null }),
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

export const audit = {
  reports: {
    "audit-ended": (item, { findings, durationMs }, { dispatch }) => {
      if (dispatch.phase !== "audit") return notAuditing(item, dispatch)
      const { failingSeverity, maxAuditIterations } = item.settings
      const rank = findingSeverities.indexOf(failingSeverity)
      const blocking = findings.filter(({ severity }) => findingSeverities.indexOf(severity) >= rank).length
      const { iteration } = dispatch
      // The maximum may have been lowered during a run.
      const totalIterations = Math.max(maxAuditIterations, iteration)
      const counts = { blocking, nonBlocking: findings.length - blocking }
      const verdict = blocking === 0 ? ("pass" as const) : ("fail" as const)
      return decided(
        { _tag: "AuditEnded", iteration, totalIterations, findings, ...counts, verdict, durationMs },
        ...consequences(item, iteration, blocking)
      )
    },
    "auditor-timed-out": (item, { auditor, agent, sandboxId }, { dispatch }) =>
      dispatch.phase === "audit"
        ? decided({ _tag: "AuditorTimedOut", iteration: dispatch.iteration, auditor, agent, sandboxId })
        : notAuditing(item, dispatch)
  },
  evolve: {
    AuditEnded: (_item, { iteration }) => ({ auditedIterations: iteration }),
    AuditorTimedOut: () => ({}),
    AuditPassed: () => readyFor("merge"),
    ReworkBegan: () => readyFor("rework"),
    AuditFailed: (_item, _fact, { atMs }) => ({
      ...undispatched("AuditFailed"),
      endedAtMs: atMs,
      lastError: "the audit did not converge within its iterations"
    })
  },
  events: {
    AuditEnded: (
      item,
      { iteration, totalIterations, findings, blocking, nonBlocking, verdict, durationMs },
      context
    ) => {
      const of = { workItemId: context.id, iteration }
      const counts = { blockingFindings: blocking, nonBlockingFindings: nonBlocking }
      return [
        itemEvent(item, context, {
          event: "audit.findings.emitted",
          details: { ...of, findings, blocking, nonBlocking }
        }),
        itemEvent(item, context, {
          event: "work_item.audit_iteration",
          details: { iteration, totalIterations, ...counts }
        }),
        itemEvent(item, context, { event: "audit.completed", details: { ...of, verdict, durationMs } })
      ]
    },
    AuditorTimedOut: (item, { iteration, auditor, agent, sandboxId }, context) => [
      itemEvent(item, context, {
        event: "audit.auditor_timed_out",
        details: {
          workItemId: context.id,
          iteration,
          auditor,
          agent,
          sandboxId: sandboxId ?? launchTimeout
        }
      })
    ],
    AuditPassed: (item, _fact, context) => [itemEvent(item, context, { event: "work_item.audit_passed" })],
    ReworkBegan: (item, _fact, context) => [itemEvent(item, context, { event: "work_item.reworking" })],
    AuditFailed: (item, _fact, context) => [itemEvent(item, context, { event: "work_item.audit_failed" })]
  }
} satisfies Concern

const notAuditing = (item: WorkItemState, { phase }: WorkItemDispatch): Decision =>
  refused(item, `no audit is under way in the phase ${phase}`)

// A sandbox that never came up has no id.
const launchTimeout = "(launch-timeout)"

const consequences = (item: WorkItemState, iteration: number, blocking: number): ReadonlyArray<WorkItemFact> => {
  const { maxAuditIterations, delegatesAtAuditMax } = item.settings
  if (blocking === 0) return [{ _tag: "AuditPassed" }]
  if (iteration < maxAuditIterations) return [{ _tag: "ReworkBegan" }]
  return delegatesAtAuditMax && !item.isAutoEscalated
    ? [escalation(item, "audit-max-iterations", `audit iterations: ${iteration}, blocking findings: ${blocking}`)]
    : [{ _tag: "AuditFailed" }]
}
