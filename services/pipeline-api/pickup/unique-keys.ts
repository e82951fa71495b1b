/**
 * The unique keys that a dispatch takes: one of its pickup id, so that no replica gives a second thing for it,
 * and, where a project has a cap, one of the project, so that its dispatches are made one after the other and each is
 * counted before the next. Pure.
 */
import type { FoundUniqueKey, UniqueKey } from "#actors"
import { Option } from "effect"

// A runner that heard no answer asks again within seconds.
const pickupKeptSeconds = 3_600

export const pickupKey = (pickupId: string) => `pickup ${pickupId}`
export const capKey = (projectId: string) => `cap ${projectId}`

export const firstOfPickup = (pickupId: string): UniqueKey => ({
  name: pickupKey(pickupId),
  sequence: 0,
  keptSeconds: pickupKeptSeconds
})

export const nextOfCap = (projectId: string, found: Option.Option<FoundUniqueKey>): UniqueKey => ({
  name: capKey(projectId),
  sequence: Option.match(found, { onNone: () => 0, onSome: ({ sequence }) => sequence })
})
