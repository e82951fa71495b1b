/** Routes of work items and suggestions: creating, listing and viewing them, and the operators' actions on them. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, writeCodes, refusals } from "../error-codes.ts"
import {
  AnswerQuestionRequest,
  CancelWorkItemQuery,
  CancelWorkItemRequest,
  CreateWorkItemRequest,
  DelegateWorkItemRequest,
  DismissQuestionRequest,
  HistoryPage,
  HistoryQuery,
  SuggestionView,
  WorkItemPage,
  WorkItemView,
  WorkItemsQuery
} from "../work-items.ts"

export const WorkItemsGroup = HttpApiGroup.make("work items", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createWorkItem", "/workitems", {
      disableCodecs: true,
      payload: CreateWorkItemRequest,
      success: WorkItemView.pipe(HttpApiSchema.status(201)),
      error: refusals(...writeCodes, "idempotency_conflict")
    }).annotateMerge(
      described({
        scope: "pipeline:write",
        summary: "Create a work item",
        description:
          "It is queued for the first runner of its agent. With `releaseId` it is linked to that release, which must be open " +
          "and of the same project. With `Idempotency-Key` it is created once, however often it is asked for.",
        example: { title: "Oil the gate", projectId: "gates" }
      })
    ),
    HttpApiEndpoint.get("listWorkItems", "/workitems", {
      disableCodecs: true,
      query: WorkItemsQuery.fields,
      success: WorkItemPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "List work items",
        description: "Oldest first. A list is a moment behind, and says by how much; an item itself is always right."
      })
    ),
    HttpApiEndpoint.get("getWorkItem", "/workitems/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      success: WorkItemView,
      error: refusals(...readCodes, "work_item_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "Fetch a work item",
        description: "As it stands at this moment."
      })
    ),
    HttpApiEndpoint.get("getWorkItemHistory", "/workitems/:id/history", {
      disableCodecs: true,
      params: { id: Schema.String },
      query: HistoryQuery.fields,
      success: HistoryPage,
      error: refusals(...listCodes, "work_item_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "Fetch what happened to a work item",
        description: "Every decision that was made on it, from its log, without secrets."
      })
    ),
    HttpApiEndpoint.delete("cancelWorkItem", "/workitems/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      query: CancelWorkItemQuery.fields,
      payload: [HttpApiSchema.NoContent, CancelWorkItemRequest],
      success: WorkItemView,
      error: refusals(...writeCodes, "work_item_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:write",
        summary: "Cancel a work item",
        description:
          "Wherever it is, as long as it has not ended; also where a merge conflict could not be resolved. Reason and commit " +
          "may stand in the query or in a body.",
        example: { reason: "done by hand" }
      })
    ),
    HttpApiEndpoint.post("answerQuestion", "/workitems/:id/answer", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: AnswerQuestionRequest,
      success: WorkItemView,
      error: refusals(...writeCodes, "work_item_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:write",
        summary: "Answer a question",
        description:
          "The agent's runner is given the answer as it is, once. Events, history and log have it without what looks like a " +
          "secret. With its last open question the item goes on.",
        example: { questionId: "which-oil", answer: "Linseed." }
      })
    ),
    HttpApiEndpoint.post("dismissQuestion", "/workitems/:id/dismiss-question", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: DismissQuestionRequest,
      success: WorkItemView,
      error: refusals(...writeCodes, "work_item_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:write",
        summary: "Dismiss a question",
        description: "The item goes on without an answer.",
        example: { questionId: "which-oil", reason: "any will do" }
      })
    ),
    HttpApiEndpoint.post("resumeWorkItem", "/workitems/:id/resume", {
      disableCodecs: true,
      params: { id: Schema.String },
      success: WorkItemView,
      error: refusals(...writeCodes, "work_item_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:write",
        summary: "Resume a cancelled work item",
        description: "It takes up the phase in which it was cancelled."
      })
    ),
    HttpApiEndpoint.post("delegateWorkItem", "/workitems/:id/delegate", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: DelegateWorkItemRequest,
      success: WorkItemView,
      error: refusals(...writeCodes, "work_item_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:write",
        summary: "Delegate a work item",
        description: "It is handed to whoever takes delegated items; its iterations begin again.",
        example: { reason: "it needs a welder" }
      })
    ),
    HttpApiEndpoint.get("getSuggestion", "/suggestions/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      success: SuggestionView,
      error: refusals(...readCodes, "suggestion_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "Fetch a suggestion",
        description: "Whole, with the rationale that its event leaves out."
      })
    )
  )
  .middleware(BearerToken)
