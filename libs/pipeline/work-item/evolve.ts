/** What a fact makes of an item, by its concern. The same facts make the same item, whenever they are read. */
import type { DecisionContext } from "#actors/definition"
import type { WorkItemFact, WorkItemState } from "#contracts"
import { auditEvolvers } from "./audit.ts"
import { cancellationEvolvers } from "./cancellation.ts"
import { checkEvolvers } from "./checks.ts"
import { conflictEvolvers } from "./conflicts.ts"
import { created, retirementEvolvers } from "./creation.ts"
import type { Evolvers } from "./decisions.ts"
import { deferralEvolvers } from "./deferral.ts"
import { delegationEvolvers } from "./delegation.ts"
import { dispatchEvolvers } from "./dispatch.ts"
import { failureEvolvers } from "./failures.ts"
import { iterationEvolvers } from "./iteration.ts"
import { mergeEvolvers } from "./merge.ts"
import { questionEvolvers } from "./questions.ts"
import { recoveryEvolvers } from "./recovery.ts"
import { retryEvolvers } from "./retries.ts"
import { suggestionEvolvers } from "./suggestions.ts"
import { upstreamEvolvers } from "./upstream.ts"
import { usageEvolvers } from "./usage.ts"
import { waitEvolvers } from "./waits.ts"

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

// A fact and its own function are of one tag; the compiler cannot tell that of two looked up apart.
type Evolve = (item: WorkItemState, fact: WorkItemFact, context: DecisionContext) => Partial<WorkItemState>

/** The item after the fact; null while it is not created. */
export const evolve = (
  item: WorkItemState | null,
  fact: WorkItemFact,
  context: DecisionContext
): WorkItemState | null => {
  if (fact._tag === "Created") return created(fact, context)
  if (item === null) return null
  const changed = (evolvers[fact._tag] as Evolve)(item, fact, context)
  // A phase that was moved to an agent stays with it; the next phase is anybody's again.
  const assigned = changed.phase === undefined || changed.phase === item.phase ? {} : { assignedAgent: null }
  return { ...item, ...assigned, ...changed, updatedAtMs: context.atMs }
}
