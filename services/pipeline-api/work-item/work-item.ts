/**
 * The work item actor: its decisions, what its facts make of it, and what the world is told. Pure; everything that is
 * chance or comes from outside is in the command, and the time is the record's.
 */
import type { ActorDefinition, Announcement, DecisionContext } from "#actor"
import { WorkItemFact, type WorkItemCommand, WorkItemState } from "#contracts"
import { Schema } from "effect"
import { auditAnnouncers } from "./audit.ts"
import { cancellationAnnouncers } from "./cancellation.ts"
import { checkAnnouncers } from "./checks.ts"
import { conflictAnnouncers } from "./conflicts.ts"
import { decide } from "./decide.ts"
import type { Announcers } from "./decisions.ts"
import { deferralAnnouncers } from "./deferral.ts"
import { delegationAnnouncers } from "./delegation.ts"
import { dispatchAnnouncers } from "./dispatch.ts"
import { evolve } from "./evolve.ts"
import { failureAnnouncers } from "./failures.ts"
import { iterationAnnouncers } from "./iteration.ts"
import { mergeAnnouncers } from "./merge.ts"
import { questionAnnouncers } from "./questions.ts"
import { recoveryAnnouncers } from "./recovery.ts"
import { retryAnnouncers } from "./retries.ts"
import { suggestionAnnouncers } from "./suggestions.ts"
import { upstreamAnnouncers } from "./upstream.ts"
import { usageAnnouncers } from "./usage.ts"
import { waitAnnouncers } from "./waits.ts"

const announcers: Announcers = {
  ...auditAnnouncers,
  ...cancellationAnnouncers,
  ...checkAnnouncers,
  ...conflictAnnouncers,
  ...deferralAnnouncers,
  ...delegationAnnouncers,
  ...dispatchAnnouncers,
  ...failureAnnouncers,
  ...iterationAnnouncers,
  ...mergeAnnouncers,
  ...questionAnnouncers,
  ...recoveryAnnouncers,
  ...retryAnnouncers,
  ...suggestionAnnouncers,
  ...upstreamAnnouncers,
  ...usageAnnouncers,
  ...waitAnnouncers
}

// A fact and its own function are of one tag; the compiler cannot tell that of two looked up apart.
type Announce = (item: WorkItemState, fact: WorkItemFact, context: DecisionContext) => ReadonlyArray<Announcement>

/** Null: nothing is known of an item of that id. */
export const workItem: ActorDefinition<WorkItemState | null, WorkItemCommand, WorkItemFact> = {
  entity: "workitem",
  state: Schema.NullOr(WorkItemState),
  fact: WorkItemFact,
  initial: null,
  stateVersion: 1,
  decide,
  evolve,
  announce: (item, fact, context) => (item === null ? [] : (announcers[fact._tag] as Announce)(item, fact, context)),
  retires: (fact) => fact._tag === "Retired"
}
