/**
 * Heads of an item's pull request that its base has left behind. One that is told while somebody has the item, or while
 * it waits for something, is remembered and acted on as soon as neither is so; none is acted on twice, however often it
 * is told. What the work branch has moved on from is no concern any more, nor is a pull request that is closed.
 */
import { staleHeadsMax, type WorkItemFactOf, type WorkItemState } from "#contracts"
import { isEnded, isParked } from "./phases.ts"
import { transitions } from "./transitions.ts"

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
export const isTold = (item: WorkItemState, headSha: string): boolean =>
  ofItsOwn(item)?.told.some((told) => isSame(told, headSha)) === true

/** The head that is to be acted on once the item is free. */
const awaited = (item: WorkItemState): string | undefined => {
  const heads = ofItsOwn(item)
  return heads?.isAwaited === true ? heads.told[0] : undefined
}

/** Somebody has the item, it waits for something, or a conflict of it is to be resolved already. */
export const isInTheWay = ({ state, phase, dispatch }: WorkItemState): boolean =>
  dispatch !== null ||
  isParked(state) ||
  state === "Cancelled" ||
  (state === "ConflictRework" && phase === "conflict-rework")

/** The head whose turn it is, if there is one; `mayAct`: whether the item can be reworked where it has ended. */
export const dueHead = (item: WorkItemState, mayAct: boolean): string | undefined => {
  const { state, pullRequest } = item
  if (pullRequest === null || pullRequest.mergedSha !== null || isInTheWay(item)) return undefined
  if (transitions[state].RouteToConflictRework?.includes("ConflictRework") !== true) return undefined
  return isEnded(state) && !mayAct ? undefined : awaited(item)
}

/** The head is known from now on; `isAwaited`: it is still to be acted on. */
export const withHead = (item: WorkItemState, headSha: string, isAwaited: boolean): StaleHeads => {
  const { pullRequest } = item
  if (pullRequest === null) return {}
  const others = (ofItsOwn(item)?.told ?? []).filter((told) => !isSame(told, headSha))
  const told = [headSha, ...others].slice(0, staleHeadsMax)
  return { staleHeads: { pullRequestNumber: pullRequest.number, told, isAwaited } }
}

/** The work branch stands on that commit now: what was told of another is over. Null: nobody knows where it stands. */
export const movedTo = (item: WorkItemState, headSha: string | null): StaleHeads => {
  const waiting = awaited(item)
  if (waiting === undefined || item.staleHeads === undefined) return {}
  if (headSha === null) return forgotten(item, { headSha: waiting })
  return isSame(waiting, headSha) ? {} : { staleHeads: { ...item.staleHeads, isAwaited: false } }
}

/** It may be told anew. */
export const forgotten = (
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
export const isRemembered = (item: WorkItemState, headSha: string | null): boolean =>
  headSha === null ? awaited(item) !== undefined : isTold(item, headSha)
