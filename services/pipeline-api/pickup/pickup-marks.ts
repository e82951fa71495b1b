/**
 * The marks that a dispatch leaves in the log: one of its pickup id, so that no replica gives a second thing for it,
 * and, where a project has a cap, one of the project, so that its dispatches are made one after the other and each is
 * counted before the next. Pure.
 */
import type { FoundMark, Mark } from "#actor"
import { Option } from "effect"

// A runner that heard no answer asks again within seconds.
const pickupKeptSeconds = 3_600

export const pickupMark = (pickupId: string) => `pickup ${pickupId}`
export const capMark = (projectId: string) => `cap ${projectId}`

export const firstOfPickup = (pickupId: string): Mark => ({
  name: pickupMark(pickupId),
  sequence: 0,
  keptSeconds: pickupKeptSeconds
})

export const nextOfCap = (projectId: string, found: Option.Option<FoundMark>): Mark => ({
  name: capMark(projectId),
  sequence: Option.match(found, { onNone: () => 0, onSome: ({ sequence }) => sequence })
})
