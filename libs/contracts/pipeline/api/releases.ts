/** Releases, as callers send and see them. */
import { Schema } from "effect"
import { releaseStates } from "../../events/entities.ts"
import { Count, Id, describe, text, Timestamp, Uuid } from "../../primitives.ts"
import { BranchName, isNotBlank, mayBeLeftOut, page, pageQuery } from "./parts.ts"
import { releaseItemOutcomes, releaseNameCharactersMax, releaseReasonCharactersMax } from "../release.ts"

const ReleaseName = Schema.String.check(Schema.isBetweenLength(1, releaseNameCharactersMax), isNotBlank)

export const CreateReleaseRequest = Schema.Struct({
  name: ReleaseName.pipe(describe("What people call it.")),
  projectId: Id.pipe(describe("A project that exists.")),
  sourceBranch: mayBeLeftOut(BranchName).pipe(
    describe("Where its items start and are merged; `release/<short id>` without it.")
  ),
  targetBranch: mayBeLeftOut(BranchName).pipe(
    describe("What it is merged to when it is published; the configured base branch without it.")
  ),
  description: mayBeLeftOut(text(2_000)).pipe(describe("What is in it, for people."))
}).annotate({ identifier: "CreateReleaseRequest" })
export interface CreateReleaseRequest extends Schema.Schema.Type<typeof CreateReleaseRequest> {}

/** Body of close, abandon and reopen; it may be left out. */
export const ReleaseChangeRequest = Schema.Struct({
  reason: mayBeLeftOut(text(releaseReasonCharactersMax)).pipe(describe("Why; kept with the release."))
}).annotate({ identifier: "ReleaseChangeRequest" })
export interface ReleaseChangeRequest extends Schema.Schema.Type<typeof ReleaseChangeRequest> {}

export const ReleasesQuery = Schema.Struct({
  ...pageQuery,
  project: Schema.optionalKey(Id).pipe(describe("Releases of this project.")),
  state: Schema.optionalKey(Schema.Literals(releaseStates)).pipe(describe("Releases in this state."))
})
export interface ReleasesQuery extends Schema.Schema.Type<typeof ReleasesQuery> {}

const LinkedWorkItem = Schema.Struct({
  workItemId: Uuid,
  outcome: Schema.Literals(releaseItemOutcomes).pipe(describe("`open`: it has not ended."))
}).annotate({ identifier: "ReleaseWorkItem" })

const DeepAuditView = Schema.Struct({
  auditId: Schema.String,
  iteration: Count.pipe(describe("The last that ended; 0 before the first.")),
  maxIterations: Schema.NullOr(Count),
  blockingFindings: Count,
  totalFindings: Count
}).annotate({ identifier: "ReleaseDeepAuditView" })

const release = {
  id: Uuid,
  name: Schema.String,
  projectId: Schema.String,
  state: Schema.Literals(releaseStates),
  sourceBranch: Schema.String,
  targetBranch: Schema.String,
  createdAt: Timestamp,
  updatedAt: Timestamp
}

export const ReleaseView = Schema.Struct({
  ...release,
  description: Schema.NullOr(Schema.String),
  endedAt: Schema.NullOr(Timestamp).pipe(describe("Null before it is published, failed or abandoned.")),
  workItems: Schema.Array(LinkedWorkItem).pipe(describe("The items linked to it.")),
  deepAudit: Schema.NullOr(DeepAuditView).pipe(describe("Of the present review or the last; null before the first.")),
  mergeSha: Schema.NullOr(Schema.String),
  forgeReleaseUrl: Schema.NullOr(Schema.String),
  sequence: Count.pipe(describe("Of its last record in the log."))
}).annotate({ identifier: "ReleaseView" })
export interface ReleaseView extends Schema.Schema.Type<typeof ReleaseView> {}

export const ReleaseRow = Schema.Struct({
  ...release,
  workItemCount: Count,
  openCount: Count.pipe(describe("Items that have not ended.")),
  doneCount: Count,
  failedCount: Count,
  cancelledCount: Count
}).annotate({ identifier: "ReleaseRow" })
export interface ReleaseRow extends Schema.Schema.Type<typeof ReleaseRow> {}

export const ReleasePage = Schema.Struct(page(ReleaseRow, "Releases")).annotate({ identifier: "ReleasePage" })
export interface ReleasePage extends Schema.Schema.Type<typeof ReleasePage> {}
