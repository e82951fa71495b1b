/**
 * What is reported of releases, by the services that audit, merge and sync them, and of a project's pull requests,
 * by those that watch the forge.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, Uuid } from "../primitives.ts"
import { type ReportDeclaration, reportOf } from "./report-head.ts"
import { ReleaseRemediation } from "./release-commands.ts"
import { Branch } from "./work-item-state.ts"

const Sha = Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{7,64}$/u))
const Url = Schema.String.check(Schema.isPattern(/^https?:\/\/[^\s]{1,992}$/u))
const release = { releaseId: Uuid }

// The item's id is pipeline-api's to choose.
const { title, instructions, agent } = ReleaseRemediation.fields

// More iterations than this converge on nothing.
const Iteration = Ordinal.check(Schema.isLessThanOrEqualTo(1_000))

const releaseReportSchemas = {
  deepAuditBegun: reportOf("release-deep-audit-begun", {
    ...release,
    auditId: Id,
    maxIterations: Schema.NullOr(Iteration)
  }),
  /**
   * Without blocking findings the audit passed; with some in the last iteration the release fails. `remediation`:
   * the item that is to mend what blocks; null: none is wanted.
   */
  deepAuditIterationEnded: reportOf("release-deep-audit-iteration-ended", {
    ...release,
    /** Null: the audit that runs. */
    auditId: Schema.NullOr(Id),
    iteration: Iteration,
    maxIterations: Iteration,
    blockingFindings: Count,
    totalFindings: Count,
    remediation: Schema.NullOr(Schema.Struct({ title, instructions, agent }))
  }),
  /** It was merged to its target branch. The forge release's address is null where none is configured. */
  published: reportOf("release-published", {
    ...release,
    mergeSha: Schema.NullOr(Sha),
    forgeReleaseUrl: Schema.NullOr(Url)
  }),
  syncConflict: reportOf("release-sync-conflict", { ...release, sourceBranch: Branch, targetBranch: Branch }),
  /** `workItemId`: whose work branch it is; null where nobody knows. */
  mergeability: reportOf("pull-request-mergeability", {
    projectId: Id,
    workItemId: Schema.NullOr(Uuid),
    pullRequestNumber: Ordinal,
    pullRequestUrl: Url,
    headBranch: Branch,
    headSha: Sha,
    baseBranch: Branch,
    mergeability: Schema.Literals(["stale-base", "mergeable", "closed", "merged"]),
    firstDetectedAtMs: EpochMs
  })
}

const declare = <S extends ReportDeclaration["schema"], About extends ReportDeclaration["about"]>(
  why: string,
  about: About,
  schema: S
) => ({ why, about, schema }) satisfies ReportDeclaration

const of = releaseReportSchemas

export const releaseReports = {
  "release-deep-audit-begun": declare("the deep audit of a release began", "release", of.deepAuditBegun),
  "release-deep-audit-iteration-ended": declare(
    "an iteration of the deep audit ended",
    "release",
    of.deepAuditIterationEnded
  ),
  "release-published": declare("a release was merged to main", "release", of.published),
  "release-sync-conflict": declare("a release branch cannot be synced without a hand", "release", of.syncConflict),
  "pull-request-mergeability": declare(
    "the forge was asked whether a pull request of ours can be merged",
    "project",
    of.mergeability
  )
} as const
