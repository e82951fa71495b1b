/**
 * A project: its settings, its state, its commands and the facts of its log; and its spend. The state records what
 * holds its queue, how its spend compares to its budget, and which stale pull requests were reported. Money is integer
 * micro-USD.
 */
import { Schema, Struct } from "effect"
import { Count, encodeToken, EpochMs, Id, Ordinal, text, WorkItem } from "#base"
import { PauseReason } from "./agent.ts"
import { Branch, capMax, WorkItemSettings } from "./work-item/state.ts"

/** Ten million US dollars a month. */
export const budgetMicroUsdMax = 10_000_000_000_000
/** A billion US dollars in thirty days. */
export const spendMicroUsdMax = 1_000_000_000_000_000
export const thresholdPctMax = 1_000
/**
 * How many stale pull requests are remembered, over all processes; each takes about fifty bytes in every record of the
 * project.
 */
export const staleBasesMax = 512
/** How many processes can report them at the same time: more than the replicas ever run. */
export const staleBaseProcessesMax = 12

const thresholdPct = Ordinal.check(Schema.isLessThanOrEqualTo(thresholdPctMax))
const cap = Ordinal.check(Schema.isLessThanOrEqualTo(capMax))

/** The settings in which a project's work items differ from the configuration; an omitted setting is as configured. */
export const WorkItemOverrides = WorkItemSettings.mapFields(Struct.map(Schema.optionalKey))
export interface WorkItemOverrides extends Schema.Schema.Type<typeof WorkItemOverrides> {}

const ProjectSettingsFields = Schema.Struct({
  displayName: Schema.String.check(Schema.isBetweenLength(1, 200)),
  repositoryUrl: Schema.String.check(Schema.isBetweenLength(1, 1_000)),
  /** For thirty days; null: unlimited. */
  budgetMicroUsd: Schema.NullOr(Ordinal.check(Schema.isLessThanOrEqualTo(budgetMicroUsdMax))),
  /** Percent of the budget at which spend causes a warning, and at which the queue is paused. */
  warningThresholdPct: thresholdPct,
  hardCapPct: thresholdPct,
  /** Items in progress on runners at once, and how many of them with one agent; null: any number. */
  maxInFlightItems: Schema.NullOr(cap),
  maxInFlightItemsPerAgent: Schema.NullOr(cap),
  workItems: WorkItemOverrides
})
export const ProjectSettings = ProjectSettingsFields.check(
  Schema.makeFilter(
    ({ warningThresholdPct, hardCapPct }) =>
      warningThresholdPct < hardCapPct || "warningThresholdPct must be less than hardCapPct"
  )
).annotate({ identifier: "ProjectSettings" })
export interface ProjectSettings extends Schema.Schema.Type<typeof ProjectSettings> {}

/** The settings of a project that sets only its name and repository. */
export const projectSettingsDefault: Omit<ProjectSettings, "displayName" | "repositoryUrl"> = {
  budgetMicroUsd: null,
  warningThresholdPct: 80,
  hardCapPct: 100,
  maxInFlightItems: null,
  maxInFlightItemsPerAgent: null,
  workItems: {}
}

export const budgetBands = ["normal", "warning", "exceeded"] as const
export const BudgetBand = Schema.Literals(budgetBands)
export type BudgetBand = typeof BudgetBand.Type

/** Spend compared with a budget. */
const budgetReading = {
  spendMicroUsd: Count.check(Schema.isLessThanOrEqualTo(spendMicroUsdMax)),
  budgetMicroUsd: Ordinal,
  /** The threshold that was crossed. */
  thresholdPct
}

/** The spend at which a queue is paused: that percentage of that budget. */
const budgetCap = Schema.Struct({ budgetMicroUsd: Ordinal, hardCapPct: thresholdPct })

/** `<number>:<head sha>`, oldest first. */
const ToldBases = Schema.Array(text(100)).check(Schema.isMaxLength(staleBasesMax))

export const ProjectState = Schema.Struct({
  settings: ProjectSettings,
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** What holds the queue: an operator, the budget, or both. It runs while neither does. */
  manualPause: Schema.NullOr(Schema.Struct({ reason: PauseReason, pausedBy: Id, pausedAtMs: EpochMs })),
  automaticPause: Schema.NullOr(
    Schema.Struct({ reason: PauseReason, pausedAtMs: EpochMs, cap: Schema.optionalKey(budgetCap) })
  ),
  budget: Schema.Struct({
    band: BudgetBand,
    /** The process that reported the band; null until a report was needed. */
    toldEpoch: Schema.NullOr(Id),
    /** The 30-day spend when the band last changed or was last reported. */
    spendMicroUsd: Count
  }),
  /**
   * The pull requests that the last reporting process reported, and those of other processes, any of which may report
   * next.
   */
  staleBases: Schema.Struct({
    epoch: Schema.NullOr(Id),
    told: ToldBases,
    others: Schema.optionalKey(
      Schema.Array(Schema.Struct({ epoch: Id, told: ToldBases })).check(Schema.isMaxLength(staleBaseProcessesMax))
    )
  })
}).annotate({ identifier: "ProjectState" })
export interface ProjectState extends Schema.Schema.Type<typeof ProjectState> {}

/** The fields that views show of a project beside its state (`Running`, `Paused`) and times. */
export const ProjectSummary = Schema.Struct({
  settings: ProjectSettings,
  isPausedManually: Schema.Boolean,
  isPausedAutomatically: Schema.Boolean,
  pauseReason: Schema.NullOr(Schema.String),
  budgetBand: BudgetBand
})
export interface ProjectSummary extends Schema.Schema.Type<typeof ProjectSummary> {}

const command = Schema.TaggedStruct
const settings = { settings: ProjectSettings }

/** One of our pull requests whose base has moved on without it. */
export const staleBase = {
  pullRequestNumber: Count,
  pullRequestUrl: text(1_000),
  headBranch: Branch,
  headSha: text(64),
  baseBranch: Branch,
  firstDetectedAtMs: EpochMs,
  /** The pull request's item in its current state; null if unknown. */
  workItem: Schema.NullOr(WorkItem)
}

/** `epoch`: the run of the asking process. A fact that is reported once per run is reported again after a restart. */
const projectCommands = {
  Create: command("Create", settings),
  /** All of the settings. */
  UpdateSettings: command("UpdateSettings", settings),
  /** A manual pause lasts until it is resumed manually, whatever the budget does meanwhile. */
  PauseQueue: command("PauseQueue", { reason: PauseReason, pausedBy: Id }),
  /** Ends the manual pause; a queue held by the budget stays paused. */
  ResumeQueue: command("ResumeQueue", { reason: Schema.NullOr(PauseReason), resumedBy: Id }),
  /** Spend of the last thirty days. */
  SweepSpend: command("SweepSpend", { spendMicroUsd: budgetReading.spendMicroUsd, epoch: Id }),
  ReportStaleBase: command("ReportStaleBase", { ...staleBase, epoch: Id })
}

export const ProjectCommand = Schema.Union(Object.values(projectCommands))
export type ProjectCommand = typeof ProjectCommand.Type
export type ProjectCommandTag = ProjectCommand["_tag"]
export type ProjectCommandOf<Tag extends ProjectCommandTag> = Extract<ProjectCommand, { readonly _tag: Tag }>

const fact = Schema.TaggedStruct
const bandReading = { ...budgetReading, epoch: Id }
const { spendMicroUsd } = budgetReading

/** `isFirst`: the queue was running until then. */
const hold = { reason: PauseReason, isFirst: Schema.Boolean }

/**
 * These facts are private: settings, the fall from beyond the hard cap back into the warning band, and the end of a
 * hold while another remains.
 */
const projectFacts = {
  Created: fact("Created", settings),
  SettingsUpdated: fact("SettingsUpdated", settings),
  PausedManually: fact("PausedManually", { ...hold, pausedBy: Id }),
  /** Older logs do not name the cap. */
  PausedAutomatically: fact("PausedAutomatically", { ...hold, cap: Schema.optionalKey(budgetCap) }),
  /** `isLast`: nothing holds the queue any more. Older logs omit it: there the budget's hold ended too. */
  ResumedManually: fact("ResumedManually", {
    reason: Schema.NullOr(PauseReason),
    resumedBy: Id,
    isLast: Schema.optionalKey(Schema.Boolean)
  }),
  AutomaticPauseLifted: fact("AutomaticPauseLifted", { reason: PauseReason, isLast: Schema.Boolean }),
  BudgetWarned: fact("BudgetWarned", bandReading),
  BudgetExceeded: fact("BudgetExceeded", bandReading),
  /** Spend is below the hard cap again, but not below the warning threshold. */
  BudgetEased: fact("BudgetEased", { spendMicroUsd, epoch: Id }),
  BudgetRecovered: fact("BudgetRecovered", budgetReading),
  /** The project no longer has a budget. */
  BudgetRemoved: fact("BudgetRemoved", {}),
  StaleBaseFound: fact("StaleBaseFound", { ...staleBase, epoch: Id })
}

export const ProjectFact = Schema.Union(Object.values(projectFacts))
export type ProjectFact = typeof ProjectFact.Type
export type ProjectFactTag = ProjectFact["_tag"]
export type ProjectFactOf<Tag extends ProjectFactTag> = Extract<ProjectFact, { readonly _tag: Tag }>

export const hourlySpendHours = 720
const hourMs = 3_600_000

/** The hour of an instant, counted from the epoch. */
export const hourOf = (epochMs: number): number => Math.floor(epochMs / hourMs)

/**
 * The spend of a project in KV `spend`: whole micro-USD by the hour. The sweeper writes it; views of a project read it.
 * The window is the last 720 whole hours and the present one.
 */
export const ProjectSpend = Schema.TaggedStruct("ProjectSpend", {
  projectId: Schema.String,
  /** The last record of LOG counted here. */
  position: Count,
  /** Hour and micro-USD; only hours with any spend. */
  hours: Schema.Array(Schema.Tuple([Count, Count]))
})
export interface ProjectSpend extends Schema.Schema.Type<typeof ProjectSpend> {}

/**
 * The record of LOG up to which everything is counted. Some projects may already include a few later records, by their
 * own position.
 */
export const SpendCursor = Schema.TaggedStruct("SpendCursor", { position: Count })
export const SpendEntry = Schema.Union([ProjectSpend, SpendCursor])
export type SpendEntry = typeof SpendEntry.Type

export const spendCursorKey = "cursor"
/** Throws a RangeError for an id that no key can hold; `log.project.<id>` cannot hold it either. */
export const spendKey = (projectId: string): string => `project.${encodeToken(projectId)}`

/** The sum of the window that ends now, in micro-USD, capped at the largest exact integer. */
export const spentMicroUsd = (hours: Iterable<readonly [hour: number, microUsd: number]>, nowMs: number): number => {
  const present = hourOf(nowMs)
  let sum = 0
  for (const [hour, microUsd] of hours) {
    if (hour <= present && hour >= present - hourlySpendHours) sum = Math.min(sum + microUsd, Number.MAX_SAFE_INTEGER)
  }
  return sum
}
