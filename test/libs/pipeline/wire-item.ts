/** A work item and its project as envelopes show them, for tests of those that only pass them on. */
import type { Project, WorkItem } from "#base"
import { uuid } from "./entity-at-work.ts"

export const wireProject: Project = {
  id: "garden",
  displayName: "The garden",
  repositoryUrl: "https://git.example/garden.git"
}

export const wireItem: WorkItem = {
  id: uuid(77),
  externalId: null,
  projectId: "garden",
  title: "Mend the gate",
  agent: "smith",
  repositoryUrl: "https://git.example/garden.git",
  baseBranch: "main",
  workBranch: "starling/00000000",
  state: "Failed",
  createdAt: "2023-11-14T22:13:20.000Z",
  updatedAt: "2023-11-14T22:13:20.000Z",
  lastError: "the agent is not authorised",
  upstreamPushAttempts: 0
}
