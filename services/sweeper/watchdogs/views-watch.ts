/**
 * Whether the views can be trusted to show that nothing happened. Who concludes from silence must have been able to
 * hear: views that stand still while the log goes on make every runner look dead, and after such a time runners must
 * be given the chance to be heard again. Pure.
 */
import type { ViewFreshness } from "#actors"

export interface ViewsWatch {
  readonly sequence: number
  /** Since when the views have shown what happens, without a break. */
  readonly sinceMs: number
  /** When they were last seen at the log's end, or moving on. */
  readonly freshAtMs: number
  /** At this look they were. */
  readonly isFresh: boolean
  readonly isStill: boolean
}

// A projector that dies is replaced within a lease's life; longer than this is a break.
const stillMsMin = 10_000

export const beginWatch = (nowMs: number): ViewsWatch => ({
  sequence: -1,
  sinceMs: nowMs,
  freshAtMs: nowMs,
  isFresh: false,
  isStill: false
})

export const lookAtViews = (
  before: ViewsWatch,
  { sequence, behind }: Pick<ViewFreshness, "sequence" | "behind">,
  nowMs: number
): ViewsWatch =>
  behind === 0 || sequence > before.sequence
    ? { sequence, sinceMs: before.isStill ? nowMs : before.sinceMs, freshAtMs: nowMs, isFresh: true, isStill: false }
    : { ...before, isFresh: false, isStill: before.isStill || nowMs - before.freshAtMs > stillMsMin }
