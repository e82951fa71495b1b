/**
 * What has happened to a release, as its log tells it. Followers of the log make the item that a
 * `RemediationDispatched` asks for; that an item ended is private, all else becomes an event.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, Uuid } from "../primitives.ts"
import { releaseCommands, ReleaseRemediation } from "./release-commands.ts"
import { ReleaseItem, releaseOrigin } from "./release-state.ts"
import { Branch } from "./work-item-state.ts"

const fact = Schema.TaggedStruct
const { Abandon, AddWorkItem, Close, Publish, Reopen } = releaseCommands

export const releaseFacts = {
  Created: fact("Created", releaseOrigin),
  WorkItemAdded: fact("WorkItemAdded", { workItemId: Uuid, title: AddWorkItem.fields.title }),
  /** How a linked item stands now. */
  WorkItemStood: fact("WorkItemStood", ReleaseItem.fields),
  Closed: fact("Closed", { reason: Close.fields.reason }),
  /** It is closed, and items that are linked to it failed or were cancelled. */
  FailedWorkItemsFound: fact("FailedWorkItemsFound", {}),
  DeepAuditBegan: fact("DeepAuditBegan", { auditId: Id, maxIterations: Schema.NullOr(Ordinal) }),
  AuditIterationCompleted: fact("AuditIterationCompleted", {
    iteration: Ordinal,
    maxIterations: Ordinal,
    blockingFindings: Count,
    totalFindings: Count
  }),
  /** An item of that id is to be created, of this release's project and branch; it is linked already. */
  RemediationDispatched: fact("RemediationDispatched", {
    ...ReleaseRemediation.fields,
    projectId: Id,
    baseBranch: Branch,
    iteration: Ordinal,
    blockingFindings: Count
  }),
  Published: fact("Published", {
    mergeSha: Publish.fields.mergeSha,
    forgeReleaseUrl: Publish.fields.forgeReleaseUrl
  }),
  Failed: fact("Failed", { iteration: Ordinal, maxIterations: Ordinal, blockingFindings: Count }),
  Reopened: fact("Reopened", { reason: Reopen.fields.reason }),
  Abandoned: fact("Abandoned", { reason: Abandon.fields.reason }),
  SyncConflictFound: fact("SyncConflictFound", { sourceBranch: Branch, targetBranch: Branch, notBeforeMs: EpochMs }),
  Retired: fact("Retired", {})
}

export const ReleaseFact = Schema.Union(Object.values(releaseFacts))
export type ReleaseFact = typeof ReleaseFact.Type
export type ReleaseFactTag = ReleaseFact["_tag"]
export type ReleaseFactOf<Tag extends ReleaseFactTag> = Extract<ReleaseFact, { readonly _tag: Tag }>
