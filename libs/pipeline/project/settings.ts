/**
 * A project's settings for its items: the settings of one item's run, and how many items runners may have in hand at
 * once. Pickup asks before it gives an item out. An item beyond a cap is put off, and its own event says so.
 */
import type { ProjectSettings, WorkItemDeferral, WorkItemSettings } from "#contracts"

/** The configured settings, overridden by the project's own. */
export const workItemSettingsOf = (
  { workItems }: Pick<ProjectSettings, "workItems">,
  configured: WorkItemSettings
): WorkItemSettings => ({ ...configured, ...workItems })

/** Items of the project that runners have in hand: all of them, and those with that agent. */
export interface InFlight {
  readonly agent: string
  readonly items: number
  readonly itemsOfAgent: number
}

/** The cap that puts the item off; undefined if the item may be given out. */
export const capDeferral = (
  { maxInFlightItems, maxInFlightItemsPerAgent }: ProjectSettings,
  { agent, items, itemsOfAgent }: InFlight,
  suggestedRetryAtMs: number
): WorkItemDeferral | undefined => {
  const putOff = (reason: string) => ({ kind: "budget", reason, suggestedRetryAtMs }) as const
  if (maxInFlightItems !== null && items >= maxInFlightItems) {
    return putOff(`MaxInFlightItems: ${items}/${maxInFlightItems} items in flight`)
  }
  return maxInFlightItemsPerAgent !== null && itemsOfAgent >= maxInFlightItemsPerAgent
    ? putOff(`MaxInFlightItemsPerAgent: ${itemsOfAgent}/${maxInFlightItemsPerAgent} items in flight with ${agent}`)
    : undefined
}
