/** The operations on releases and projects, as data. */
import { listCodes, readCodes, writeCodes } from "./error-codes.ts"
import type { Operation } from "./operations.ts"

const read = { scope: "pipeline:read" } as const
const write = { scope: "pipeline:write", answer: "ReleaseView", codes: [...writeCodes, "release_not_found"] } as const
const operate = {
  scope: "pipeline:operate",
  answer: "ProjectView",
  codes: [...writeCodes, "project_not_found"]
} as const
const reason = { schema: "ReleaseChangeRequest", example: { reason: "all is in" }, isOptional: true } as const

export const releaseOperations: ReadonlyArray<Operation> = [
  {
    id: "createRelease",
    method: "POST",
    path: "/releases",
    summary: "Create a release",
    description: "Items that name it start at its branch. With `Idempotency-Key` it is created once.",
    ...write,
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
    ...write,
    body: reason
  },
  {
    id: "abandonRelease",
    method: "POST",
    path: "/releases/:id/abandon",
    summary: "Abandon a release",
    description: "Only while it is open; for good.",
    ...write,
    body: reason
  },
  {
    id: "reopenRelease",
    method: "POST",
    path: "/releases/:id/reopen",
    summary: "Reopen a release",
    description: "One whose review failed.",
    ...write,
    body: reason
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
    ...operate,
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
    ...operate,
    body: { schema: "PauseQueueRequest", example: { reason: "freeze" } }
  },
  {
    id: "resumeProjectQueue",
    method: "POST",
    path: "/projects/:id/queue/resume",
    summary: "Resume a project's queue",
    description:
      "Lifts what an operator paused. One that its budget holds stays paused until spend has recovered, or the budget is raised beyond it or taken away; `holds` says what holds it yet.",
    ...operate,
    body: { schema: "ResumeQueueRequest", example: {}, isOptional: true }
  }
]
