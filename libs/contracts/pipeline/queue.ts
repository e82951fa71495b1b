/**
 * The pickup queue, of which there is one: `global`. While it is paused nothing is given to runners; what runs is
 * left alone. Commands, facts and state together, for there is little of each.
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
  /** While it is paused already: nothing. */
  Pause: Schema.TaggedStruct("Pause", pause),
  /** While it is not paused: nothing. */
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
  /** Null: it runs. */
  pause: Schema.NullOr(Schema.Struct({ ...pause, pausedAtMs: EpochMs })),
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs
}).annotate({ identifier: "QueueState" })
export interface QueueState extends Schema.Schema.Type<typeof QueueState> {}
