/**
 * Conflict rework: rebase, let an agent resolve, then merge or push again. A merge in conflict brings an item there,
 * and so does a pull request that its base has left behind, whatever the item is at. The project limits how often.
 * Beyond the limit the item ends; it also ends when host verification or the scope fence rejects a resolution.
 * Neither the way in nor the way out has an event: the next phase has its own.
 */
import {
  staleHeadsMax,
  type WorkItemDispatch,
  type WorkItemFactOf,
  type WorkItemPhase,
  type WorkItemState
} from "#contracts"
import { type Concern, decided, type Decision, itemEvent, nothing, refused, silent } from "./concern.ts"
import { agentOf, isEnded, isParked, iterationOf, readyFor, standing, transitions } from "./states.ts"

export const conflicts = {
  commands: {
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
  },
  reports: {
    "conflict-rework-ended": (item, { outcome, reason, headSha = null }, { dispatch: { phase } }) => {
      if (phase !== "conflict-rework") return refused(item, `no conflict is being resolved in the phase ${phase}`)
      switch (outcome) {
        case "resolved":
          return decided({ _tag: "ConflictResolved", ...(headSha === null ? {} : { headSha }) })
        case "failed":
          return conflicted(item, { source: sourceOf(item), reason: reason ?? "the conflict was not resolved" })
        case "rejected":
          return givenUp(item, reason ?? "the resolution was rejected")
      }
    }
  },
  evolve: {
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
    StaleHeadForgotten: (item, fact) => forgotten(item, fact)
  },
  events: {
    ConflictFound: silent,
    ConflictResolved: silent,
    StaleHeadNoted: silent,
    StaleHeadForgotten: silent,
    ConflictResolutionFailed: (item, { _tag, ...handover }, context) => [
      itemEvent(item, context, {
        event: "work_item.merge_conflict_resolution_failed",
        details: {
          workItemId: context.id,
          ...handover,
          toAgent: null,
          toModel: null
        }
      })
    ]
  }
} satisfies Concern

const attemptsLeft = (item: WorkItemState) => item.conflictReworks < item.settings.maxReworkAttempts

const givenUp = (item: WorkItemState, reason: string, dispatch: WorkItemDispatch | null = item.dispatch): Decision =>
  decided({
    _tag: "ConflictResolutionFailed",
    phase: dispatch?.phase ?? "conflict-rework",
    iteration: dispatch?.iteration ?? iterationOf(item, "conflict-rework"),
    reason,
    ...agentOf(item, dispatch)
  })

/** The item is in conflict, again or for the first time; `headSha`: of the pull request that is in conflict. */
export const conflicted = (item: WorkItemState, conflict: Omit<WorkItemFactOf<"ConflictFound">, "_tag">): Decision =>
  attemptsLeft(item)
    ? decided({ _tag: "ConflictFound", ...conflict })
    : givenUp(item, `${conflict.reason}; no attempt is left of ${item.settings.maxReworkAttempts}`)

const leftBehind = (item: WorkItemState, headSha: string): Decision =>
  conflicted(item, {
    source: "pull-request",
    reason: `the base of pull request ${item.pullRequest?.number ?? ""} has moved`,
    headSha
  })

/** A head that was reported while the item was busy comes next, now that it is free. */
export const overdue = (item: WorkItemState): Decision => {
  const head = dueHead(item, attemptsLeft(item))
  return head === undefined ? nothing : leftBehind(item, head)
}

// Once there is a pull request, it is what is in conflict.
const sourceOf = (item: WorkItemState) => (item.pullRequest === null ? ("merge" as const) : ("pull-request" as const))

const unaudited: ReadonlySet<WorkItemPhase | null> = new Set<WorkItemPhase>(["work", "rework", "audit", "delegation"])

/** Nothing is merged or pushed for a conflict's sake that did not pass its audit. */
const interrupted = ({ phase }: WorkItemState): Pick<WorkItemState, "interruptedPhase"> =>
  phase === "conflict-rework" ? {} : { interruptedPhase: unaudited.has(phase) ? phase : null }

// Stale heads: commits of the item's pull request that its base has left behind. One that is reported while somebody
// has the item, or while it waits for something, is remembered until the item is free; none is acted on twice, however
// often it is reported. Heads that the work branch has moved on from, and those of a closed pull request, are dropped.

type StaleHeads = Pick<WorkItemState, "staleHeads">

/** Names of commits may be cut short. */
const isSame = (one: string, other: string) => {
  const [left, right] = [one.toLowerCase(), other.toLowerCase()]
  return left.startsWith(right) || right.startsWith(left)
}

/** Of the pull request that the item has now. */
const ofItsOwn = ({ staleHeads, pullRequest }: WorkItemState) =>
  staleHeads?.pullRequestNumber === pullRequest?.number ? staleHeads : undefined

/** That the head was left behind is known already, whether it was acted on or is yet to be. */
const isTold = (item: WorkItemState, headSha: string): boolean =>
  ofItsOwn(item)?.told.some((told) => isSame(told, headSha)) === true

/** The head that is to be acted on once the item is free. */
const awaited = (item: WorkItemState): string | undefined => {
  const heads = ofItsOwn(item)
  return heads?.isAwaited === true ? heads.told[0] : undefined
}

/** Somebody has the item, it waits for something, or a conflict of it is to be resolved already. */
const isInTheWay = ({ state, phase, dispatch }: WorkItemState): boolean =>
  dispatch !== null ||
  isParked(state) ||
  state === "Cancelled" ||
  (state === "ConflictRework" && phase === "conflict-rework")

/** The head whose turn it is, if there is one; `mayAct`: whether the item can be reworked where it has ended. */
const dueHead = (item: WorkItemState, mayAct: boolean): string | undefined => {
  const { state, pullRequest } = item
  if (pullRequest === null || pullRequest.mergedSha !== null || isInTheWay(item)) return undefined
  if (transitions[state].RouteToConflictRework?.includes("ConflictRework") !== true) return undefined
  return isEnded(state) && !mayAct ? undefined : awaited(item)
}

/** The head is known from now on; `isAwaited`: it is still to be acted on. */
const withHead = (item: WorkItemState, headSha: string, isAwaited: boolean): StaleHeads => {
  const { pullRequest } = item
  if (pullRequest === null) return {}
  const others = (ofItsOwn(item)?.told ?? []).filter((told) => !isSame(told, headSha))
  const told = [headSha, ...others].slice(0, staleHeadsMax)
  return { staleHeads: { pullRequestNumber: pullRequest.number, told, isAwaited } }
}

/** The work branch stands on that commit now: another stale head is over. Null: nobody knows where it stands. */
export const movedTo = (item: WorkItemState, headSha: string | null): StaleHeads => {
  const waiting = awaited(item)
  if (waiting === undefined || item.staleHeads === undefined) return {}
  if (headSha === null) return forgotten(item, { headSha: waiting })
  return isSame(waiting, headSha) ? {} : { staleHeads: { ...item.staleHeads, isAwaited: false } }
}

/** It may be told anew. */
const forgotten = (
  { staleHeads }: WorkItemState,
  { headSha }: Pick<WorkItemFactOf<"StaleHeadForgotten">, "headSha">
): StaleHeads => {
  if (staleHeads === undefined) return {}
  const { told, isAwaited } = staleHeads
  if (headSha === null) return { staleHeads: { ...staleHeads, isAwaited: false } }
  const others = told.filter((head) => !isSame(head, headSha))
  const isNewest = told[0] !== undefined && isSame(told[0], headSha)
  return { staleHeads: { ...staleHeads, told: others, isAwaited: isAwaited && !isNewest } }
}

/** Whether forgetting it changes anything. */
const isRemembered = (item: WorkItemState, headSha: string | null): boolean =>
  headSha === null ? awaited(item) !== undefined : isTold(item, headSha)
