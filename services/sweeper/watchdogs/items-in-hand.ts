/** The items that runners have in hand, as the views show them, and how long a runner may be silent. */
import type { Views } from "#actors"
import type { Pipeline } from "#contracts"
import { readWorkItems, type SeenWorkItem } from "../view-summaries.ts"

/** Whoever was heard of at any time up to now. */
export const itemsInHand = (views: Views["Service"], nowMs: number): ReadonlyArray<SeenWorkItem> =>
  readWorkItems(views.due("workitem", "lastProgress", nowMs))

export const silenceOf = (pipeline: Pick<Pipeline, "ProgressSeconds" | "ProgressTimeoutSeconds">) => ({
  progressMs: pipeline.ProgressSeconds * 1_000,
  timeoutMs: pipeline.ProgressTimeoutSeconds * 1_000
})
