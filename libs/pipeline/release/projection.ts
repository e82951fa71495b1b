/** A release as lists and sweeps see it. */
import { Schema } from "effect"
import type { Projection } from "#actors/definition"
import { type ReleaseDeadline, ReleaseState, type ReleaseSummary } from "#contracts"
import { countsOf } from "./linked-items.ts"
import { releaseTransitions } from "./transitions.ts"

export const releaseProjection: Projection<ReleaseState | null> = {
  entity: "release",
  state: Schema.NullOr(ReleaseState),
  show: (release) =>
    release === null
      ? undefined
      : {
          project: release.project.id,
          state: release.state,
          createdAtMs: release.createdAtMs,
          updatedAtMs: release.updatedAtMs,
          deadlinesMs: deadlinesOf(release),
          summary: { ...summaryOf(release) }
        }
}

// A failed release may be opened again, and stays.
const deadlinesOf = ({ state, endedAtMs }: ReleaseState): Readonly<Partial<Record<ReleaseDeadline, number>>> =>
  endedAtMs !== null && releaseTransitions[state].Retire !== undefined ? { ended: endedAtMs } : {}

const summaryOf = (release: ReleaseState): ReleaseSummary => ({
  name: release.name,
  description: release.description,
  sourceBranch: release.sourceBranch,
  targetBranch: release.targetBranch,
  ...countsOf(release),
  auditId: release.deepAudit?.auditId ?? null,
  auditIteration: release.deepAudit?.iteration ?? 0,
  auditMaxIterations: release.deepAudit?.maxIterations ?? null,
  blockingFindings: release.deepAudit?.blockingFindings ?? 0,
  mergeSha: release.mergeSha,
  forgeReleaseUrl: release.forgeReleaseUrl
})
