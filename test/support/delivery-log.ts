/** Lines of the delivery log, as the dispatcher writes them. */
import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { type Attempt, type AttemptOutcome, endpointIdOf } from "#webhooks/contract"
import { isoTime, subjects } from "#base"
import { attemptBatchCodec } from "#webhooks"

export const attempted = (endpoint: string, outcome: AttemptOutcome, changes: Partial<Attempt> = {}): Attempt => ({
  deliveryId: randomUUID(),
  endpoint,
  event: "queue.paused",
  sequence: 1,
  attempt: 1,
  startedAt: isoTime(1_795_176_000_000),
  durationMs: 12,
  outcome,
  status: outcome === "delivered" ? 204 : 500,
  error: null,
  responseBody: outcome === "delivered" ? "" : "no room",
  nextAttemptAt: null,
  ...changes
})

/** Writes lines of one endpoint and one outcome as one message. */
export const writeAttempts = (...lines: ReadonlyArray<Attempt>) => {
  const { endpoint = "", outcome = "failed" } = lines[0] ?? {}
  return Effect.flatMap(Publisher, (publisher) =>
    publisher.publish(subjects.attempts(endpointIdOf(endpoint), outcome), attemptBatchCodec, lines)
  )
}
