/**
 * Conflict rework: rebase, let an agent resolve, then merge or push again. An item gets there from a merge in
 * conflict or, whatever it is at, from a pull request that its base has left behind, as often as the project allows;
 * beyond that, or when a resolution is rejected by host verification or the scope fence, it ends. Of the way in and
 * out there is no event: the next phase tells of itself.
 */
import type { WorkItemDispatch, WorkItemPhase, WorkItemState } from "#contracts"
import {
  type EventsByFact,
  type CommandDeciders,
  decided,
  type Decision,
  type Evolvers,
  type InHandDeciders,
  nothing,
  refused,
  silent
} from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { agentOf, isEnded, iterationOf, readyFor, standing } from "./phases.ts"
import { dueHead, forgotten, isInTheWay, isRemembered, isTold, movedTo, withHead } from "./stale-heads.ts"

const attemptsLeft = (item: WorkItemState) => item.conflictReworks < item.settings.maxReworkAttempts

const givenUp = (item: WorkItemState, reason: string, dispatch: WorkItemDispatch | null = item.dispatch): Decision =>
  decided({
    _tag: "ConflictResolutionFailed",
    phase: dispatch?.phase ?? "conflict-rework",
    iteration: dispatch?.iteration ?? iterationOf(item, "conflict-rework"),
    reason,
    ...agentOf(item, dispatch)
  })

/** The item is in conflict, again or for the first time; `head`: of the pull request that is in conflict. */
export const conflicted = (
  item: WorkItemState,
  source: "merge" | "pull-request",
  reason: string,
  head: { readonly headSha?: string } = {}
): Decision =>
  attemptsLeft(item)
    ? decided({ _tag: "ConflictFound", source, reason, ...head })
    : givenUp(item, `${reason}; no attempt is left of ${item.settings.maxReworkAttempts}`)

const leftBehind = (item: WorkItemState, headSha: string): Decision =>
  conflicted(item, "pull-request", `the base of pull request ${item.pullRequest?.number ?? ""} has moved`, { headSha })

/** What was told of the item's pull request while it was in the way comes next, now that it is not. */
export const overdue = (item: WorkItemState): Decision => {
  const head = dueHead(item, attemptsLeft(item))
  return head === undefined ? nothing : leftBehind(item, head)
}

export const conflictReportDeciders = {
  "conflict-rework-ended": (item, { outcome, reason, headSha = null }, { phase }) => {
    if (phase !== "conflict-rework") return refused(item, `no conflict is being resolved in the phase ${phase}`)
    switch (outcome) {
      case "resolved":
        return decided({ _tag: "ConflictResolved", ...(headSha === null ? {} : { headSha }) })
      case "failed":
        return conflicted(item, sourceOf(item), reason ?? "the conflict was not resolved")
      case "rejected":
        return givenUp(item, reason ?? "the resolution was rejected")
    }
  }
} satisfies Partial<InHandDeciders>

// Once there is a pull request, it is what is in conflict.
const sourceOf = (item: WorkItemState) => (item.pullRequest === null ? ("merge" as const) : ("pull-request" as const))

export const conflictDeciders = {
  RouteToConflictRework: (item, { pullRequestNumber, headSha }) => {
    const { state, pullRequest } = item
    if (pullRequest === null || pullRequest.number !== pullRequestNumber) {
      return refused(item, `pull request ${pullRequestNumber} is not the item's`)
    }
    if (pullRequest.mergedSha !== null) return refused(item, `pull request ${pullRequestNumber} is merged`)
    if (isTold(item, headSha)) return nothing
    if (isInTheWay(item)) return decided({ _tag: "StaleHeadNoted", pullRequestNumber, headSha })
    // What has ended well is not made a failure for its pull request's sake.
    if (isEnded(state) && !attemptsLeft(item)) return refused(item, "no attempt at conflict rework is left")
    return leftBehind(item, headSha)
  },
  ForgetStaleHead: (item, { pullRequestNumber, headSha }) => {
    if (item.pullRequest?.number !== pullRequestNumber || !isRemembered(item, headSha)) return nothing
    return decided({ _tag: "StaleHeadForgotten", headSha })
  }
} satisfies Partial<CommandDeciders>

const unaudited: ReadonlySet<WorkItemPhase | null> = new Set<WorkItemPhase>(["work", "rework", "audit", "delegation"])

/** Nothing is merged or pushed for a conflict's sake that did not pass its audit. */
const interrupted = ({ phase }: WorkItemState): Pick<WorkItemState, "interruptedPhase"> =>
  phase === "conflict-rework" ? {} : { interruptedPhase: unaudited.has(phase) ? phase : null }

export const conflictEvolvers = {
  ConflictFound: (item, { reason, headSha }) => ({
    ...readyFor("conflict-rework"),
    ...interrupted(item),
    ...(headSha === undefined ? {} : withHead(item, headSha, false)),
    conflictReworks: item.conflictReworks + 1,
    endedAtMs: null,
    failureKind: null,
    failedAgent: null,
    lastError: reason
  }),
  // It stays in conflict rework until somebody merges or pushes again.
  ConflictResolved: (item, { headSha = null }) => ({
    ...(item.interruptedPhase == null
      ? { ...standing("ConflictRework"), phase: item.pullRequest === null ? "merge" : "upstream" }
      : readyFor(item.interruptedPhase)),
    ...movedTo(item, headSha)
  }),
  ConflictResolutionFailed: (_item, { reason }, { atMs }) => ({
    ...standing("MergeConflictResolutionFailed"),
    phase: "conflict-rework",
    endedAtMs: atMs,
    lastError: reason
  }),
  StaleHeadNoted: (item, { headSha }) => withHead(item, headSha, true),
  StaleHeadForgotten: forgotten
} satisfies Partial<Evolvers>

export const conflictEvents = {
  ConflictFound: silent,
  ConflictResolved: silent,
  StaleHeadNoted: silent,
  StaleHeadForgotten: silent,
  ConflictResolutionFailed: (item, { _tag, ...handover }, context) => [
    itemEvent(item, context, "work_item.merge_conflict_resolution_failed", {
      workItemId: context.id,
      ...handover,
      toAgent: null,
      toModel: null
    })
  ]
} satisfies Partial<EventsByFact>
