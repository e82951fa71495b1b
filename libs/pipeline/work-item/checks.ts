/**
 * Check and act. A check changes nothing: it ends with a verdict, and one that matched asks for a follow-up item,
 * which whoever follows the log creates. After the follow-up's act the check is made once more, and its answer told
 * once per iteration.
 */
import {
  type EventsByFact,
  decided,
  type Evolvers,
  type InHandDeciders,
  nothing,
  type OtherDeciders,
  refused
} from "./decisions.ts"
import { itemEvent } from "./envelope.ts"

export const verdictDeciders = {
  "check-verdict": (item, { isMatched, answer, followUp }, { phase }, { freshWorkItemId }) => {
    if (item.kind !== "check") return refused(item, "it is not a check")
    if (phase !== "work" && phase !== "delegation") return refused(item, `a check has no verdict in the phase ${phase}`)
    if (!isMatched) return decided({ _tag: "EndedWithoutAction" })
    const { title, instructions } = followUp ?? item
    const asked = { followupWorkItemId: freshWorkItemId, title, instructions, answer }
    return decided({ _tag: "FollowUpAsked", ...asked }, { _tag: "Completed" })
  }
} satisfies Partial<InHandDeciders>

export const recheckDeciders = {
  "recheck-completed": (item, { iteration, answer, actionableAnswer }) => {
    const { originCheckWorkItemId } = item
    if (originCheckWorkItemId === null) return refused(item, "it follows from no check")
    if (iteration <= item.recheckedIteration) return nothing
    return decided({ _tag: "RecheckCompleted", iteration, answer, actionableAnswer, originCheckWorkItemId })
  }
} satisfies Partial<OtherDeciders>

export const checkEvolvers = {
  FollowUpAsked: (_item, { followupWorkItemId }) => ({ followupWorkItemId }),
  RecheckCompleted: (_item, { iteration }) => ({ recheckedIteration: iteration })
} satisfies Partial<Evolvers>

export const checkEvents = {
  FollowUpAsked: (item, { followupWorkItemId }, context) => [
    itemEvent(item, context, "work_item.check_followup_enqueued", {
      originCheckWorkItemId: context.id,
      followupWorkItemId
    })
  ],
  RecheckCompleted: (item, { _tag, ...details }, context) => [
    itemEvent(item, context, "work_item.post_act_recheck_completed", details)
  ]
} satisfies Partial<EventsByFact>
