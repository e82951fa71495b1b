/** The operations on work items, as data. */
import { listCodes, readCodes, writeCodes } from "./error-codes.ts"
import type { Operation } from "./operations.ts"

const read = { scope: "pipeline:read" } as const
const write = {
  scope: "pipeline:write",
  answer: "WorkItemView",
  codes: [...writeCodes, "work_item_not_found"]
} as const
const reads = [...readCodes, "work_item_not_found"] as const

export const workItemOperations: ReadonlyArray<Operation> = [
  {
    id: "createWorkItem",
    method: "POST",
    path: "/workitems",
    summary: "Create a work item",
    description:
      "It is queued for the first runner of its agent. With `releaseId` it is linked to that release, which must be open " +
      "and of the same project. With `Idempotency-Key` it is created once, however often it is asked for.",
    ...write,
    statuses: [201],
    body: { schema: "CreateWorkItemRequest", example: { title: "Oil the gate", projectId: "gates" } },
    codes: [...writeCodes, "idempotency_conflict"]
  },
  {
    id: "listWorkItems",
    method: "GET",
    path: "/workitems",
    summary: "List work items",
    description: "Oldest first. A list is a moment behind, and says by how much; an item itself is always right.",
    ...read,
    query: "WorkItemsQuery",
    answer: "WorkItemPage",
    codes: listCodes
  },
  {
    id: "getWorkItem",
    method: "GET",
    path: "/workitems/:id",
    summary: "Fetch a work item",
    description: "As it stands at this moment.",
    ...read,
    answer: "WorkItemView",
    codes: reads
  },
  {
    id: "getWorkItemHistory",
    method: "GET",
    path: "/workitems/:id/history",
    summary: "Fetch what happened to a work item",
    description: "Every decision that was made on it, from its log, without secrets.",
    ...read,
    query: "HistoryQuery",
    answer: "HistoryPage",
    codes: [...listCodes, "work_item_not_found"]
  },
  {
    id: "cancelWorkItem",
    method: "DELETE",
    path: "/workitems/:id",
    summary: "Cancel a work item",
    description:
      "Wherever it is, as long as it has not ended; also where a merge conflict could not be resolved. Reason and commit " +
      "may stand in the query or in a body.",
    ...write,
    query: "CancelWorkItemQuery",
    body: { schema: "CancelWorkItemRequest", example: { reason: "done by hand" }, isOptional: true }
  },
  {
    id: "answerQuestion",
    method: "POST",
    path: "/workitems/:id/answer",
    summary: "Answer a question",
    description:
      "The agent's runner is given the answer as it is, once. Events, history and log have it without what looks like a " +
      "secret. With its last open question the item goes on.",
    ...write,
    body: { schema: "AnswerQuestionRequest", example: { questionId: "which-oil", answer: "Linseed." } }
  },
  {
    id: "dismissQuestion",
    method: "POST",
    path: "/workitems/:id/dismiss-question",
    summary: "Dismiss a question",
    description: "The item goes on without an answer.",
    ...write,
    body: { schema: "DismissQuestionRequest", example: { questionId: "which-oil", reason: "any will do" } }
  },
  {
    id: "resumeWorkItem",
    method: "POST",
    path: "/workitems/:id/resume",
    summary: "Resume a cancelled work item",
    description: "It takes up the phase in which it was cancelled.",
    ...write
  },
  {
    id: "delegateWorkItem",
    method: "POST",
    path: "/workitems/:id/delegate",
    summary: "Delegate a work item",
    description: "It is handed to whoever takes delegated items; its iterations begin again.",
    ...write,
    body: { schema: "DelegateWorkItemRequest", example: { reason: "it needs a welder" } }
  },
  {
    id: "getSuggestion",
    method: "GET",
    path: "/suggestions/:id",
    summary: "Fetch a suggestion",
    description: "Whole, with the rationale that its event leaves out.",
    ...read,
    answer: "Suggestion",
    codes: [...readCodes, "suggestion_not_found"]
  }
]
