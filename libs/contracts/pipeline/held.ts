/**
 * Whether a dispatch still holds: a runner asks on `pickup.held` while it works, for nobody can call it. An item that
 * was cancelled, retired, or given to somebody else because this runner was silent, is not its any more: it stops, and
 * what it still reports counts as cost alone.
 */
import { Schema } from "effect"
import { Count, Id, Uuid } from "../primitives.ts"
import { WorkItemStateName } from "./work-item-state.ts"

export const HeldQuestion = Schema.Struct({ workItemId: Uuid, dispatchId: Id }).annotate({ identifier: "HeldQuestion" })
export interface HeldQuestion extends Schema.Schema.Type<typeof HeldQuestion> {}

export const HeldAnswer = Schema.TaggedUnion({
  Held: {},
  /** `state`: the item's; null: there is no such item any more. */
  Over: { state: Schema.NullOr(WorkItemStateName) },
  /** The log cannot be read just now: go on, and ask again. */
  Busy: { retryAfterMs: Count }
}).annotate({ identifier: "HeldAnswer" })
export type HeldAnswer = typeof HeldAnswer.Type
