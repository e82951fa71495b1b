/**
 * The work item actor: its decisions, what its facts make of it, and what the world is told. Pure; everything that is
 * chance or comes from outside is in the command, and the time is the record's.
 */
import type { ActorDefinition, EventDraft, DecisionContext } from "#actors/definition"
import { WorkItemFact, type WorkItemCommand, WorkItemState } from "#contracts"
import { Schema } from "effect"
import { auditEvents } from "./audit.ts"
import { cancellationEvents } from "./cancellation.ts"
import { checkEvents } from "./checks.ts"
import { conflictEvents } from "./conflicts.ts"
import { decide } from "./decide.ts"
import type { EventsByFact } from "./decisions.ts"
import { deferralEvents } from "./deferral.ts"
import { delegationEvents } from "./delegation.ts"
import { dispatchEvents } from "./dispatch.ts"
import { evolve } from "./evolve.ts"
import { failureEvents } from "./failures.ts"
import { iterationEvents } from "./iteration.ts"
import { mergeEvents } from "./merge.ts"
import { questionEvents } from "./questions.ts"
import { recoveryEvents } from "./recovery.ts"
import { retryEvents } from "./retries.ts"
import { suggestionEvents } from "./suggestions.ts"
import { upstreamEvents } from "./upstream.ts"
import { usageEvents } from "./usage.ts"
import { waitEvents } from "./waits.ts"

const eventsByFact: EventsByFact = {
  ...auditEvents,
  ...cancellationEvents,
  ...checkEvents,
  ...conflictEvents,
  ...deferralEvents,
  ...delegationEvents,
  ...dispatchEvents,
  ...failureEvents,
  ...iterationEvents,
  ...mergeEvents,
  ...questionEvents,
  ...recoveryEvents,
  ...retryEvents,
  ...suggestionEvents,
  ...upstreamEvents,
  ...usageEvents,
  ...waitEvents
}

// A fact and its own function are of one tag; the compiler cannot tell that of two looked up apart.
type ToEvents = (item: WorkItemState, fact: WorkItemFact, context: DecisionContext) => ReadonlyArray<EventDraft>

/** Null: nothing is known of an item of that id. */
export const workItem: ActorDefinition<WorkItemState | null, WorkItemCommand, WorkItemFact> = {
  entity: "workitem",
  state: Schema.NullOr(WorkItemState),
  fact: WorkItemFact,
  initial: null,
  stateVersion: 1,
  decide,
  evolve,
  toEvents: (item, fact, context) => (item === null ? [] : (eventsByFact[fact._tag] as ToEvents)(item, fact, context)),
  retires: (fact) => fact._tag === "Retired"
}
