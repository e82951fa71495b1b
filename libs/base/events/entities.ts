/**
 * The entities in events: work item, project, release; the cost of work; and the holds on a queue or an agent.
 */
import { Schema } from "effect"
import { Count, describe, Ordinal, Timestamp, Usd, Uuid } from "../primitives.ts"

/** The states of a work item. On the wire the state is any text, so that a new state breaks no receiver. */
export const workItemStates = [
  "Queued",
  "Working",
  "WorkComplete",
  "Auditing",
  "AuditPassed",
  "Reworking",
  "AuditFailed",
  "Merging",
  "Merged",
  "UpstreamPushing",
  "Done",
  "Failed",
  "Cancelled",
  "NoActionRequired",
  "NeedsOperatorInput",
  "WaitingForAgentResume",
  "WaitingForTransientRetry",
  "WaitingForQuotaReset",
  "Delegated",
  "ConflictRework",
  "MergeConflictResolutionFailed",
  "AbandonedAfterRecoveryAttempts"
] as const

export const WorkItem = Schema.Struct({
  id: Uuid,
  externalId: Schema.NullOr(Schema.String),
  projectId: Schema.String,
  title: Schema.String,
  agent: Schema.String,
  repositoryUrl: Schema.String,
  baseBranch: Schema.String,
  workBranch: Schema.String,
  state: Schema.String,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lastError: Schema.NullOr(Schema.String),
  upstreamPushAttempts: Count
}).annotate({ identifier: "WorkItem" })
export interface WorkItem extends Schema.Schema.Type<typeof WorkItem> {}

export const Project = Schema.Struct({
  id: Schema.String,
  displayName: Schema.String,
  repositoryUrl: Schema.String
}).annotate({ identifier: "Project" })
export interface Project extends Schema.Schema.Type<typeof Project> {}

export const releaseStates = ["open", "closed", "in_review", "published", "failed", "abandoned"] as const

export const Release = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  state: Schema.Literals(releaseStates)
}).annotate({ identifier: "Release" })
export interface Release extends Schema.Schema.Type<typeof Release> {}

const cost = {
  tokensInput: Count,
  tokensOutput: Count,
  tokensReasoning: Count,
  tokensCached: Count,
  costUsd: Usd,
  elapsedMs: Count
}

/** The cost of the latest iteration. */
export const Usage = Schema.Struct({ iteration: Ordinal, ...cost }).annotate({ identifier: "Usage" })
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

/** The cost of all iterations of the item. */
export const UsageTotal = Schema.Struct(cost).annotate({ identifier: "UsageTotal" })
export interface UsageTotal extends Schema.Schema.Type<typeof UsageTotal> {}

/** One finding of an auditor. `location` is `path:line`. */
export const Finding = Schema.Struct({
  auditor: Schema.String,
  severity: Schema.Literals(["Info", "Warning", "Error"]),
  title: Schema.String,
  location: Schema.NullOr(Schema.String),
  description: Schema.String
}).annotate({ identifier: "Finding" })
export interface Finding extends Schema.Schema.Type<typeof Finding> {}

/** In order: an operator; a project's budget; failing credentials or runs that end too fast; an exhausted quota. */
const holdCauses = ["manual", "budget", "bench", "quota"] as const

/** A hold keeps a queue or an agent from new work. Each hold has its own cause and ends only with that cause. */
export const Hold = Schema.Struct({
  cause: Schema.Literals(holdCauses).pipe(
    describe(
      "`manual`: an operator, until one resumes it. `budget`: until spend has recovered, or the budget is raised beyond it. `bench`: until the agent is found fit. `quota`: until it is reset."
    )
  ),
  reason: Schema.NullOr(Schema.String),
  pausedBy: Schema.NullOr(Schema.String).pipe(describe("The operator; null for every other cause.")),
  since: Timestamp,
  until: Schema.NullOr(Timestamp).pipe(describe("When it goes by itself; null where nobody can tell."))
}).annotate({ identifier: "Hold" })
export interface Hold extends Schema.Schema.Type<typeof Hold> {}

export const Holds = Schema.Array(Hold)
