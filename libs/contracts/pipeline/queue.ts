/**
 * The pickup queue, of which there is one: `global`. While it is paused runners get nothing new; runs in hand go on.
 * Its commands, facts and state share this file because each is small.
 */
import { Schema } from "effect"
import { EpochMs, Id, text } from "../primitives.ts"

export const queueId = "global"

/** The reason for the pause of a queue or an agent. */
export const pauseReasonCharactersMax = 500
export const PauseReason = text(pauseReasonCharactersMax)

const pause = { reason: PauseReason, pausedBy: Id }
const resume = { resumedBy: Id }

const queueCommands = {
  /** Does nothing to a paused queue. */
  Pause: Schema.TaggedStruct("Pause", pause),
  /** Does nothing to a running queue. */
  Resume: Schema.TaggedStruct("Resume", resume)
}
export const QueueCommand = Schema.Union(Object.values(queueCommands))
export type QueueCommand = typeof QueueCommand.Type

const queueFacts = {
  Paused: Schema.TaggedStruct("Paused", pause),
  Resumed: Schema.TaggedStruct("Resumed", resume)
}
export const QueueFact = Schema.Union(Object.values(queueFacts))
export type QueueFact = typeof QueueFact.Type

export const QueueState = Schema.Struct({
  /** Null: the queue runs. */
  pause: Schema.NullOr(Schema.Struct({ ...pause, pausedAtMs: EpochMs })),
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs
}).annotate({ identifier: "QueueState" })
export interface QueueState extends Schema.Schema.Type<typeof QueueState> {}
