/**
 * Items that were given out here, until the views show it. No item is tried twice while the views are behind, and the
 * number in flight counts right.
 */
import type { ReadyItem } from "./ready-items.ts"

export interface GivenItem {
  readonly projectId: string
  readonly agent: string
  readonly dispatchId: string
  /** The record's sequence; infinite while the item is being tried. */
  readonly sequence: number
}

const givenMax = 10_000

export const givenItems = () => {
  const given = new Map<string, GivenItem>()
  return {
    /** Nobody here tries the item, and nobody here was given it. */
    isFree: (item: ReadyItem) => {
      const taken = given.get(item.id)
      return taken === undefined || item.sequence > taken.sequence
    },
    /**
     * Claims the item, so that nobody else here tries it meanwhile. `done` takes the record's sequence if it was given
     * out.
     */
    claim: ({ id, projectId }: ReadyItem, taken: Pick<GivenItem, "agent" | "dispatchId">) => {
      given.set(id, { projectId, ...taken, sequence: Infinity })
      return {
        done: (sequence: number | undefined) => {
          // An item that is not remembered may be tried again; its actor then refuses.
          if (sequence === undefined || given.size > givenMax) given.delete(id)
          else given.set(id, { projectId, ...taken, sequence })
        }
      }
    },
    /** Leaves out items that are only being tried. */
    ofProject: (projectId: string): ReadonlyArray<readonly [id: string, item: GivenItem]> =>
      [...given].filter(([, item]) => item.projectId === projectId && item.sequence < Infinity),
    wasGiven: (dispatchId: string) =>
      [...given.values()].some((item) => item.dispatchId === dispatchId && item.sequence < Infinity),
    /** Forgets the items that the views show, in that record or a later one. */
    forget: (isShown: (id: string, sequence: number) => boolean) => {
      for (const [id, { sequence }] of given) if (isShown(id, sequence)) given.delete(id)
    }
  }
}
