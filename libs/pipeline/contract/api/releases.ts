/** Releases, as callers send and see them, and their routes. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Count, describe, Id, isName, pageQuery, releaseStates, text, Timestamp, Uuid } from "#base"
import { guarded } from "#base/http"
import { releaseItemOutcomes, releaseNameCharactersMax, releaseReasonCharactersMax } from "../release.ts"
import { BranchName, mayBeLeftOut, page, pipelineEndpoints } from "./parts.ts"

const ReleaseName = Schema.String.check(Schema.isBetweenLength(1, releaseNameCharactersMax), isName)

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

/** Body of close, abandon and reopen; optional. */
export const ReleaseChangeRequest = Schema.Struct({
  reason: mayBeLeftOut(text(releaseReasonCharactersMax)).pipe(describe("Why; kept with the release."))
}).annotate({ identifier: "ReleaseChangeRequest" })
export interface ReleaseChangeRequest extends Schema.Schema.Type<typeof ReleaseChangeRequest> {}

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

const ReleasePage = Schema.Struct(page(ReleaseRow, "Releases")).annotate({ identifier: "ReleasePage" })

/** An operator's change of a release, with an optional reason. */
const releaseChange = <const Name extends string, const Path extends `/${string}`>(
  name: Name,
  path: Path,
  words: { readonly summary: string; readonly description: string }
) =>
  act(name, path, {
    payload: [HttpApiSchema.NoContent, ReleaseChangeRequest],
    success: ReleaseView,
    ...words,
    scope: "pipeline:write",
    example: { reason: "all is in" }
  })

const { read, act } = pipelineEndpoints("release_not_found")

export const ReleasesGroup = guarded(
  "releases",
  act("createRelease", "/releases", {
    payload: CreateReleaseRequest,
    success: ReleaseView.pipe(HttpApiSchema.status(201)),
    refused: ["idempotency_conflict"],
    scope: "pipeline:write",
    summary: "Create a release",
    description: "Items that name it start at its branch. With `Idempotency-Key` it is created once.",
    example: { name: "Spring", projectId: "gates" }
  }),
  read("listReleases", "/releases", {
    query: {
      ...pageQuery,
      project: Schema.optionalKey(Id).pipe(describe("Releases of this project.")),
      state: Schema.optionalKey(Schema.Literals(releaseStates)).pipe(describe("Releases in this state."))
    },
    success: ReleasePage,
    summary: "List releases",
    description: "Oldest first, with how many of their items stand how."
  }),
  read("getRelease", "/releases/:id", {
    success: ReleaseView,
    summary: "Fetch a release",
    description: "With the items that are linked to it."
  }),
  releaseChange("closeRelease", "/releases/:id/close", {
    summary: "Close a release",
    description: "It takes no more items, and may be reviewed."
  }),
  releaseChange("abandonRelease", "/releases/:id/abandon", {
    summary: "Abandon a release",
    description: "Only while it is open; for good."
  }),
  releaseChange("reopenRelease", "/releases/:id/reopen", {
    summary: "Reopen a release",
    description: "One whose review failed."
  })
)
