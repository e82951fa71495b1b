/**
 * The work item actor: its decisions, what its facts make of it, and what the world is told. Pure; everything that is
 * chance or comes from outside is in the command, and the time is the record's.
 */
import type { ActorDefinition, Announcement, DecisionContext } from "#actor"
import { WorkItemFact, type WorkItemCommand, WorkItemState } from "#contracts"
import { Schema } from "effect"
import { auditAnnouncers, auditEvolvers } from "./audit.ts"
import { cancellationAnnouncers, cancellationEvolvers } from "./cancellation.ts"
import { checkAnnouncers, checkEvolvers } from "./checks.ts"
import { conflictAnnouncers, conflictEvolvers } from "./conflicts.ts"
import { created, retirementEvolvers } from "./creation.ts"
import { decide } from "./decide.ts"
import type { Announcers, Evolvers } from "./decisions.ts"
import { deferralAnnouncers, deferralEvolvers } from "./deferral.ts"
import { delegationAnnouncers, delegationEvolvers } from "./delegation.ts"
import { dispatchAnnouncers, dispatchEvolvers } from "./dispatch.ts"
import { failureAnnouncers, failureEvolvers } from "./failures.ts"
import { iterationAnnouncers, iterationEvolvers } from "./iteration.ts"
import { mergeAnnouncers, mergeEvolvers } from "./merge.ts"
import { questionAnnouncers, questionEvolvers } from "./questions.ts"
import { recoveryAnnouncers, recoveryEvolvers } from "./recovery.ts"
import { retryAnnouncers, retryEvolvers } from "./retries.ts"
import { suggestionAnnouncers, suggestionEvolvers } from "./suggestions.ts"
import { upstreamAnnouncers, upstreamEvolvers } from "./upstream.ts"
import { usageAnnouncers, usageEvolvers } from "./usage.ts"
import { waitAnnouncers, waitEvolvers } from "./waits.ts"

const evolvers: Evolvers = {
  ...auditEvolvers,
  ...cancellationEvolvers,
  ...checkEvolvers,
  ...conflictEvolvers,
  ...deferralEvolvers,
  ...delegationEvolvers,
  ...dispatchEvolvers,
  ...failureEvolvers,
  ...iterationEvolvers,
  ...mergeEvolvers,
  ...questionEvolvers,
  ...recoveryEvolvers,
  ...retirementEvolvers,
  ...retryEvolvers,
  ...suggestionEvolvers,
  ...upstreamEvolvers,
  ...usageEvolvers,
  ...waitEvolvers
}

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
type Evolve = (item: WorkItemState, fact: WorkItemFact, context: DecisionContext) => Partial<WorkItemState>
type Announce = (item: WorkItemState, fact: WorkItemFact, context: DecisionContext) => ReadonlyArray<Announcement>

/** Null: nothing is known of an item of that id. */
export const workItem: ActorDefinition<WorkItemState | null, WorkItemCommand, WorkItemFact> = {
  entity: "workitem",
  state: Schema.NullOr(WorkItemState),
  fact: WorkItemFact,
  initial: null,
  stateVersion: 1,
  decide,
  evolve: (item, fact, context) => {
    if (fact._tag === "Created") return created(fact, context)
    if (item === null) return null
    const changed = (evolvers[fact._tag] as Evolve)(item, fact, context)
    // A phase that was moved to an agent stays with it; the next phase is anybody's again.
    const assigned = changed.phase === undefined || changed.phase === item.phase ? {} : { assignedAgent: null }
    return { ...item, ...assigned, ...changed, updatedAtMs: context.atMs }
  },
  announce: (item, fact, context) => (item === null ? [] : (announcers[fact._tag] as Announce)(item, fact, context)),
  retires: (fact) => fact._tag === "Retired"
}
