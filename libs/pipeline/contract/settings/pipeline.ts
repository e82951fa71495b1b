/**
 * `PipelineApi`, `Pipeline`, `Sweeper` and the sections of single rules: how work items are served, worked on, swept,
 * retried and abandoned. A project can override the part of `Pipeline` that governs its items.
 */
import { Schema } from "effect"
import { BranchName, BranchPrefix } from "../api/parts.ts"
import { thresholdPctMax, type WorkItemOverrides } from "../project.ts"
import { auditorsMax } from "../work-item/reports.ts"
import { capMax, findingSeverities, type WorkItemSettings } from "../work-item/state.ts"
import { AllowedOrigins, reportsInWorkMax, section, span, whole, withDefault } from "#base"

const cap = whole(0, capMax)
const capFromOne = whole(1, capMax)

const Auditors = Schema.Array(Schema.String.check(Schema.isBetweenLength(1, 100))).check(
  Schema.isBetweenLength(1, auditorsMax),
  Schema.makeFilter((names) => new Set(names).size === names.length || "an auditor is there twice")
)

export const PipelineApi = section({
  Host: withDefault(Schema.NonEmptyString, "127.0.0.1", "Where the API listens."),
  Port: withDefault(whole(0, 65_535), 7_401, "0: any free one."),
  AllowedOrigins: withDefault(
    AllowedOrigins,
    [],
    "Whose pages may call from a browser, `*` for any. None: operators' tokens do not belong into pages."
  ),
  BodyBytesMax: withDefault(
    whole(1_024, 1_048_576),
    131_072,
    "Of a request. The longest texts take half of it when each character is escaped."
  ),
  CommandsMax: withDefault(whole(1, 10_000), 256, "Commands from the bus in work at once, per process."),
  ReportsMax: withDefault(
    whole(1, reportsInWorkMax),
    64,
    "Reports in work at once, per process. More only wait for the log's writes."
  ),
  PickupWaitSeconds: withDefault(
    span(0, 30),
    20,
    "How long a runner that asks may be kept waiting for something to do; then it is told to ask again."
  ),
  PickupWaitersMax: withDefault(
    whole(1, 100_000),
    5_000,
    "Runners that wait at once, per process; further ones are told at once to come back."
  ),
  PickupRetryMilliseconds: withDefault(
    whole(10, 600_000),
    1_000,
    "When a runner that was given nothing is to ask again."
  )
})
export interface PipelineApi extends Schema.Schema.Type<typeof PipelineApi> {}

const itemRules = {
  FailingSeverity: withDefault(
    Schema.Literals(findingSeverities),
    "Error",
    "Findings of this severity and above block an item."
  ),
  AutoMerge: withDefault(
    Schema.Boolean,
    false,
    "Whether pull requests are merged at once. Off: they stay open, for people to merge."
  ),
  MaxAuditIterations: withDefault(
    capFromOne,
    3,
    "Audits until an item fails. What three rounds of rework did not mend, a fourth seldom does."
  ),
  MaxReworkAttempts: withDefault(cap, 3, "Times an item may enter conflict rework."),
  MaxRecoveryAttempts: withDefault(
    cap,
    3,
    "Times an item is handed back after a crash; one that crashes every worker is then given up."
  ),
  MaxUpstreamPushAttempts: withDefault(capFromOne, 3, "Pushes to upstream, the first included."),
  AutoRetryOnStuck: withDefault(
    Schema.Boolean,
    false,
    "Whether an item whose agent hung is queued again, within the attempts of transient failures."
  ),
  DelegateAtAuditMax: withDefault(
    Schema.Boolean,
    false,
    "Whether an item whose audit does not converge is delegated, once, instead of failed."
  ),
  DelegateAfterFailures: withDefault(
    cap,
    0,
    "After how many terminal failures an item is delegated by itself. 0: never."
  )
}

const watchdogs = {
  ProgressSeconds: withDefault(span(0.1, 3_600), 30, "How often runners report that they are alive."),
  ProgressTimeoutSeconds: withDefault(
    span(0.2, 86_400),
    180,
    "A runner that is silent for so long is dead. Six missed reports; a hiccup of the network is shorter."
  ),
  StaleHours: withDefault(
    span(0.0001, 8_760),
    24,
    "An item that should move and did not change for so long is handed back."
  ),
  PhaseMinutes: withDefault(span(0.01, 10_080), 240, "A runner ends a phase that takes longer."),
  StuckMinutes: withDefault(span(0.01, 10_080), 20, "An agent that says nothing for so long hangs, and is killed."),
  AuditorMinutes: withDefault(span(0.01, 10_080), 30, "An auditor that takes longer is left out.")
}

const isPatient = ({
  ProgressSeconds,
  ProgressTimeoutSeconds
}: {
  readonly ProgressSeconds: number
  readonly ProgressTimeoutSeconds: number
}) =>
  ProgressSeconds < ProgressTimeoutSeconds ||
  "ProgressTimeoutSeconds must be more than ProgressSeconds, or every runner is held for dead"

export const Pipeline = section(
  {
    ...itemRules,
    ...watchdogs,
    Auditors: withDefault(Auditors, ["correctness", "security", "tests"], "Who audits, in this order."),
    BaseBranch: withDefault(BranchName, "main", "Where items start that say nothing of it."),
    WorkBranchPrefix: withDefault(BranchPrefix, "starling", "Work branches are `<prefix>/<short id>`."),
    ReleaseBranchPrefix: withDefault(BranchPrefix, "release", "Branches of releases are `<prefix>/<short id>`."),
    ReleaseSyncSeconds: withDefault(
      span(1, 86_400),
      300,
      "How often release branches are synced; a conflict is not told again sooner."
    ),
    ItemsKeptDays: withDefault(whole(1, 3_650), 90, "Items that ended are forgotten after so long."),
    ReleasesKeptDays: withDefault(whole(1, 3_650), 365, "So are releases.")
  },
  isPatient
)
export interface Pipeline extends Schema.Schema.Type<typeof Pipeline> {}

export const AutoRetryOnTransientFailure = section({
  MaxAttempts: withDefault(cap, 5, "Retries of an item after transport failures; 0: none, it fails at once."),
  InitialBackoffSeconds: withDefault(span(0.1, 86_400), 30, "Before the first; doubles with every attempt."),
  MaxBackoffSeconds: withDefault(span(0.1, 604_800), 1_800, "The longest wait before chance is added."),
  Jitter: withDefault(
    span(0, 1),
    0.2,
    "Share of the wait that chance adds at most, so that items that failed together do not return together."
  )
})

export const QuotaRetry = section({
  MaxAttempts: withDefault(cap, 10, "Retries of an item that waits for a quota; then it fails."),
  PeriodicMinutes: withDefault(
    span(0.01, 1_440),
    15,
    "How often it is tried where nobody knows when the quota is reset."
  ),
  MarginSeconds: withDefault(span(0, 3_600), 30, "How long after a reset that is known, for clocks differ.")
})

const gib = 1_073_741_824

export const DiskGuard = section({
  MinFreeBytes: withDefault(
    whole(0, Number.MAX_SAFE_INTEGER),
    5 * gib,
    "Below so much free disk on a monitored mount no sandbox is launched there: 5 GiB hold one checkout and its build. 0: off."
  ),
  RetryAfterSeconds: withDefault(span(1, 86_400), 300, "When a launch that was put off is to be tried again.")
})

export const StalePullRequestSweep = section({
  RouteToConflictRework: withDefault(
    Schema.Boolean,
    false,
    "Whether an item whose pull request its base left behind is reworked. Off: it is only told."
  )
})

export const Budget = section(
  {
    WarningThresholdPct: withDefault(
      whole(1, thresholdPctMax),
      80,
      "Percent of a project's budget from which on its spend is warned of."
    ),
    HardCapPct: withDefault(
      whole(1, thresholdPctMax),
      100,
      "Percent of it from which on the project's queue is paused until spend is below the warning again."
    ),
    RetryAfterSeconds: withDefault(span(1, 86_400), 900, "When an item that a cap put off is to be tried again.")
  },
  ({ WarningThresholdPct, HardCapPct }) =>
    WarningThresholdPct < HardCapPct || "WarningThresholdPct must be less than HardCapPct"
)

/** Seconds between two runs of a sweep. */
const every = span(0.1, 86_400)

export const Sweeper = section({
  WatchdogSeconds: withDefault(every, 15, "Looks for runners that are silent and for items that do not move."),
  RetrySeconds: withDefault(every, 5, "Lets items go on whose transient retry or quota reset is due."),
  AgentSeconds: withDefault(every, 5, "Ends pauses of agents whose time is over, and quotas that are reset."),
  RestoreSeconds: withDefault(every, 30, "Looks through the failed items of agents that are back."),
  BudgetSeconds: withDefault(every, 60, "Adds up what projects spent and compares it with their budgets."),
  ReleaseSeconds: withDefault(every, 60, "Looks for linked items whose end their release was not told of."),
  RetentionSeconds: withDefault(every, 3_600, "Forgets items and releases that ended long ago."),
  AdviceSeconds: withDefault(every, 30, "Looks whether now is the best time to spend a quota."),
  ReconciliationSeconds: withDefault(every, 300, "Compares the log with the events and the views made of it."),
  ActionsMax: withDefault(whole(1, 100_000), 1_000, "Commands that one sweep sends; what is left is for the next."),
  Concurrency: withDefault(whole(1, 256), 16, "Commands of one sweep on the way at once.")
})
export interface Sweeper extends Schema.Schema.Type<typeof Sweeper> {}

interface ItemSections {
  readonly Pipeline: Pipeline
  readonly AutoRetryOnTransientFailure: typeof AutoRetryOnTransientFailure.Type
  readonly QuotaRetry: typeof QuotaRetry.Type
}

const milliseconds = (seconds: number) => Math.round(seconds * 1_000)

/** The settings of an item: the configuration's, overridden by its project's. */
export const itemSettingsOf = (
  { Pipeline, AutoRetryOnTransientFailure: retry, QuotaRetry }: ItemSections,
  overrides: WorkItemOverrides = {}
): WorkItemSettings => ({
  failingSeverity: Pipeline.FailingSeverity,
  autoMerge: Pipeline.AutoMerge,
  maxAuditIterations: Pipeline.MaxAuditIterations,
  maxReworkAttempts: Pipeline.MaxReworkAttempts,
  maxRecoveryAttempts: Pipeline.MaxRecoveryAttempts,
  maxUpstreamPushAttempts: Pipeline.MaxUpstreamPushAttempts,
  maxQuotaRetries: QuotaRetry.MaxAttempts,
  maxTransientRetries: retry.MaxAttempts,
  transientBackoff: {
    initialMs: milliseconds(retry.InitialBackoffSeconds),
    maxMs: milliseconds(retry.MaxBackoffSeconds),
    jitter: retry.Jitter
  },
  retriesWhenStuck: Pipeline.AutoRetryOnStuck,
  delegatesAtAuditMax: Pipeline.DelegateAtAuditMax,
  delegatesAfterFailures: Pipeline.DelegateAfterFailures === 0 ? null : Pipeline.DelegateAfterFailures,
  ...overrides
})
