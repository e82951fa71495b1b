/** The pickup queue as lists see it: `Running` or `Paused`. */
import { Schema } from "effect"
import type { Projection } from "#actors/definition"
import { QueueState } from "#contracts"

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
