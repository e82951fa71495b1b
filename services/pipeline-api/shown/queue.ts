/** The pickup queue as the API shows it. Pure. */
import { type Hold, isoTime, type QueueState, type QueueView } from "#contracts"
import { maybeTime } from "./values.ts"

/** `queue` null: nobody has ever paused it. */
export const queueView = (queue: QueueState | null, sequence: number): QueueView => {
  const pause = queue?.pause ?? null
  return {
    state: pause === null ? "Running" : "Paused",
    holds: pause === null ? [] : [holdOf(pause)],
    reason: pause?.reason ?? null,
    pausedBy: pause?.pausedBy ?? null,
    pausedAt: maybeTime(pause?.pausedAtMs ?? null),
    sequence
  }
}

const holdOf = ({ reason, pausedBy, pausedAtMs }: NonNullable<QueueState["pause"]>): Hold => ({
  cause: "manual",
  reason,
  pausedBy,
  since: isoTime(pausedAtMs),
  until: null
})
