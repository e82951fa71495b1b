/**
 * Cancel and resume. An item that a runner has, or that waits for one, is cancelled without details unless the caller
 * gave some; from anywhere else the details are told. A resumed item takes up the phase it was interrupted in, and
 * begins anew where none is known.
 */
import type { WorkItemState } from "#contracts"
import { type EventsByFact, type CommandDeciders, decided, type Evolvers } from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { isEnded, isParked, readyFor, standing } from "./phases.ts"

export const cancellationDeciders = {
  Cancel: (item, { reason, resolutionSha }) => {
    const priorState = item.state
    const isOnItsWay = !isParked(priorState) && !isEnded(priorState)
    const isDetailed = reason !== null || resolutionSha !== null || !isOnItsWay
    return decided({ _tag: "Cancelled", priorState, reason, resolutionSha, isDetailed })
  },
  Resume: (item) => decided({ _tag: "Resumed", resumedFromPhase: item.phase })
} satisfies Partial<CommandDeciders>

const anew = (item: WorkItemState) => ({ ...readyFor("work"), run: item.run + 1, auditedIterations: 0 })

export const cancellationEvolvers = {
  // Its questions are nobody's any more; the phase is kept to be resumed.
  Cancelled: (_item, _fact, { atMs }) => ({
    ...standing("Cancelled"),
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
} satisfies Partial<Evolvers>

export const cancellationEvents = {
  Cancelled: (item, { priorState, reason, resolutionSha, isDetailed }, context) => [
    itemEvent(item, context, "work_item.cancelled", isDetailed ? { priorState, reason, resolutionSha } : null)
  ],
  Resumed: (item, { resumedFromPhase }, context) => [
    itemEvent(item, context, "work_item.resumed", {
      id: context.id,
      externalId: item.externalId,
      resumedFromPhase
    })
  ]
} satisfies Partial<EventsByFact>
