/** An item and its project as events carry them. Pure. */
import { type ConcernedItem, isoTime, type WorkItem, type WorkItemState } from "#contracts"

export const concernedItem = (id: string, item: WorkItemState): ConcernedItem => ({
  workItem: eventItem(id, item),
  project: item.project
})

export const eventItem = (id: string, item: WorkItemState): WorkItem => ({
  id,
  externalId: item.externalId,
  projectId: item.projectId,
  title: item.title,
  agent: item.agent,
  repositoryUrl: item.project.repositoryUrl,
  baseBranch: item.baseBranch,
  workBranch: item.workBranch,
  state: item.state,
  createdAt: isoTime(item.createdAtMs),
  updatedAt: isoTime(item.updatedAtMs),
  lastError: item.lastError,
  upstreamPushAttempts: item.upstreamPushAttempts
})
