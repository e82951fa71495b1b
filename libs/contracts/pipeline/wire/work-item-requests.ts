/** What callers send about work items. Field names are those of the events. Lengths are UTF-16 units. */
import { Schema } from "effect"
import { cancelReasonCharactersMax, ResolutionSha } from "../../events/work-item-events.ts"
import { QuestionId } from "../../events/waiting-events.ts"
import { Id, text, Uuid } from "../../primitives.ts"
import { says } from "../../speech/says.ts"
import { answerCharactersMax } from "../work-item-commands.ts"
import {
  AgentName,
  instructionsCharactersMax,
  titleCharactersMax,
  WorkItemKind,
  WorkItemStateName
} from "../work-item-state.ts"
import { BranchName, BranchPrefix } from "./branch-names.ts"
import { mayBeLeftOut } from "./may-be-left-out.ts"
import { isNotBlank } from "./not-blank.ts"
import { pageQuery } from "./paging.ts"

export const noteCharactersMax = 2_000
export const priorityDefault = 5

export const CreateWorkItemRequest = Schema.Struct({
  title: Schema.String.check(Schema.isBetweenLength(1, titleCharactersMax), isNotBlank).pipe(
    says("What is to be done, in a line.")
  ),
  instructions: mayBeLeftOut(text(instructionsCharactersMax)).pipe(says("What the agent is told beyond the title.")),
  projectId: Id.pipe(says("A project that exists.")),
  agent: mayBeLeftOut(AgentName).pipe(says("An agent kind, or a class of agents; the configured one without it.")),
  baseBranch: mayBeLeftOut(BranchName).pipe(
    says("The branch it starts from; its release's, else the configured one without it.")
  ),
  workBranchPrefix: mayBeLeftOut(BranchPrefix).pipe(
    says("The work branch is `<prefix>/<short id>`; the configured prefix without it.")
  ),
  externalId: mayBeLeftOut(Id).pipe(says("Your own id of it, told with every event.")),
  releaseId: mayBeLeftOut(Uuid).pipe(says("An open release of the same project to link it to.")),
  kind: mayBeLeftOut(Schema.Literals(["act", "check"])).pipe(
    says("`act` changes code; `check` ends with a verdict, which may queue a follow-up. `act` without it.")
  ),
  priority: mayBeLeftOut(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))).pipe(
    says(`Higher goes first, among equals the older; ${priorityDefault} without it.`)
  )
}).annotate({ identifier: "CreateWorkItemRequest" })
export interface CreateWorkItemRequest extends Schema.Schema.Type<typeof CreateWorkItemRequest> {}

export const AnswerQuestionRequest = Schema.Struct({
  questionId: QuestionId.pipe(says("A question of the item that is open.")),
  answer: Schema.String.check(Schema.isBetweenLength(1, answerCharactersMax), isNotBlank).pipe(
    says("Given to the agent as it is; secrets are removed from what is told and kept of it.")
  )
}).annotate({ identifier: "AnswerQuestionRequest" })
export interface AnswerQuestionRequest extends Schema.Schema.Type<typeof AnswerQuestionRequest> {}

export const DismissQuestionRequest = Schema.Struct({
  questionId: QuestionId.pipe(says("A question of the item that is open.")),
  reason: mayBeLeftOut(text(answerCharactersMax)).pipe(
    says("Given to the agent as it is; secrets are removed from what is told and kept of it.")
  )
}).annotate({ identifier: "DismissQuestionRequest" })
export interface DismissQuestionRequest extends Schema.Schema.Type<typeof DismissQuestionRequest> {}

const cancelReason = text(cancelReasonCharactersMax)
const whyCancelled = says("Why it is cancelled; told with the event.")
const whichCommit = says("The commit that made it needless, 7 to 40 hex digits.")

/** In the query, where the body says nothing. */
export const CancelWorkItemQuery = Schema.Struct({
  reason: Schema.optionalKey(cancelReason).pipe(whyCancelled),
  resolutionSha: Schema.optionalKey(ResolutionSha).pipe(whichCommit)
})
export interface CancelWorkItemQuery extends Schema.Schema.Type<typeof CancelWorkItemQuery> {}

/** It may be left out. */
export const CancelWorkItemRequest = Schema.Struct({
  reason: mayBeLeftOut(cancelReason).pipe(whyCancelled),
  resolutionSha: mayBeLeftOut(ResolutionSha).pipe(whichCommit)
}).annotate({ identifier: "CancelWorkItemRequest" })
export interface CancelWorkItemRequest extends Schema.Schema.Type<typeof CancelWorkItemRequest> {}

export const DelegateWorkItemRequest = Schema.Struct({
  reason: Schema.String.check(Schema.isBetweenLength(1, noteCharactersMax), isNotBlank).pipe(
    says("Why it goes to delegation; told with the event.")
  ),
  note: mayBeLeftOut(text(noteCharactersMax)).pipe(says("For whoever takes it up."))
}).annotate({ identifier: "DelegateWorkItemRequest" })
export interface DelegateWorkItemRequest extends Schema.Schema.Type<typeof DelegateWorkItemRequest> {}

export const WorkItemsQuery = Schema.Struct({
  ...pageQuery,
  project: Schema.optionalKey(Id).pipe(says("Items of this project.")),
  state: Schema.optionalKey(WorkItemStateName).pipe(says("Items in this state.")),
  release: Schema.optionalKey(Uuid).pipe(says("Items linked to this release.")),
  externalId: Schema.optionalKey(Id).pipe(says("Items of this id of yours.")),
  kind: Schema.optionalKey(WorkItemKind)
})
export interface WorkItemsQuery extends Schema.Schema.Type<typeof WorkItemsQuery> {}
