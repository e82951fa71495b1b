/** What is answered about work items: the item as events tell it, and what else is to be seen of it. */
import { Schema } from "effect"
import { UsageTotal, WorkItem, Project } from "../../entities.ts"
import { Count, Ordinal, Timestamp, Uuid } from "../../primitives.ts"
import { says } from "../../speech/says.ts"
import { ReportedSuggestion } from "../work-item-reports.ts"
import { FailureKind, WorkItemKind, WorkItemPhase, WorkItemStateName } from "../work-item-state.ts"
import { page } from "./paging.ts"

const MaybeText = Schema.NullOr(Schema.String)
const MaybeTime = Schema.NullOr(Timestamp)

const item = {
  ...WorkItem.fields,
  state: WorkItemStateName.pipe(says("A new state may come; take one that you do not know as unknown.")),
  kind: WorkItemKind,
  priority: Schema.Int,
  phase: Schema.NullOr(WorkItemPhase).pipe(says("In hand, waited for, or to be taken up again.")),
  releaseId: MaybeText,
  originCheckWorkItemId: Schema.NullOr(Uuid).pipe(says("The check whose verdict queued this item.")),
  failureKind: Schema.NullOr(FailureKind),
  isReady: Schema.Boolean.pipe(says("A runner may take its phase.")),
  notBefore: MaybeTime.pipe(says("No runner takes it before."))
}

const OpenQuestion = Schema.Struct({
  questionId: Schema.String,
  questionText: Schema.String.pipe(says("Without secrets.")),
  askedAt: Timestamp
}).annotate({ identifier: "OpenQuestion" })

const Running = Schema.Struct({
  dispatchId: Schema.String,
  phase: WorkItemPhase,
  iteration: Ordinal,
  agent: Schema.String,
  agentInstanceId: MaybeText,
  runner: Schema.String,
  dispatchedAt: Timestamp,
  lastProgressAt: Timestamp
}).annotate({ identifier: "RunningPhase" })

const PullRequest = Schema.Struct({
  number: Count,
  url: Schema.String,
  mergedSha: MaybeText.pipe(says("Null while it is open."))
}).annotate({ identifier: "WorkItemPullRequest" })

/** One item, as its actor has it: right at this moment. */
export const WorkItemView = Schema.Struct({
  ...item,
  instructions: MaybeText,
  project: Project,
  running: Schema.NullOr(Running),
  openQuestions: Schema.Array(OpenQuestion),
  retryAt: MaybeTime.pipe(says("When a parked retry is due.")),
  quotaResetAt: MaybeTime,
  endedAt: MaybeTime,
  auditedIterations: Count.pipe(says("Audits of this run that have ended.")),
  recoveryAttempts: Count,
  quotaRetries: Count,
  transientRetries: Count,
  conflictReworks: Count,
  pullRequest: Schema.NullOr(PullRequest),
  commitSha: MaybeText,
  mergeSha: MaybeText,
  followupWorkItemId: Schema.NullOr(Uuid),
  usageTotal: Schema.optionalKey(UsageTotal).pipe(says("Absent while nothing is known of what it cost.")),
  sequence: Count.pipe(says("Of its last record in the log."))
}).annotate({ identifier: "WorkItemView" })
export interface WorkItemView extends Schema.Schema.Type<typeof WorkItemView> {}

export const WorkItemRow = Schema.Struct({
  ...item,
  openQuestionIds: Schema.Array(Schema.String),
  recoveryAttempts: Count,
  pullRequestUrl: MaybeText,
  costUsd: Schema.NullOr(Schema.Finite).pipe(says("Null while nothing is known of what it cost."))
}).annotate({ identifier: "WorkItemRow" })
export interface WorkItemRow extends Schema.Schema.Type<typeof WorkItemRow> {}

export const WorkItemPage = Schema.Struct(page(WorkItemRow, "Work items")).annotate({ identifier: "WorkItemPage" })
export interface WorkItemPage extends Schema.Schema.Type<typeof WorkItemPage> {}

export const SuggestionView = Schema.Struct({
  id: Schema.String,
  workItemId: Uuid,
  projectId: Schema.String,
  madeAt: Timestamp,
  ...ReportedSuggestion.fields
}).annotate({ identifier: "Suggestion" })
export interface SuggestionView extends Schema.Schema.Type<typeof SuggestionView> {}
