/** Every event, by name. Other names may still pass: receivers and filters treat names as open. */
import { agentEvents } from "./agents.ts"
import type { EventDeclaration } from "./declaration.ts"
import { projectEvents, releaseEvents } from "./projects.ts"
import { progressEvents, waitingEvents, workItemEvents } from "./work-items.ts"

export const eventCatalogue: ReadonlyArray<EventDeclaration> = [
  ...workItemEvents,
  ...waitingEvents,
  ...progressEvents,
  ...agentEvents,
  ...projectEvents,
  ...releaseEvents
]

const byName = new Map(eventCatalogue.map((event) => [event.name, event]))

export const findEvent = (name: string): EventDeclaration | undefined => byName.get(name)

/**
 * The version of the envelope's contract, and the fingerprint of the catalogue that it belongs to. New events and new
 * optional details fields are a minor bump. A test compares the fingerprint, so the bump cannot be forgotten.
 */
export const eventSchemaVersion = "1.2.0"

export const catalogueFingerprint = "d4f6cbe18db2d912"
