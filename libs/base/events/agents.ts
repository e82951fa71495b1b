/** Events of agents, of the pickup queue and of the quota adviser. */
import { Schema } from "effect"
import { fields, fleetEvent } from "./declaration.ts"
import { Holds } from "./entities.ts"
import { Count, Id, Timestamp } from "../primitives.ts"

const session = fields({ workItemId: Id, sessionId: Schema.String, error: Schema.String })
const agent = { agent: Schema.String, agentInstanceId: Schema.NullOr(Schema.String) }
const maybeTimestamp = Schema.NullOr(Timestamp)
// All remaining holds on the agent's new work. Since 1.2.
const whatHolds = Schema.optionalKey(Holds)

export const agentEvents = [
  fleetEvent("agent.smoke_failed", "an agent failed its credential test, or was benched at run time", {
    workItem: "either",
    project: "either",
    details: fields({
      agentKind: Schema.String,
      reason: Schema.NullOr(Schema.String),
      category: Schema.Literals(["Persistent", "Transient", "Unknown"]),
      occurredAt: Timestamp
    })
  }),
  fleetEvent("agent.smoke_recovered", "a benched agent passed a later test and takes work again", { details: "open" }),
  fleetEvent("agent.paused", "an operator stopped new work for an agent kind or one instance", {
    details: fields({
      ...agent,
      reason: Schema.String,
      pausedAt: Timestamp,
      pausedBy: Schema.String,
      expiresAt: maybeTimestamp
    })
  }),
  fleetEvent(
    "agent.resumed",
    "an operator's pause of an agent is over; it takes new work again unless something else holds it",
    {
      details: fields({
        ...agent,
        resumedAt: Timestamp,
        resumedBy: Schema.String,
        reason: Schema.NullOr(Schema.String),
        holds: whatHolds
      })
    }
  ),
  fleetEvent("agent.restore_requeue_swept", "an agent came back and its failed items were looked through", {
    details: fields({
      reason: Schema.Literal("agent_restore"),
      restoredAgent: Schema.String,
      outageStartedAt: maybeTimestamp,
      restoredAt: Timestamp,
      requeued: Count,
      skipped: Count
    })
  }),
  fleetEvent("agent.provider_session_suspend_failed", "an agent's session could not suspend its machine", {
    details: session
  }),
  fleetEvent("agent.provider_session_close_failed", "an agent's session could not be closed", { details: session }),
  fleetEvent("queue.paused", "an operator paused the pickup queue", {
    details: fields({ pausedAt: Timestamp, reason: Schema.String, pausedBy: Schema.String })
  }),
  fleetEvent("queue.resumed", "an operator resumed the pickup queue", { details: fields({ resumedAt: Timestamp }) }),
  fleetEvent("quota.reset_optimal", "spending an agent's banked quota now is best; only a report", {
    usageIsNull: true,
    details: fields({
      agent: Schema.String,
      reason: Schema.Literal("SpendBeforeDeadline"),
      bankedCredits: Schema.NullOr(Schema.Int),
      optimalUntil: Timestamp,
      optimalFrom: maybeTimestamp,
      predictedNaturalReset: maybeTimestamp,
      decisionDeadline: maybeTimestamp,
      nextCreditExpiresAt: maybeTimestamp,
      nextCreditIsEstimated: Schema.Boolean,
      usableQuotaPct: Schema.NullOr(Schema.Finite)
    })
  })
]
