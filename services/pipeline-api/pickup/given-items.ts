/**
 * Items that were given out here, until the views show it: no item is tried twice while they are behind, and what a
 * project has in hand counts right.
 */
import type { ReadyItem } from "./ready-items.ts"

export interface GivenItem {
  readonly projectId: string
  readonly agent: string
  readonly dispatchId: string
  /** Of the record; infinite while it is being tried. */
  readonly sequence: number
}

const givenMax = 10_000

export const givenItems = () => {
  const given = new Map<string, GivenItem>()
  return {
    /** Nobody here tries it, or was given it. */
    isFree: (item: ReadyItem) => {
      const taken = given.get(item.id)
      return taken === undefined || item.sequence > taken.sequence
    },
    /** While it is being tried nobody else here tries it. `done` with the record's sequence where it was given out. */
    claim: ({ id, projectId }: ReadyItem, taken: Pick<GivenItem, "agent" | "dispatchId">) => {
      given.set(id, { projectId, ...taken, sequence: Infinity })
      return {
        done: (sequence: number | undefined) => {
          // An item that is not remembered is tried, and refused by its actor.
          if (sequence === undefined || given.size > givenMax) given.delete(id)
          else given.set(id, { projectId, ...taken, sequence })
        }
      }
    },
    /** Without items that are only being tried. */
    ofProject: (projectId: string): ReadonlyArray<readonly [id: string, item: GivenItem]> =>
      [...given].filter(([, item]) => item.projectId === projectId && item.sequence < Infinity),
    wasGiven: (dispatchId: string) =>
      [...given.values()].some((item) => item.dispatchId === dispatchId && item.sequence < Infinity),
    /** Those that the views show, in that record or a later one. */
    forget: (isShown: (id: string, sequence: number) => boolean) => {
      for (const [id, { sequence }] of given) if (isShown(id, sequence)) given.delete(id)
    }
  }
}
