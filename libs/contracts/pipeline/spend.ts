/**
 * The spend of projects in KV `spend`: whole micro-USD by the hour, and the last record of LOG that is counted. The
 * sweeper writes it; views of a project read it. The window is the last 720 whole hours and the present one.
 */
import { Schema } from "effect"
import { Count } from "../primitives.ts"
import { encodeToken } from "../tokens.ts"

export const spendHoursWhole = 720
const hourMs = 3_600_000

/** The hour of an instant, counted from the epoch. */
export const hourOf = (epochMs: number): number => Math.floor(epochMs / hourMs)

export const ProjectSpend = Schema.TaggedStruct("ProjectSpend", {
  projectId: Schema.String,
  /** The last record of LOG that is counted here. */
  position: Count,
  /** Hour and micro-USD; only hours with any spend. */
  hours: Schema.Array(Schema.Tuple([Count, Count]))
})
export interface ProjectSpend extends Schema.Schema.Type<typeof ProjectSpend> {}

/**
 * The record of LOG up to which everything is counted. Some projects may have a few later records counted, by their own
 * position.
 */
export const SpendCursor = Schema.TaggedStruct("SpendCursor", { position: Count })
export const SpendEntry = Schema.Union([ProjectSpend, SpendCursor])
export type SpendEntry = typeof SpendEntry.Type

export const spendCursorKey = "cursor"
/** Throws a RangeError for an id that no key can hold; `log.project.<id>` cannot hold it either. */
export const spendKey = (projectId: string): string => `project.${encodeToken(projectId)}`

/** The sum of the window that ends now, in micro-USD, capped at the largest exact integer. */
export const spentMicroUsd = (hours: Iterable<readonly [hour: number, microUsd: number]>, nowMs: number): number => {
  const present = hourOf(nowMs)
  let sum = 0
  for (const [hour, microUsd] of hours) {
    if (hour <= present && hour >= present - spendHoursWhole) sum = Math.min(sum + microUsd, Number.MAX_SAFE_INTEGER)
  }
  return sum
}
