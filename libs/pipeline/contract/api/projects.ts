/**
 * Projects, as callers send and see them, and the routes of their settings and queues. A setting that a project omits
 * comes from the configuration's `Pipeline`.
 */
import { Schema, Struct } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Count, describe, Holds, Id, isName, Ordinal, pageQuery, Timestamp, Usd } from "#base"
import { guarded } from "#base/http"
import { budgetBands, budgetMicroUsdMax, thresholdPctMax, WorkItemOverrides } from "../project.ts"
import { capMax, WorkItemSettings } from "../work-item/state.ts"
import { mayBeLeftOut, page, pipelineEndpoints } from "./parts.ts"
import { PauseQueueRequest, ResumeQueueRequest } from "./fleet.ts"

const isRepository = (url: string) => {
  if (/^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s]+$/u.test(url)) return true
  if (!URL.canParse(url)) return "neither a URL nor user@host:path"
  const { protocol, password } = new URL(url)
  if (password !== "") return "a URL with a password is refused: it would be told with every event"
  return ["https:", "http:", "ssh:", "git:", "file:"].includes(protocol) || "a scheme that git does not fetch by"
}

const RepositoryUrl = Schema.String.check(Schema.isBetweenLength(1, 1_000), Schema.makeFilter(isRepository))

/** Settings of an item's run in which a project differs from the configuration's `Pipeline`. */
const WorkItemSettingsPatch = WorkItemOverrides.annotate({ identifier: "ProjectWorkItemSettings" })

const { delegatesAfterFailures, ...otherSettings } = WorkItemSettings.fields

const WorkItemSettingsRequest = Schema.Struct({
  ...Schema.Struct(otherSettings).mapFields(Struct.map(Schema.NullOr)).mapFields(Struct.map(Schema.optionalKey)).fields,
  delegatesAfterFailures: Schema.optionalKey(delegatesAfterFailures).pipe(describe("Null: never."))
}).annotate({ identifier: "ProjectWorkItemSettingsRequest" })

const thresholdPct = Ordinal.check(Schema.isLessThanOrEqualTo(thresholdPctMax))
const cap = mayBeLeftOut(Ordinal.check(Schema.isLessThanOrEqualTo(capMax)))

const microUsdPerUsd = 1_000_000

/** A whole number of millionths of a dollar, at least one: the internal unit of money. */
const BudgetUsd = Usd.check(
  Schema.isBetween({ minimum: 1 / microUsdPerUsd, maximum: budgetMicroUsdMax / microUsdPerUsd })
)

/** `PUT /projects/{id}`: the complete project. An omitted setting is unset. */
export const PutProjectRequest = Schema.Struct({
  displayName: Schema.String.check(Schema.isBetweenLength(1, 200), isName).pipe(describe("What people call it.")),
  repositoryUrl: RepositoryUrl.pipe(describe("Where git fetches it; without a password.")),
  monthlyBudgetUsd: mayBeLeftOut(BudgetUsd).pipe(
    describe("What may be spent in 30 days, the present hour included; without it no budget.")
  ),
  warningThresholdPct: mayBeLeftOut(thresholdPct).pipe(
    describe("Percent of the budget from which on it is warned of; the configuration's without it.")
  ),
  hardCapPct: mayBeLeftOut(thresholdPct).pipe(
    describe("Percent of the budget from which on the project's queue is paused; the configuration's without it.")
  ),
  maxInFlightItems: cap.pipe(describe("Items that runners may have in hand at once; without it any number.")),
  maxInFlightItemsPerAgent: cap.pipe(describe("Of these, items with one agent; without it any number.")),
  workItems: mayBeLeftOut(WorkItemSettingsRequest).pipe(describe("What its items are treated by."))
})
  .check(
    Schema.makeFilter(
      ({ warningThresholdPct, hardCapPct }) =>
        warningThresholdPct == null ||
        hardCapPct == null ||
        warningThresholdPct < hardCapPct ||
        "warningThresholdPct must be less than hardCapPct"
    )
  )
  .annotate({ identifier: "PutProjectRequest" })
export interface PutProjectRequest extends Schema.Schema.Type<typeof PutProjectRequest> {}

const ProjectPause = Schema.Struct({
  reason: Schema.String,
  pausedBy: Schema.NullOr(Schema.String).pipe(describe("Null: by its budget.")),
  pausedAt: Timestamp
}).annotate({ identifier: "ProjectPause" })

const ProjectBudgetView = Schema.Struct({
  currentSpendUsd: Usd.pipe(describe("Of the last 720 whole hours and the present one.")),
  budgetUsd: Usd,
  pct: Schema.Finite,
  band: Schema.Literals(budgetBands)
}).annotate({ identifier: "ProjectBudget" })

export const ProjectView = Schema.Struct({
  id: Id,
  displayName: Schema.String,
  repositoryUrl: Schema.String,
  state: Schema.Literals(["Running", "Paused"]).pipe(describe("Of its queue.")),
  holds: Holds.pipe(describe("All that holds its queue; it runs when there is none.")),
  manualPause: Schema.NullOr(ProjectPause),
  automaticPause: Schema.NullOr(ProjectPause).pipe(describe("By its budget; over when the budget recovers.")),
  monthlyBudgetUsd: Schema.NullOr(Usd),
  warningThresholdPct: Schema.Int,
  hardCapPct: Schema.Int,
  maxInFlightItems: Schema.NullOr(Count),
  maxInFlightItemsPerAgent: Schema.NullOr(Count),
  workItems: WorkItemSettingsPatch,
  budget: Schema.NullOr(ProjectBudgetView).pipe(describe("Null without a budget, or before its spend was added up.")),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  sequence: Count.pipe(describe("Of its last record in the log."))
}).annotate({ identifier: "ProjectView" })
export interface ProjectView extends Schema.Schema.Type<typeof ProjectView> {}

export const ProjectRow = Schema.Struct({
  id: Id,
  displayName: Schema.String,
  repositoryUrl: Schema.String,
  state: Schema.Literals(["Running", "Paused"]).pipe(describe("Of its queue.")),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "ProjectRow" })
export interface ProjectRow extends Schema.Schema.Type<typeof ProjectRow> {}

const ProjectPage = Schema.Struct(page(ProjectRow, "Projects")).annotate({ identifier: "ProjectPage" })

const { read, act, put } = pipelineEndpoints("project_not_found")

export const ProjectsGroup = guarded(
  "projects",
  read("listProjects", "/projects", {
    query: pageQuery,
    success: ProjectPage,
    summary: "List projects",
    description: "Oldest first."
  }),
  read("getProject", "/projects/:id", {
    success: ProjectView,
    summary: "Fetch a project",
    description: "With what it spent in the last thirty days, where it has a budget."
  }),
  put("putProject", "/projects/:id", {
    payload: PutProjectRequest,
    success: [ProjectView, ProjectView.pipe(HttpApiSchema.status(201))],
    scope: "pipeline:operate",
    summary: "Create or change a project",
    description: "The whole of it: 201 when it is new, 200 when it was changed.",
    example: { displayName: "Gates", repositoryUrl: "https://git.example/gates", monthlyBudgetUsd: 250 }
  }),
  act("pauseProjectQueue", "/projects/:id/queue/pause", {
    payload: PauseQueueRequest,
    success: ProjectView,
    scope: "pipeline:operate",
    summary: "Pause a project's queue",
    description: "No item of it is given to runners any more once this is answered; what they have in hand goes on.",
    example: { reason: "freeze" }
  }),
  act("resumeProjectQueue", "/projects/:id/queue/resume", {
    payload: [HttpApiSchema.NoContent, ResumeQueueRequest],
    success: ProjectView,
    scope: "pipeline:operate",
    summary: "Resume a project's queue",
    description:
      "Lifts what an operator paused. One that its budget holds stays paused until spend has recovered, or the budget is raised beyond it or taken away; `holds` says what holds it yet.",
    example: {}
  })
)
