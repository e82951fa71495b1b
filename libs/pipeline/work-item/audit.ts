/**
 * Audits. Every iteration ends with events of its findings and counts, passed or not. Blocking findings send the item
 * to rework while iterations are left. At the last one the item has failed its audit or, where the project wants
 * that, delegates itself once.
 */
import { findingSeverities, type WorkItemDispatch, type WorkItemFact, type WorkItemState } from "#contracts"
import { type Concern, decided, type Decision, itemEvent, refused } from "./concern.ts"
import { escalation } from "./failures.ts"
import { readyFor, standing } from "./states.ts"

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
      ...standing("AuditFailed"),
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
