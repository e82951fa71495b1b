/**
 * The work items linked to a release, and how each of them stands. Their number is bounded; an item that is not
 * linked changes nothing.
 */
import { type ReleaseItem, releaseItemsMax, type ReleaseState } from "#contracts"

type Outcome = ReleaseItem["outcome"]

export const findItem = ({ items }: Pick<ReleaseState, "items">, workItemId: string): ReleaseItem | undefined =>
  items.find((item) => item.workItemId === workItemId)

/** The linked items with one more in the pipeline, while there is room. */
export const linked = (release: ReleaseState, workItemId: string): ReadonlyArray<ReleaseItem> =>
  release.items.length >= releaseItemsMax || findItem(release, workItemId) !== undefined
    ? release.items
    : [...release.items, { workItemId, outcome: "open" }]

export const stood = (release: ReleaseState, workItemId: string, outcome: Outcome): ReadonlyArray<ReleaseItem> =>
  release.items.map((item) => (item.workItemId === workItemId ? { workItemId, outcome } : item))

/** The item ended, but not well. */
export const isLost = (outcome: Outcome): boolean => outcome === "failed" || outcome === "cancelled"

export const hasLost = ({ items }: Pick<ReleaseState, "items">): boolean => items.some(({ outcome }) => isLost(outcome))

export const idsOf = ({ items }: Pick<ReleaseState, "items">, outcome: Outcome): ReadonlyArray<string> =>
  items.filter((item) => item.outcome === outcome).map(({ workItemId }) => workItemId)

export const countsOf = (release: Pick<ReleaseState, "items">) => ({
  workItemCount: release.items.length,
  openCount: idsOf(release, "open").length,
  doneCount: idsOf(release, "done").length,
  failedCount: idsOf(release, "failed").length,
  cancelledCount: idsOf(release, "cancelled").length
})
