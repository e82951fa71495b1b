/** Routes of the pickup queue and of agents: the pauses that keep work from being given out. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, writeCodes, refusals } from "../error-codes.ts"
import {
  AgentPage,
  AgentView,
  AgentsQuery,
  PauseAgentRequest,
  PauseQueueRequest,
  QueueView,
  RestoreAgentRequest,
  ResumeAgentRequest
} from "../pauses.ts"

export const FleetGroup = HttpApiGroup.make("fleet", { topLevel: true })
  .add(
    HttpApiEndpoint.get("getQueue", "/queue", {
      disableCodecs: true,
      success: QueueView,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "Look at the pickup queue",
        description: "Whether anything is given to runners at all."
      })
    ),
    HttpApiEndpoint.post("pauseQueue", "/queue/pause", {
      disableCodecs: true,
      payload: PauseQueueRequest,
      success: QueueView,
      error: refusals(...writeCodes)
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Pause the pickup queue",
        description: "Once this is answered nothing is given to runners any more; what they have in hand goes on.",
        example: { reason: "maintenance" }
      })
    ),
    HttpApiEndpoint.post("resumeQueue", "/queue/resume", {
      disableCodecs: true,
      success: QueueView,
      error: refusals(...writeCodes)
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Resume the pickup queue",
        description: "A queue that runs is left as it is."
      })
    ),
    HttpApiEndpoint.get("listAgents", "/agents", {
      disableCodecs: true,
      query: AgentsQuery.fields,
      success: AgentPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "List agents",
        description: "Those that are configured, and those that something has happened to, in the order of their names."
      })
    ),
    HttpApiEndpoint.post("pauseAgent", "/agents/:id/pause", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: PauseAgentRequest,
      success: AgentView,
      error: refusals(...writeCodes, "agent_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Pause an agent",
        description:
          "A kind, or one instance of it: no new work for it from now on. Items that it alone may take wait for it.",
        example: { reason: "it is tired", expiresInSeconds: 3_600 }
      })
    ),
    HttpApiEndpoint.post("resumeAgent", "/agents/:id/resume", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: [HttpApiSchema.NoContent, ResumeAgentRequest],
      success: AgentView,
      error: refusals(...writeCodes, "agent_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Resume an agent",
        description: "Items that waited for it go on. What else keeps it from new work, `holds` says.",
        example: {}
      })
    ),
    HttpApiEndpoint.post("restoreAgent", "/agents/:id/restore", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: [HttpApiSchema.NoContent, RestoreAgentRequest],
      success: AgentView,
      error: refusals(...writeCodes, "agent_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Say that an agent is back",
        description: "It takes work again, and items that failed in its outage are tried again.",
        example: {}
      })
    )
  )
  .middleware(BearerToken)
