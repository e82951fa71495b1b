/**
 * The pickup queue and the agents, and their routes: pausing and resuming the queue, an agent kind or one instance.
 * Runs in progress continue.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Count, describe, Holds, Id, pageQuery, text, Timestamp } from "#base"
import { guarded } from "#base/http"
import { agentStandings, BenchCause, pauseReasonCharactersMax, SmokeCategory } from "../agent.ts"
import { AgentName } from "../work-item/state.ts"
import { isNotBlank, mayBeLeftOut, page, pipelineEndpoints } from "./parts.ts"

/** A year. An operator would forget a longer pause; such a pause has no end instead. */
const pauseSecondsMax = 31_536_000

const PauseReason = Schema.String.check(Schema.isBetweenLength(1, pauseReasonCharactersMax), isNotBlank)
const instance = {
  agentInstanceId: mayBeLeftOut(Id).pipe(describe("One instance; the whole kind without it."))
}

/** Body of `POST /queue/pause` and `POST /projects/{id}/queue/pause`. */
export const PauseQueueRequest = Schema.Struct({
  reason: PauseReason.pipe(describe("Why; told with the event."))
}).annotate({ identifier: "PauseQueueRequest" })
export interface PauseQueueRequest extends Schema.Schema.Type<typeof PauseQueueRequest> {}

/** Body of the queues' resume routes; optional. */
export const ResumeQueueRequest = Schema.Struct({
  reason: mayBeLeftOut(text(pauseReasonCharactersMax)).pipe(describe("Why; told with the event."))
}).annotate({ identifier: "ResumeQueueRequest" })
export interface ResumeQueueRequest extends Schema.Schema.Type<typeof ResumeQueueRequest> {}

export const PauseAgentRequest = Schema.Struct({
  ...instance,
  reason: PauseReason.pipe(describe("Why; told with the event.")),
  expiresInSeconds: mayBeLeftOut(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: pauseSecondsMax }))).pipe(
    describe("It resumes by itself after so long; without it not before it is resumed.")
  )
}).annotate({ identifier: "PauseAgentRequest" })
export interface PauseAgentRequest extends Schema.Schema.Type<typeof PauseAgentRequest> {}

/** An operator reports that an agent is back: items that failed in its absence are retried. */
const RestoreAgentRequest = Schema.Struct({
  ...instance,
  outageStartedAt: mayBeLeftOut(Timestamp).pipe(
    describe("Items that failed since are tried again; since it was benched without it, else none.")
  )
}).annotate({ identifier: "RestoreAgentRequest" })

const ResumeAgentRequest = Schema.Struct({
  ...instance,
  reason: mayBeLeftOut(text(pauseReasonCharactersMax)).pipe(describe("Why; told with the event."))
}).annotate({ identifier: "ResumeAgentRequest" })

const MaybeText = Schema.NullOr(Schema.String)

export const QueueView = Schema.Struct({
  state: Schema.Literals(["Running", "Paused"]),
  holds: Holds.pipe(describe("All that holds it; it runs when there is none.")),
  reason: MaybeText,
  pausedBy: MaybeText,
  pausedAt: Schema.NullOr(Timestamp),
  sequence: Count.pipe(describe("Of its last record in the log; 0 before the first."))
}).annotate({ identifier: "QueueView" })
export interface QueueView extends Schema.Schema.Type<typeof QueueView> {}

const AgentPauseView = Schema.Struct({
  reason: Schema.String,
  pausedBy: Schema.String,
  pausedAt: Timestamp,
  expiresAt: Schema.NullOr(Timestamp).pipe(describe("Null: not before it is resumed."))
}).annotate({ identifier: "AgentPauseView" })

const AgentBenchView = Schema.Struct({
  cause: BenchCause,
  reason: MaybeText,
  category: SmokeCategory,
  since: Timestamp
}).annotate({ identifier: "AgentBenchView" })

export const AgentView = Schema.Struct({
  agent: AgentName,
  agentInstanceId: Schema.NullOr(Id).pipe(describe("Null for the kind as a whole.")),
  state: Schema.Literals(agentStandings).pipe(
    describe("`Benched`: its credentials fail, or its runs end too fast; it is left out until it is found fit.")
  ),
  holds: Holds.pipe(describe("All that keeps it from new work. An instance is held by what holds its kind as well.")),
  pause: Schema.NullOr(AgentPauseView),
  bench: Schema.NullOr(AgentBenchView),
  quotaResetAt: Schema.NullOr(Timestamp).pipe(describe("While its quota is used up: until when, where that is known.")),
  sequence: Count.pipe(describe("Of its last record in the log; 0 before the first."))
}).annotate({ identifier: "AgentView" })
export interface AgentView extends Schema.Schema.Type<typeof AgentView> {}

const AgentPage = Schema.Struct(page(AgentView, "Agents and instances")).annotate({ identifier: "AgentPage" })

const { read, act } = pipelineEndpoints("agent_not_found")

export const FleetGroup = guarded(
  "fleet",
  read("getQueue", "/queue", {
    success: QueueView,
    summary: "Look at the pickup queue",
    description: "Whether anything is given to runners at all."
  }),
  act("pauseQueue", "/queue/pause", {
    payload: PauseQueueRequest,
    success: QueueView,
    scope: "pipeline:operate",
    summary: "Pause the pickup queue",
    description: "Once this is answered nothing is given to runners any more; what they have in hand goes on.",
    example: { reason: "maintenance" }
  }),
  act("resumeQueue", "/queue/resume", {
    success: QueueView,
    scope: "pipeline:operate",
    summary: "Resume the pickup queue",
    description: "A queue that runs is left as it is."
  }),
  read("listAgents", "/agents", {
    query: pageQuery,
    success: AgentPage,
    summary: "List agents",
    description: "Those that are configured, and those that something has happened to, in the order of their names."
  }),
  act("pauseAgent", "/agents/:id/pause", {
    payload: PauseAgentRequest,
    success: AgentView,
    scope: "pipeline:operate",
    summary: "Pause an agent",
    description:
      "A kind, or one instance of it: no new work for it from now on. Items that it alone may take wait for it.",
    example: { reason: "it is tired", expiresInSeconds: 3_600 }
  }),
  act("resumeAgent", "/agents/:id/resume", {
    payload: [HttpApiSchema.NoContent, ResumeAgentRequest],
    success: AgentView,
    scope: "pipeline:operate",
    summary: "Resume an agent",
    description: "Items that waited for it go on. What else keeps it from new work, `holds` says.",
    example: {}
  }),
  act("restoreAgent", "/agents/:id/restore", {
    payload: [HttpApiSchema.NoContent, RestoreAgentRequest],
    success: AgentView,
    scope: "pipeline:operate",
    summary: "Say that an agent is back",
    description: "It takes work again, and items that failed in its outage are tried again.",
    example: {}
  })
)
