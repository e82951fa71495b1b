/**
 * The deep audit of a release in review. An iteration that blocks asks for an item that mends what was found, while
 * another iteration is allowed; else it fails the release. Iterations that were counted before, and those of a review
 * that is over, come late and change nothing.
 */
import type { ReleaseCommandOf, ReleaseFact, ReleaseState } from "#contracts"
import { findItem } from "./linked-items.ts"

type Completed = ReleaseCommandOf<"CompleteAuditIteration">

export const isLateIteration = (release: ReleaseState, { auditId, iteration }: Completed): boolean => {
  const audit = release.deepAudit
  if (audit === null) return false
  if (release.state !== "in_review") return auditId === audit.auditId
  return (auditId !== null && auditId !== audit.auditId) || iteration <= audit.iteration
}

export const iterationCompleted = (release: ReleaseState, command: Completed): ReadonlyArray<ReleaseFact> => {
  const { iteration, maxIterations, blockingFindings, totalFindings, remediation } = command
  const completed = {
    _tag: "AuditIterationCompleted",
    iteration,
    maxIterations,
    blockingFindings,
    totalFindings
  } as const
  if (blockingFindings === 0) return [completed]
  if (iteration >= maxIterations) {
    return [completed, { _tag: "Failed", iteration, maxIterations, blockingFindings }]
  }
  if (remediation === null || findItem(release, remediation.workItemId) !== undefined) return [completed]
  const { project, sourceBranch: baseBranch } = release
  return [
    completed,
    {
      _tag: "RemediationDispatched",
      ...remediation,
      projectId: project.id,
      baseBranch,
      iteration,
      blockingFindings
    }
  ]
}

/** Nothing that is known blocks it. */
export const isUnblocked = ({ deepAudit }: ReleaseState): boolean => (deepAudit?.blockingFindings ?? 0) === 0
