/** The pickup queue as the API shows it. Pure. */
import type { QueueState, QueueView } from "#contracts"
import { maybeTime } from "./values.ts"

/** `queue` null: nobody has ever paused it. */
export const queueView = (queue: QueueState | null, sequence: number): QueueView => {
  const pause = queue?.pause ?? null
  return {
    state: pause === null ? "Running" : "Paused",
    reason: pause?.reason ?? null,
    pausedBy: pause?.pausedBy ?? null,
    pausedAt: maybeTime(pause?.pausedAtMs ?? null),
    sequence
  }
}
