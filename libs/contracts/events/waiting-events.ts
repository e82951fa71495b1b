/** Events of an item that waits: for an operator, an agent, a retry or a quota; and what agents suggest. */
import { Schema } from "effect"
import { Count, Id, text, Timestamp } from "../primitives.ts"
import { fields, fleetEvent, itemEvent } from "./declaration.ts"

export const suggestionTitleCharactersMax = 120
export const questionTextCharactersMax = 4_000
export const QuestionId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u))

/** A phase moved from one member of an agent class to another; nobody to move to is null. */
const fallback = fields({
  workItemId: Id,
  phase: Schema.String,
  iteration: Count,
  reason: Schema.String,
  fromAgent: Schema.String,
  fromModel: Schema.NullOr(Schema.String),
  toAgent: Schema.NullOr(Schema.String),
  toModel: Schema.NullOr(Schema.String)
})

export const waitingEvents = [
  itemEvent("work_item.suggestion", "the agent made a suggestion; one event for each", {
    details: fields({
      id: Id,
      title: text(suggestionTitleCharactersMax),
      category: Schema.Literals(["test-coverage", "refactor", "dead-code", "security", "dependency", "docs", "other"]),
      severity: Schema.Literals(["minor", "notable", "important"]),
      estimatedEffort: Schema.Literals(["tiny", "small", "medium", "large"]),
      filesReferenced: Schema.Array(Schema.String)
    })
  }),
  itemEvent("work_item.needs_operator_input", "the item waits for an operator's answer"),
  itemEvent("work_item.waiting_for_agent_resume", "the only agent that could take the item is paused", {
    details: fields({
      reason: Schema.String,
      retryFrom: Schema.Literals(["work", "audit", "merge", "upstream"])
    })
  }),
  itemEvent("work_item.waiting_for_transient_retry", "the item waits to try again after a transport failure", {
    details: fields({
      workItemId: Id,
      phase: Schema.String,
      agent: Schema.String,
      reason: Schema.String,
      nextRetryAt: Timestamp,
      attempts: Count
    })
  }),
  itemEvent("work_item.waiting_for_quota_reset", "every agent that could take the item is out of quota", {
    details: fallback
  }),
  itemEvent("work_item.question_asked", "the agent asked a new question", {
    details: fields({ questionId: QuestionId, questionText: text(questionTextCharactersMax) })
  }),
  itemEvent("work_item.question_answered", "an operator answered a question", {
    details: fields({
      workItemId: Id,
      projectId: Schema.String,
      questionId: QuestionId,
      answer: Schema.String,
      answeredBy: Schema.Null
    })
  }),
  itemEvent("work_item.question_dismissed", "an operator dismissed a question", {
    details: fields({
      workItemId: Id,
      projectId: Schema.String,
      questionId: QuestionId,
      reason: Schema.NullOr(Schema.String)
    })
  }),
  fleetEvent("agent.fallback", "routing moved a phase to another member of the agent's class", { details: fallback })
]
