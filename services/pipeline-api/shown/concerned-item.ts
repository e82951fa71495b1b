/** An item and its project as the events of others carry them. Pure. */
import type { ConcernedItem, WorkItemState } from "#contracts"
import { eventItem } from "#pipeline"

export const concernedItem = (id: string, item: WorkItemState): ConcernedItem => ({
  workItem: eventItem(id, item),
  project: item.project
})
