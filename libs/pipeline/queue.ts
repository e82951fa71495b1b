/**
 * The actor of the one pickup queue. Pausing a paused queue and resuming a running one change nothing, so that its two
 * events alternate. A pause does not affect running work.
 */
import { Result, Schema } from "effect"
import type { ActorDefinition, DecisionContext, EventDraft, Projection } from "#actors/definition"
import { isoTime } from "#base"
import { type QueueCommand, QueueFact, QueueState } from "#pipeline/contract"

/** Null: it has never been paused. */
export const queue: ActorDefinition<QueueState | null, QueueCommand, QueueFact> = {
  entity: "queue",
  state: Schema.NullOr(QueueState),
  fact: QueueFact,
  initial: null,
  stateVersion: 1,
  decide: (state, command) => {
    const isPaused = state !== null && state.pause !== null
    if (command._tag === "Pause") return Result.succeed(isPaused ? [] : [{ ...command, _tag: "Paused" }])
    return Result.succeed(isPaused ? [{ ...command, _tag: "Resumed" }] : [])
  },
  evolve: (state, fact, { atMs }) => ({
    pause: fact._tag === "Paused" ? { reason: fact.reason, pausedBy: fact.pausedBy, pausedAtMs: atMs } : null,
    createdAtMs: state?.createdAtMs ?? atMs,
    updatedAtMs: atMs
  }),
  toEvents: (_state, fact, context) => [draft(fact, context)]
}

const draft = (fact: QueueFact, { atMs }: DecisionContext): EventDraft => {
  const nobodys = { workItem: null, project: null }
  return fact._tag === "Paused"
    ? {
        event: "queue.paused",
        ...nobodys,
        details: { pausedAt: isoTime(atMs), reason: fact.reason, pausedBy: fact.pausedBy }
      }
    : { event: "queue.resumed", ...nobodys, details: { resumedAt: isoTime(atMs) } }
}

/** `Running` or `Paused`. */
export const queueProjection: Projection<QueueState | null> = {
  entity: "queue",
  state: Schema.NullOr(QueueState),
  show: (queue) =>
    queue === null
      ? undefined
      : {
          project: null,
          state: queue.pause === null ? "Running" : "Paused",
          createdAtMs: queue.createdAtMs,
          updatedAtMs: queue.updatedAtMs,
          deadlinesMs: {},
          summary: { pause: queue.pause }
        }
}
