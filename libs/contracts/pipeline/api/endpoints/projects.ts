/** Routes of projects: their settings, and their queues. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, writeCodes, refusals } from "../error-codes.ts"
import { PauseQueueRequest, ResumeQueueRequest } from "../pauses.ts"
import { ProjectPage, ProjectView, ProjectsQuery, PutProjectRequest } from "../projects.ts"

export const ProjectsGroup = HttpApiGroup.make("projects", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listProjects", "/projects", {
      disableCodecs: true,
      query: ProjectsQuery.fields,
      success: ProjectPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "List projects",
        description: "Oldest first."
      })
    ),
    HttpApiEndpoint.get("getProject", "/projects/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      success: ProjectView,
      error: refusals(...readCodes, "project_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:read",
        summary: "Fetch a project",
        description: "With what it spent in the last thirty days, where it has a budget."
      })
    ),
    HttpApiEndpoint.put("putProject", "/projects/:id", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: PutProjectRequest,
      success: [ProjectView, ProjectView.pipe(HttpApiSchema.status(201))],
      error: refusals(...writeCodes, "project_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Create or change a project",
        description: "The whole of it: 201 when it is new, 200 when it was changed.",
        example: { displayName: "Gates", repositoryUrl: "https://git.example/gates", monthlyBudgetUsd: 250 }
      })
    ),
    HttpApiEndpoint.post("pauseProjectQueue", "/projects/:id/queue/pause", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: PauseQueueRequest,
      success: ProjectView,
      error: refusals(...writeCodes, "project_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Pause a project's queue",
        description:
          "No item of it is given to runners any more once this is answered; what they have in hand goes on.",
        example: { reason: "freeze" }
      })
    ),
    HttpApiEndpoint.post("resumeProjectQueue", "/projects/:id/queue/resume", {
      disableCodecs: true,
      params: { id: Schema.String },
      payload: [HttpApiSchema.NoContent, ResumeQueueRequest],
      success: ProjectView,
      error: refusals(...writeCodes, "project_not_found")
    }).annotateMerge(
      described({
        scope: "pipeline:operate",
        summary: "Resume a project's queue",
        description:
          "Lifts what an operator paused. One that its budget holds stays paused until spend has recovered, or the budget is raised beyond it or taken away; `holds` says what holds it yet.",
        example: {}
      })
    )
  )
  .middleware(BearerToken)
