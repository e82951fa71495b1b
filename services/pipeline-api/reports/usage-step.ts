/**
 * What is left of a report that its item refuses: the money is spent all the same. It is counted as the progress of
 * the same dispatch, under the report's own id, so that it is never counted twice. Pure.
 */
import { isRunnerReport, type Report } from "#contracts"
import type { CommandStep } from "./report-steps.ts"

/** Nothing for a report that tells of no cost. */
export const usageStep = (
  report: Report,
  { jitter, freshWorkItemId }: { readonly jitter: number; readonly freshWorkItemId: string }
): CommandStep | undefined => {
  if (!isRunnerReport(report) || report.kind === "recheck-completed" || report.usage === undefined) return undefined
  const { reportId, workItemId, dispatchId, usage } = report
  const progress = { kind: "progress", reportId, workItemId, dispatchId, usage } as const
  return {
    _tag: "Command",
    entity: "workitem",
    id: workItemId,
    command: { _tag: "Report", report: progress, jitter, freshWorkItemId }
  }
}
