/**
 * How an item begins, stops, resumes, and leaves. The cancel event of an item that a runner has, or that waits for one,
 * carries details only if the caller gave some; from any other state it always does. A resumed item continues with the
 * phase it was interrupted in, and starts over if none is known. An item that ended long enough ago is retired.
 */
import { Result } from "effect"
import { type DecisionContext, Refusal } from "#actors/definition"
import { workBranchOf, type WorkItemCommandOf, type WorkItemFactOf, type WorkItemState } from "#pipeline/contract"
import { type Concern, decided, type Decision, itemEvent, refused, silent } from "./concern.ts"
import { isEnded, isParked, readyFor, undispatched } from "./states.ts"

export const lifetime = {
  commands: {
    Retire: (item, { endedBeforeMs }) =>
      item.endedAtMs !== null && item.endedAtMs <= endedBeforeMs
        ? decided({ _tag: "Retired" })
        : refused(item, "it has not ended long enough ago"),
    Cancel: (item, { reason, resolutionSha }) => {
      const priorState = item.state
      const isOnItsWay = !isParked(priorState) && !isEnded(priorState)
      const isDetailed = reason !== null || resolutionSha !== null || !isOnItsWay
      return decided({ _tag: "Cancelled", priorState, reason, resolutionSha, isDetailed })
    },
    Resume: (item) => decided({ _tag: "Resumed", resumedFromPhase: item.phase })
  },
  evolve: {
    Retired: () => ({}),
    // Its questions no longer need an answer; the phase is kept for resuming.
    Cancelled: (_item, _fact, { atMs }) => ({
      ...undispatched("Cancelled"),
      endedAtMs: atMs,
      openQuestions: [],
      notBeforeMs: null,
      retryAtMs: null,
      quotaResetAtMs: null
    }),
    Resumed: (item, { resumedFromPhase }) => ({
      ...(resumedFromPhase === null ? anew(item) : readyFor(resumedFromPhase)),
      endedAtMs: null
    })
  },
  events: {
    Created: silent,
    Retired: silent,
    Cancelled: (item, { priorState, reason, resolutionSha, isDetailed }, context) => [
      itemEvent(item, context, {
        event: "work_item.cancelled",
        details: isDetailed ? { priorState, reason, resolutionSha } : null
      })
    ],
    Resumed: (item, { resumedFromPhase }, context) => [
      itemEvent(item, context, {
        event: "work_item.resumed",
        details: {
          id: context.id,
          externalId: item.externalId,
          resumedFromPhase
        }
      })
    ]
  }
} satisfies Concern

export const create = (
  { _tag, workBranchPrefix, ...origin }: WorkItemCommandOf<"Create">,
  { id }: DecisionContext
): Decision => {
  const isFollowUp = origin.kind === "follow-up"
  if (isFollowUp !== (origin.originCheckWorkItemId !== null)) {
    const reason = "a follow-up, and nothing else, names the check it comes from"
    return Result.fail(new Refusal({ state: "none", reason }))
  }
  return decided({ _tag: "Created", ...origin, workBranch: workBranchOf(workBranchPrefix, id) })
}

export const created = (
  { _tag, ...origin }: WorkItemFactOf<"Created">,
  { atMs }: Pick<DecisionContext, "atMs">
): WorkItemState => ({
  ...origin,
  state: "Queued",
  phase: "work",
  dispatch: null,
  assignedAgent: null,
  lastDispatchId: null,
  createdAtMs: atMs,
  updatedAtMs: atMs,
  endedAtMs: null,
  lastError: null,
  failureKind: null,
  failedAgent: null,
  run: 1,
  auditedIterations: 0,
  upstreamPushAttempts: 0,
  conflictReworks: 0,
  recoveryAttempts: 0,
  quotaRetries: 0,
  transientRetries: 0,
  terminalFailures: 0,
  isAutoEscalated: false,
  notBeforeMs: null,
  retryAtMs: null,
  quotaResetAtMs: null,
  openQuestions: [],
  questionIds: [],
  suggestions: 0,
  pullRequest: null,
  commitSha: null,
  mergeSha: null,
  followupWorkItemId: null,
  recheckedIteration: 0,
  usage: null,
  usageTotal: null
})

const anew = (item: WorkItemState) => ({ ...readyFor("work"), run: item.run + 1, auditedIterations: 0 })
