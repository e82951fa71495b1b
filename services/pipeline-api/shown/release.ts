/** A release as the API shows it: from its state, or for lists from its row. Pure. */
import type { ViewRow } from "#actor"
import { isoTime, type ReleaseRow, type ReleaseState, type ReleaseSummary, type ReleaseView } from "#contracts"
import { maybeTime } from "./values.ts"

export const releaseView = (id: string, release: ReleaseState, sequence: number): ReleaseView => ({
  id,
  name: release.name,
  projectId: release.project.id,
  state: release.state,
  sourceBranch: release.sourceBranch,
  targetBranch: release.targetBranch,
  createdAt: isoTime(release.createdAtMs),
  updatedAt: isoTime(release.updatedAtMs),
  description: release.description,
  endedAt: maybeTime(release.endedAtMs),
  workItems: release.items,
  deepAudit: release.deepAudit,
  mergeSha: release.mergeSha,
  forgeReleaseUrl: release.forgeReleaseUrl,
  sequence
})

export const releaseRow = ({ id, project, state, createdAtMs, updatedAtMs, summary }: ViewRow): ReleaseRow => {
  // The row is made by this role's own viewer.
  const release = summary as unknown as ReleaseSummary
  return {
    id,
    name: release.name,
    projectId: project ?? "",
    state: state as ReleaseRow["state"],
    sourceBranch: release.sourceBranch,
    targetBranch: release.targetBranch,
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
    workItemCount: release.workItemCount,
    openCount: release.openCount,
    doneCount: release.doneCount,
    failedCount: release.failedCount,
    cancelledCount: release.cancelledCount
  }
}
