/** A release in the API's form: from its state, or for lists from its row. Pure. */
import { isoTime, type ReleaseState } from "#contracts"
import type { ReleaseRow, ReleaseView } from "#contracts/pipeline-api"
import { maybeTime, type SeenRelease } from "./rows.ts"

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

export const releaseRow = ({
  id,
  project,
  state,
  createdAtMs,
  updatedAtMs,
  summary: release
}: SeenRelease): ReleaseRow => {
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
