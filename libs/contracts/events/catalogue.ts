/** All 75 events, by name. What is not in here may still pass: receivers and filters treat names as open. */
import { agentEvents } from "./agent-events.ts"
import type { EventDeclaration } from "./declaration.ts"
import { progressEvents } from "./progress-events.ts"
import { projectEvents } from "./project-events.ts"
import { releaseEvents } from "./release-events.ts"
import { waitingEvents } from "./waiting-events.ts"
import { workItemEvents } from "./work-item-events.ts"

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
