/**
 * The operations of the API as data: what each takes, answers and refuses. The document and the page are made from
 * them.
 */
import type { QueryName, SchemaName } from "./document.ts"
import { type ErrorCodeName, listCodes, readCodes, writeCodes } from "./error-codes.ts"

export interface Operation {
  readonly id: string
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  /** As the listener knows it: `:name` for a segment. */
  readonly path: `/${string}`
  readonly summary: string
  readonly description: string
  /** None for what everybody may read. */
  readonly scope?: "pipeline:read" | "pipeline:write" | "pipeline:operate"
  readonly query?: QueryName
  readonly body?: {
    readonly schema: SchemaName
    readonly example: Readonly<Record<string, unknown>>
    readonly isOptional?: true
  }
  /** Of success; 200 without it. */
  readonly statuses?: ReadonlyArray<200 | 201>
  /** None: an OpenAPI document. */
  readonly answer?: SchemaName
  readonly codes: ReadonlyArray<ErrorCodeName>
}

/** What holds for the bodies of all of them. */
export const nullInBodies =
  "In a body, null for a field that may be left out is the same as leaving it out; " +
  "only where a field itself says what null stands for, it is a value."

const read = { scope: "pipeline:read" } as const
const workItem = {
  scope: "pipeline:write",
  answer: "WorkItemView",
  codes: [...writeCodes, "work_item_not_found"]
} as const
const workItemCodes = [...readCodes, "work_item_not_found"] as const

const workItemOperations: ReadonlyArray<Operation> = [
  {
    id: "createWorkItem",
    method: "POST",
    path: "/workitems",
    summary: "Create a work item",
    description:
      "It is queued for the first runner of its agent. With `releaseId` it is linked to that release, which must be open " +
      "and of the same project. With `Idempotency-Key` it is created once, however often it is asked for.",
    ...workItem,
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
    codes: workItemCodes
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
    ...workItem,
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
    ...workItem,
    body: { schema: "AnswerQuestionRequest", example: { questionId: "which-oil", answer: "Linseed." } }
  },
  {
    id: "dismissQuestion",
    method: "POST",
    path: "/workitems/:id/dismiss-question",
    summary: "Dismiss a question",
    description: "The item goes on without an answer.",
    ...workItem,
    body: { schema: "DismissQuestionRequest", example: { questionId: "which-oil", reason: "any will do" } }
  },
  {
    id: "resumeWorkItem",
    method: "POST",
    path: "/workitems/:id/resume",
    summary: "Resume a cancelled work item",
    description: "It takes up the phase in which it was cancelled.",
    ...workItem
  },
  {
    id: "delegateWorkItem",
    method: "POST",
    path: "/workitems/:id/delegate",
    summary: "Delegate a work item",
    description: "It is handed to whoever takes delegated items; its iterations begin again.",
    ...workItem,
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

const release = { scope: "pipeline:write", answer: "ReleaseView", codes: [...writeCodes, "release_not_found"] } as const
const project = {
  scope: "pipeline:operate",
  answer: "ProjectView",
  codes: [...writeCodes, "project_not_found"]
} as const
const reasonBody = { schema: "ReleaseChangeRequest", example: { reason: "all is in" }, isOptional: true } as const

const releaseOperations: ReadonlyArray<Operation> = [
  {
    id: "createRelease",
    method: "POST",
    path: "/releases",
    summary: "Create a release",
    description: "Items that name it start at its branch. With `Idempotency-Key` it is created once.",
    ...release,
    statuses: [201],
    body: { schema: "CreateReleaseRequest", example: { name: "Spring", projectId: "gates" } },
    codes: [...writeCodes, "idempotency_conflict"]
  },
  {
    id: "listReleases",
    method: "GET",
    path: "/releases",
    summary: "List releases",
    description: "Oldest first, with how many of their items stand how.",
    ...read,
    query: "ReleasesQuery",
    answer: "ReleasePage",
    codes: listCodes
  },
  {
    id: "getRelease",
    method: "GET",
    path: "/releases/:id",
    summary: "Fetch a release",
    description: "With the items that are linked to it.",
    ...read,
    answer: "ReleaseView",
    codes: [...readCodes, "release_not_found"]
  },
  {
    id: "closeRelease",
    method: "POST",
    path: "/releases/:id/close",
    summary: "Close a release",
    description: "It takes no more items, and may be reviewed.",
    ...release,
    body: reasonBody
  },
  {
    id: "abandonRelease",
    method: "POST",
    path: "/releases/:id/abandon",
    summary: "Abandon a release",
    description: "Only while it is open; for good.",
    ...release,
    body: reasonBody
  },
  {
    id: "reopenRelease",
    method: "POST",
    path: "/releases/:id/reopen",
    summary: "Reopen a release",
    description: "One whose review failed.",
    ...release,
    body: reasonBody
  },
  {
    id: "listProjects",
    method: "GET",
    path: "/projects",
    summary: "List projects",
    description: "Oldest first.",
    ...read,
    query: "ProjectsQuery",
    answer: "ProjectPage",
    codes: listCodes
  },
  {
    id: "getProject",
    method: "GET",
    path: "/projects/:id",
    summary: "Fetch a project",
    description: "With what it spent in the last thirty days, where it has a budget.",
    ...read,
    answer: "ProjectView",
    codes: [...readCodes, "project_not_found"]
  },
  {
    id: "putProject",
    method: "PUT",
    path: "/projects/:id",
    summary: "Create or change a project",
    description: "The whole of it: 201 when it is new, 200 when it was changed.",
    ...project,
    statuses: [200, 201],
    body: {
      schema: "PutProjectRequest",
      example: { displayName: "Gates", repositoryUrl: "https://git.example/gates", monthlyBudgetUsd: 250 }
    }
  },
  {
    id: "pauseProjectQueue",
    method: "POST",
    path: "/projects/:id/queue/pause",
    summary: "Pause a project's queue",
    description: "No item of it is given to runners any more once this is answered; what they have in hand goes on.",
    ...project,
    body: { schema: "PauseQueueRequest", example: { reason: "freeze" } }
  },
  {
    id: "resumeProjectQueue",
    method: "POST",
    path: "/projects/:id/queue/resume",
    summary: "Resume a project's queue",
    description:
      "Lifts what an operator paused. One that its budget holds stays paused until spend has recovered, or the budget is raised beyond it or taken away; `holds` says what holds it yet.",
    ...project,
    body: { schema: "ResumeQueueRequest", example: {}, isOptional: true }
  }
]

const queue = { scope: "pipeline:operate", answer: "QueueView", codes: writeCodes } as const
const agent = { scope: "pipeline:operate", answer: "AgentView", codes: [...writeCodes, "agent_not_found"] } as const

const fleetOperations: ReadonlyArray<Operation> = [
  {
    id: "getQueue",
    method: "GET",
    path: "/queue",
    summary: "Look at the pickup queue",
    description: "Whether anything is given to runners at all.",
    ...read,
    answer: "QueueView",
    codes: readCodes
  },
  {
    id: "pauseQueue",
    method: "POST",
    path: "/queue/pause",
    summary: "Pause the pickup queue",
    description: "Once this is answered nothing is given to runners any more; what they have in hand goes on.",
    ...queue,
    body: { schema: "PauseQueueRequest", example: { reason: "maintenance" } }
  },
  {
    id: "resumeQueue",
    method: "POST",
    path: "/queue/resume",
    summary: "Resume the pickup queue",
    description: "A queue that runs is left as it is.",
    ...queue
  },
  {
    id: "listAgents",
    method: "GET",
    path: "/agents",
    summary: "List agents",
    description: "Those that are configured, and those that something has happened to, in the order of their names.",
    ...read,
    query: "AgentsQuery",
    answer: "AgentPage",
    codes: listCodes
  },
  {
    id: "pauseAgent",
    method: "POST",
    path: "/agents/:id/pause",
    summary: "Pause an agent",
    description:
      "A kind, or one instance of it: no new work for it from now on. Items that it alone may take wait for it.",
    ...agent,
    body: { schema: "PauseAgentRequest", example: { reason: "it is tired", expiresInSeconds: 3_600 } }
  },
  {
    id: "resumeAgent",
    method: "POST",
    path: "/agents/:id/resume",
    summary: "Resume an agent",
    description: "Items that waited for it go on. What else keeps it from new work, `holds` says.",
    ...agent,
    body: { schema: "ResumeAgentRequest", example: {}, isOptional: true }
  },
  {
    id: "restoreAgent",
    method: "POST",
    path: "/agents/:id/restore",
    summary: "Say that an agent is back",
    description: "It takes work again, and items that failed in its outage are tried again.",
    ...agent,
    body: { schema: "RestoreAgentRequest", example: {}, isOptional: true }
  }
]

export const operations: ReadonlyArray<Operation> = [
  ...workItemOperations,
  ...releaseOperations,
  ...fleetOperations,
  {
    id: "getDescription",
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    description: "OpenAPI 3.1, for everybody.",
    codes: readCodes.filter((code) => code === "internal_error")
  }
]
