/**
 * Conflict rework: rebase, let an agent resolve, then merge or push again. An item gets there from a merge in
 * conflict or from a pull request that its base has left behind, as often as the project allows; beyond that, or when
 * a resolution is rejected by host verification or the scope fence, it ends. Of the way in and out there is no event:
 * the next phase tells of itself.
 */
import type { WorkItemDispatch, WorkItemState } from "#contracts"
import {
  type Announcers,
  type CommandDeciders,
  decided,
  type Decision,
  type Evolvers,
  type InHandDeciders,
  refused,
  silent
} from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { agentOf, isEnded, iterationOf, readyFor, standing } from "./phases.ts"

const attemptsLeft = (item: WorkItemState) => item.conflictReworks < item.settings.maxReworkAttempts

const givenUp = (item: WorkItemState, reason: string, dispatch: WorkItemDispatch | null = item.dispatch): Decision =>
  decided({
    _tag: "ConflictResolutionFailed",
    phase: dispatch?.phase ?? "conflict-rework",
    iteration: dispatch?.iteration ?? iterationOf(item, "conflict-rework"),
    reason,
    ...agentOf(item, dispatch)
  })

/** The item is in conflict, again or for the first time. */
export const conflicted = (item: WorkItemState, source: "merge" | "pull-request", reason: string): Decision =>
  attemptsLeft(item)
    ? decided({ _tag: "ConflictFound", source, reason })
    : givenUp(item, `${reason}; no attempt is left of ${item.settings.maxReworkAttempts}`)

export const conflictReportDeciders = {
  "conflict-rework-ended": (item, { outcome, reason }, { phase }) => {
    if (phase !== "conflict-rework") return refused(item, `no conflict is being resolved in the phase ${phase}`)
    switch (outcome) {
      case "resolved":
        return decided({ _tag: "ConflictResolved" })
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
  RouteToConflictRework: (item, { pullRequestNumber }) => {
    const { state, pullRequest, dispatch } = item
    if (pullRequest === null || pullRequest.number !== pullRequestNumber) {
      return refused(item, `pull request ${pullRequestNumber} is not the item's`)
    }
    if (pullRequest.mergedSha !== null) return refused(item, `pull request ${pullRequestNumber} is merged`)
    if (dispatch !== null) return refused(item, "a runner has it")
    // What has ended well is not made a failure for its pull request's sake.
    if (isEnded(state) && !attemptsLeft(item)) return refused(item, "no attempt at conflict rework is left")
    return conflicted(item, "pull-request", `the base of pull request ${pullRequestNumber} has moved`)
  }
} satisfies Partial<CommandDeciders>

export const conflictEvolvers = {
  ConflictFound: (item, { reason }) => ({
    ...readyFor("conflict-rework"),
    conflictReworks: item.conflictReworks + 1,
    endedAtMs: null,
    failureKind: null,
    failedAgent: null,
    lastError: reason
  }),
  // It stays in conflict rework until somebody merges or pushes again.
  ConflictResolved: (item) => ({
    ...standing("ConflictRework"),
    phase: item.pullRequest === null ? "merge" : "upstream"
  }),
  ConflictResolutionFailed: (_item, { reason }, { atMs }) => ({
    ...standing("MergeConflictResolutionFailed"),
    phase: "conflict-rework",
    endedAtMs: atMs,
    lastError: reason
  })
} satisfies Partial<Evolvers>

export const conflictAnnouncers = {
  ConflictFound: silent,
  ConflictResolved: silent,
  ConflictResolutionFailed: (item, { _tag, ...handover }, context) => [
    itemEvent(item, context, "work_item.merge_conflict_resolution_failed", {
      workItemId: context.id,
      ...handover,
      toAgent: null,
      toModel: null
    })
  ]
} satisfies Partial<Announcers>
