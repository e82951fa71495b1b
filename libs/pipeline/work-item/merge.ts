/**
 * From an audited branch to upstream. A merge into the base branch succeeds, fails, or hits a conflict, which is a
 * concern of its own. A failed push is retried after a wait, as often as the project allows, the first try included. A
 * hosted forge can make a pull request of it, which is merged only if the project says so.
 *
 * Conflict rework: rebase, let an agent resolve, then merge or push again. A merge in conflict leads there, and so does
 * a pull request whose base has moved on, whatever the item is doing. The project limits how often. Beyond the limit
 * the item ends; it also ends when host verification or the scope fence rejects a resolution. Neither entering nor
 * leaving has an event: the next phase has its own.
 */
import {
  staleHeadsMax,
  type WorkItemDispatch,
  type WorkItemFactOf,
  type WorkItemPhase,
  type WorkItemState
} from "#pipeline/contract"
import { type Concern, decided, type Decision, itemEvent, nothing, refused, silent } from "./concern.ts"
import { branches } from "./dispatch.ts"
import { failing } from "./failures.ts"
import { agentOf, isEnded, isParked, iterationOf, readyFor, undispatched, transitions } from "./states.ts"
import { backoffMs } from "./waits.ts"

export const merge = {
  reports: {
    "merge-ended": (item, { outcome, mergeSha, reason }, { dispatch: { phase } }) => {
      if (phase !== "merge") return refused(item, `no merge is under way in the phase ${phase}`)
      switch (outcome) {
        case "merged":
          return decided({ _tag: "Merged", mergeSha })
        case "conflict":
          return conflicted(item, { source: "merge", reason: reason ?? "the branches are in conflict" })
        case "failed":
          return decided(...failing(item, reason ?? "the merge failed", "merge"))
      }
    },
    "pull-request-opened": (item, { pullRequestNumber, pullRequestUrl, mergedSha }, { dispatch: { phase } }) => {
      if (phase !== "upstream") return refused(item, `nothing is being pushed in the phase ${phase}`)
      const known = item.pullRequest
      const merged = item.settings.autoMerge ? mergedSha : null
      if (known?.number === pullRequestNumber && known.mergedSha === merged) return nothing
      return decided({ _tag: "PullRequestOpened", pullRequestNumber, pullRequestUrl, mergedSha: merged })
    },
    "push-ended": (item, { outcome, reason }, { dispatch: { phase }, atMs, jitter }) => {
      if (phase !== "upstream") return refused(item, `nothing is being pushed in the phase ${phase}`)
      if (outcome === "pushed") return decided({ _tag: "Completed" })
      const error = reason ?? "the push failed"
      const { maxUpstreamPushAttempts, transientBackoff } = item.settings
      const attempts = item.upstreamPushAttempts
      if (attempts >= maxUpstreamPushAttempts) return decided(...failing(item, error, "upstream"))
      const notBeforeMs = atMs + backoffMs(transientBackoff, attempts, jitter)
      return decided({ _tag: "PushFailed", reason: error, notBeforeMs })
    }
  },
  evolve: {
    Merged: (_item, { mergeSha }) => ({ ...readyFor("upstream"), mergeSha }),
    PullRequestOpened: (_item, { pullRequestNumber, pullRequestUrl, mergedSha }) => ({
      pullRequest: { number: pullRequestNumber, url: pullRequestUrl, mergedSha }
    }),
    PushFailed: (_item, { reason, notBeforeMs }) => ({ ...readyFor("upstream"), lastError: reason, notBeforeMs })
  },
  events: {
    Merged: (item, { mergeSha }, context) => [
      itemEvent(item, context, { event: "merge.completed", details: { ...branches(item, context.id), mergeSha } }),
      itemEvent(item, context, { event: "work_item.merged" })
    ],
    PullRequestOpened: (item, { _tag, ...details }, context) => [
      itemEvent(item, context, {
        event: "work_item.pull_request_opened",
        details: {
          workBranch: item.workBranch,
          baseBranch: item.baseBranch,
          ...details
        }
      })
    ],
    PushFailed: silent
  }
} satisfies Concern

export const conflicts = {
  commands: {
    RouteToConflictRework: (item, { pullRequestNumber, headSha }) => {
      const { state, pullRequest } = item
      if (pullRequest === null || pullRequest.number !== pullRequestNumber) {
        return refused(item, `pull request ${pullRequestNumber} is not the item's`)
      }
      if (pullRequest.mergedSha !== null) return refused(item, `pull request ${pullRequestNumber} is merged`)
      if (isKnownStale(item, headSha)) return nothing
      if (isInTheWay(item)) return decided({ _tag: "StaleHeadNoted", pullRequestNumber, headSha })
      // An item that ended well does not fail because of its pull request.
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
          return mergeFailed(item, reason ?? "the resolution was rejected")
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
    // The item stays in conflict rework until a runner merges or pushes again.
    ConflictResolved: (item, { headSha = null }) => ({
      ...(item.interruptedPhase == null
        ? { ...undispatched("ConflictRework"), phase: item.pullRequest === null ? "merge" : "upstream" }
        : readyFor(item.interruptedPhase)),
      ...movedTo(item, headSha)
    }),
    ConflictResolutionFailed: (_item, { reason }, { atMs }) => ({
      ...undispatched("MergeConflictResolutionFailed"),
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

const mergeFailed = (
  item: WorkItemState,
  reason: string,
  dispatch: WorkItemDispatch | null = item.dispatch
): Decision =>
  decided({
    _tag: "ConflictResolutionFailed",
    phase: dispatch?.phase ?? "conflict-rework",
    iteration: dispatch?.iteration ?? iterationOf(item, "conflict-rework"),
    reason,
    ...agentOf(item, dispatch)
  })

/** The item is in conflict, again or for the first time. `headSha`: the head of the pull request that conflicts. */
export const conflicted = (item: WorkItemState, conflict: Omit<WorkItemFactOf<"ConflictFound">, "_tag">): Decision =>
  attemptsLeft(item)
    ? decided({ _tag: "ConflictFound", ...conflict })
    : mergeFailed(item, `${conflict.reason}; no attempt is left of ${item.settings.maxReworkAttempts}`)

const leftBehind = (item: WorkItemState, headSha: string): Decision =>
  conflicted(item, {
    source: "pull-request",
    reason: `the base of pull request ${item.pullRequest?.number ?? ""} has moved`,
    headSha
  })

/** The rework of a head that was reported while the item was busy, now that it is free. */
export const overdue = (item: WorkItemState): Decision => {
  const head = dueHead(item, attemptsLeft(item))
  return head === undefined ? nothing : leftBehind(item, head)
}

// Once there is a pull request, the conflict is the pull request's.
const sourceOf = (item: WorkItemState) => (item.pullRequest === null ? ("merge" as const) : ("pull-request" as const))

const unaudited: ReadonlySet<WorkItemPhase | null> = new Set<WorkItemPhase>(["work", "rework", "audit", "delegation"])

/**
 * An interrupted phase before the audit is kept: work that has not passed its audit is never merged or pushed to
 * resolve a conflict.
 */
const interrupted = ({ phase }: WorkItemState): Pick<WorkItemState, "interruptedPhase"> =>
  phase === "conflict-rework" ? {} : { interruptedPhase: unaudited.has(phase) ? phase : null }

// Stale heads: commits of the item's pull request whose base has moved on. A head reported while a runner has the item,
// or while the item waits for something, is remembered until the item is free. No head is acted on twice, however often
// it is reported. Heads that the work branch has moved past, and those of a closed pull request, are dropped.

type StaleHeads = Pick<WorkItemState, "staleHeads">

/** Either commit name may be abbreviated. */
const isSame = (one: string, other: string) => {
  const [left, right] = [one.toLowerCase(), other.toLowerCase()]
  return left.startsWith(right) || right.startsWith(left)
}

/** The heads of the item's current pull request. */
const ofItsOwn = ({ staleHeads, pullRequest }: WorkItemState) =>
  staleHeads?.pullRequestNumber === pullRequest?.number ? staleHeads : undefined

/** The head is known to be stale, whether it was acted on or still waits. */
const isKnownStale = (item: WorkItemState, headSha: string): boolean =>
  ofItsOwn(item)?.told.some((known) => isSame(known, headSha)) === true

/** The head that waits until the item is free. */
const awaited = (item: WorkItemState): string | undefined => {
  const heads = ofItsOwn(item)
  return heads?.isAwaited === true ? heads.told[0] : undefined
}

/** A runner has the item, it waits for something, or it is in conflict rework already. */
const isInTheWay = ({ state, phase, dispatch }: WorkItemState): boolean =>
  dispatch !== null ||
  isParked(state) ||
  state === "Cancelled" ||
  (state === "ConflictRework" && phase === "conflict-rework")

/** The head to act on now, if any. `mayAct`: an ended item can still be reworked. */
const dueHead = (item: WorkItemState, mayAct: boolean): string | undefined => {
  const { state, pullRequest } = item
  if (pullRequest === null || pullRequest.mergedSha !== null || isInTheWay(item)) return undefined
  if (transitions[state].RouteToConflictRework?.includes("ConflictRework") !== true) return undefined
  return isEnded(state) && !mayAct ? undefined : awaited(item)
}

/** Adds the head to the known ones. `isAwaited`: it still waits for its rework. */
const withHead = (item: WorkItemState, headSha: string, isAwaited: boolean): StaleHeads => {
  const { pullRequest } = item
  if (pullRequest === null) return {}
  const others = (ofItsOwn(item)?.told ?? []).filter((known) => !isSame(known, headSha))
  const told = [headSha, ...others].slice(0, staleHeadsMax)
  return { staleHeads: { pullRequestNumber: pullRequest.number, told, isAwaited } }
}

/** The work branch is now at that commit, so every other stale head is obsolete. Null: the commit is unknown. */
export const movedTo = (item: WorkItemState, headSha: string | null): StaleHeads => {
  const waiting = awaited(item)
  if (waiting === undefined || item.staleHeads === undefined) return {}
  if (headSha === null) return forgotten(item, { headSha: waiting })
  return isSame(waiting, headSha) ? {} : { staleHeads: { ...item.staleHeads, isAwaited: false } }
}

/** Forgets the head, so that it can be reported again. */
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
  headSha === null ? awaited(item) !== undefined : isKnownStale(item, headSha)
