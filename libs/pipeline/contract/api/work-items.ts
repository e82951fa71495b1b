/**
 * Work items, as callers send and see them, and their routes: requests, the item as visible to callers, its history,
 * its suggestions. Field names are those of the events. Lengths are UTF-16 units.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import {
  cancelReasonCharactersMax,
  Count,
  describe,
  Id,
  Ordinal,
  pageQuery,
  pageSizeMax,
  Project,
  QuestionId,
  ResolutionSha,
  text,
  Timestamp,
  UsageTotal,
  Uuid,
  WorkItem
} from "#base"
import { guarded } from "#base/http"
import { answerCharactersMax } from "../work-item/commands.ts"
import { ReportedSuggestion } from "../work-item/reports.ts"
import {
  AgentName,
  FailureKind,
  instructionsCharactersMax,
  titleCharactersMax,
  WorkItemKind,
  WorkItemPhase,
  WorkItemStateName
} from "../work-item/state.ts"
import { BranchName, BranchPrefix, isNotBlank, mayBeLeftOut, page, pipelineEndpoints } from "./parts.ts"

const noteCharactersMax = 2_000
export const priorityDefault = 5

export const CreateWorkItemRequest = Schema.Struct({
  title: Schema.String.check(Schema.isBetweenLength(1, titleCharactersMax), isNotBlank).pipe(
    describe("What is to be done, in a line.")
  ),
  instructions: mayBeLeftOut(text(instructionsCharactersMax)).pipe(
    describe("What the agent is told beyond the title.")
  ),
  projectId: Id.pipe(describe("A project that exists.")),
  agent: mayBeLeftOut(AgentName).pipe(describe("An agent kind, or a class of agents; the configured one without it.")),
  baseBranch: mayBeLeftOut(BranchName).pipe(
    describe("The branch it starts from; its release's, else the configured one without it.")
  ),
  workBranchPrefix: mayBeLeftOut(BranchPrefix).pipe(
    describe("The work branch is `<prefix>/<short id>`; the configured prefix without it.")
  ),
  externalId: mayBeLeftOut(Id).pipe(describe("Your own id of it, told with every event.")),
  releaseId: mayBeLeftOut(Uuid).pipe(describe("An open release of the same project to link it to.")),
  kind: mayBeLeftOut(Schema.Literals(["act", "check"])).pipe(
    describe("`act` changes code; `check` ends with a verdict, which may queue a follow-up. `act` without it.")
  ),
  priority: mayBeLeftOut(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))).pipe(
    describe(`Higher goes first, among equals the older; ${priorityDefault} without it.`)
  )
}).annotate({ identifier: "CreateWorkItemRequest" })
export interface CreateWorkItemRequest extends Schema.Schema.Type<typeof CreateWorkItemRequest> {}

export const AnswerQuestionRequest = Schema.Struct({
  questionId: QuestionId.pipe(describe("A question of the item that is open.")),
  answer: Schema.String.check(Schema.isBetweenLength(1, answerCharactersMax), isNotBlank).pipe(
    describe("Given to the agent as it is; secrets are removed from what is told and kept of it.")
  )
}).annotate({ identifier: "AnswerQuestionRequest" })
export interface AnswerQuestionRequest extends Schema.Schema.Type<typeof AnswerQuestionRequest> {}

const DismissQuestionRequest = Schema.Struct({
  questionId: QuestionId.pipe(describe("A question of the item that is open.")),
  reason: mayBeLeftOut(text(answerCharactersMax)).pipe(
    describe("Given to the agent as it is; secrets are removed from what is told and kept of it.")
  )
}).annotate({ identifier: "DismissQuestionRequest" })

const cancelReason = text(cancelReasonCharactersMax)
const whyCancelled = describe("Why it is cancelled; told with the event.")
const whichCommit = describe("The commit that made it needless, 7 to 40 hex digits.")

/** Query parameters that apply where the body omits the field. */
const CancelWorkItemQuery = Schema.Struct({
  reason: Schema.optionalKey(cancelReason).pipe(whyCancelled),
  resolutionSha: Schema.optionalKey(ResolutionSha).pipe(whichCommit)
})

/** The body of a cancel request; optional. */
export const CancelWorkItemRequest = Schema.Struct({
  reason: mayBeLeftOut(cancelReason).pipe(whyCancelled),
  resolutionSha: mayBeLeftOut(ResolutionSha).pipe(whichCommit)
}).annotate({ identifier: "CancelWorkItemRequest" })
export interface CancelWorkItemRequest extends Schema.Schema.Type<typeof CancelWorkItemRequest> {}

export const DelegateWorkItemRequest = Schema.Struct({
  reason: Schema.String.check(Schema.isBetweenLength(1, noteCharactersMax), isNotBlank).pipe(
    describe("Why it goes to delegation; told with the event.")
  ),
  note: mayBeLeftOut(text(noteCharactersMax)).pipe(describe("For whoever takes it up."))
}).annotate({ identifier: "DelegateWorkItemRequest" })
export interface DelegateWorkItemRequest extends Schema.Schema.Type<typeof DelegateWorkItemRequest> {}

export const WorkItemsQuery = Schema.Struct({
  ...pageQuery,
  project: Schema.optionalKey(Id).pipe(describe("Items of this project.")),
  state: Schema.optionalKey(WorkItemStateName).pipe(describe("Items in this state.")),
  release: Schema.optionalKey(Uuid).pipe(describe("Items linked to this release.")),
  externalId: Schema.optionalKey(Id).pipe(describe("Items of this id of yours.")),
  kind: Schema.optionalKey(WorkItemKind)
})
export interface WorkItemsQuery extends Schema.Schema.Type<typeof WorkItemsQuery> {}

const MaybeText = Schema.NullOr(Schema.String)
const MaybeTime = Schema.NullOr(Timestamp)

const item = {
  ...WorkItem.fields,
  state: WorkItemStateName.pipe(describe("A new state may come; take one that you do not know as unknown.")),
  kind: WorkItemKind,
  priority: Schema.Int,
  phase: Schema.NullOr(WorkItemPhase).pipe(describe("In hand, waited for, or to be taken up again.")),
  releaseId: MaybeText,
  originCheckWorkItemId: Schema.NullOr(Uuid).pipe(describe("The check whose verdict queued this item.")),
  failureKind: Schema.NullOr(FailureKind),
  isReady: Schema.Boolean.pipe(describe("A runner may take its phase.")),
  notBefore: MaybeTime.pipe(describe("No runner takes it before."))
}

const OpenQuestion = Schema.Struct({
  questionId: Schema.String,
  questionText: Schema.String.pipe(describe("Without secrets.")),
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
  mergedSha: MaybeText.pipe(describe("Null while it is open."))
}).annotate({ identifier: "WorkItemPullRequest" })

/** One item from its actor, current at this moment. */
export const WorkItemView = Schema.Struct({
  ...item,
  instructions: MaybeText,
  project: Project,
  running: Schema.NullOr(Running),
  openQuestions: Schema.Array(OpenQuestion),
  retryAt: MaybeTime.pipe(describe("When a parked retry is due.")),
  quotaResetAt: MaybeTime,
  endedAt: MaybeTime,
  auditedIterations: Count.pipe(describe("Audits of this run that have ended.")),
  recoveryAttempts: Count,
  quotaRetries: Count,
  transientRetries: Count,
  conflictReworks: Count,
  pullRequest: Schema.NullOr(PullRequest),
  commitSha: MaybeText,
  mergeSha: MaybeText,
  followupWorkItemId: Schema.NullOr(Uuid),
  usageTotal: Schema.optionalKey(UsageTotal).pipe(describe("Absent while nothing is known of what it cost.")),
  sequence: Count.pipe(describe("Of its last record in the log."))
}).annotate({ identifier: "WorkItemView" })
export interface WorkItemView extends Schema.Schema.Type<typeof WorkItemView> {}

export const WorkItemRow = Schema.Struct({
  ...item,
  openQuestionIds: Schema.Array(Schema.String),
  recoveryAttempts: Count,
  pullRequestUrl: MaybeText,
  costUsd: Schema.NullOr(Schema.Finite).pipe(describe("Null while nothing is known of what it cost."))
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

/** One record of the item's log: facts without secrets, and the events made from them. */
export const HistoryRecord = Schema.Struct({
  sequence: Count.pipe(describe("Of the record in the log.")),
  at: Timestamp,
  facts: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    describe("What was decided, in order. `fact` names each; a new one may come.")
  ),
  events: Schema.Array(Schema.String).pipe(describe("Names of the events that were told of it."))
}).annotate({ identifier: "HistoryRecord" })
export interface HistoryRecord extends Schema.Schema.Type<typeof HistoryRecord> {}

const HistoryPage = Schema.Struct({
  items: Schema.Array(HistoryRecord).check(Schema.isMaxLength(pageSizeMax)).pipe(describe("Oldest first.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page."))
}).annotate({ identifier: "HistoryPage" })

const { read, act, remove } = pipelineEndpoints("work_item_not_found")
const ofSuggestion = pipelineEndpoints("suggestion_not_found")

export const WorkItemsGroup = guarded(
  "work items",
  act("createWorkItem", "/workitems", {
    payload: CreateWorkItemRequest,
    success: WorkItemView.pipe(HttpApiSchema.status(201)),
    refused: ["idempotency_conflict"],
    scope: "pipeline:write",
    summary: "Create a work item",
    description:
      "It is queued for the first runner of its agent. With `releaseId` it is linked to that release, which must be open " +
      "and of the same project. With `Idempotency-Key` it is created once, however often it is asked for.",
    example: { title: "Oil the gate", projectId: "gates", agent: "coder" }
  }),
  read("listWorkItems", "/workitems", {
    query: WorkItemsQuery.fields,
    success: WorkItemPage,
    summary: "List work items",
    description: "Oldest first. A list is a moment behind, and says by how much; an item itself is always right."
  }),
  read("getWorkItem", "/workitems/:id", {
    success: WorkItemView,
    summary: "Fetch a work item",
    description: "As it stands at this moment."
  }),
  read("getWorkItemHistory", "/workitems/:id/history", {
    query: pageQuery,
    success: HistoryPage,
    summary: "Fetch what happened to a work item",
    description: "Every decision that was made on it, from its log, without secrets."
  }),
  remove("cancelWorkItem", "/workitems/:id", {
    query: CancelWorkItemQuery.fields,
    payload: [HttpApiSchema.NoContent, CancelWorkItemRequest],
    success: WorkItemView,
    scope: "pipeline:write",
    summary: "Cancel a work item",
    description:
      "Wherever it is, as long as it has not ended; also where a merge conflict could not be resolved. Reason and commit " +
      "may stand in the query or in a body.",
    example: { reason: "done by hand" }
  }),
  act("answerQuestion", "/workitems/:id/answer", {
    payload: AnswerQuestionRequest,
    success: WorkItemView,
    scope: "pipeline:write",
    summary: "Answer a question",
    description:
      "The agent's runner is given the answer as it is, once. Events, history and log have it without what looks like a " +
      "secret. With its last open question the item goes on.",
    example: { questionId: "which-oil", answer: "Linseed." }
  }),
  act("dismissQuestion", "/workitems/:id/dismiss-question", {
    payload: DismissQuestionRequest,
    success: WorkItemView,
    scope: "pipeline:write",
    summary: "Dismiss a question",
    description: "The item goes on without an answer.",
    example: { questionId: "which-oil", reason: "any will do" }
  }),
  act("resumeWorkItem", "/workitems/:id/resume", {
    success: WorkItemView,
    scope: "pipeline:write",
    summary: "Resume a cancelled work item",
    description: "It takes up the phase in which it was cancelled."
  }),
  act("delegateWorkItem", "/workitems/:id/delegate", {
    payload: DelegateWorkItemRequest,
    success: WorkItemView,
    scope: "pipeline:write",
    summary: "Delegate a work item",
    description: "It is handed to whoever takes delegated items; its iterations begin again.",
    example: { reason: "it needs a welder" }
  }),
  ofSuggestion.read("getSuggestion", "/suggestions/:id", {
    success: SuggestionView,
    summary: "Fetch a suggestion",
    description: "Whole, with the rationale that its event leaves out."
  })
)
