/**
 * What is known of a project: its settings, what holds its queue, where its spend stands to its budget, and which of
 * its pull requests were told to be stale. Money is integer micro-USD.
 */
import { Schema, Struct } from "effect"
import { Count, EpochMs, Id, Ordinal, text } from "../primitives.ts"
import { PauseReason } from "./queue-commands.ts"
import { capMax, WorkItemSettings } from "./work-item-settings.ts"

/** Ten million US dollars a month. */
export const budgetMicroUsdMax = 10_000_000_000_000
/** A billion US dollars in thirty days. */
export const spendMicroUsdMax = 1_000_000_000_000_000
export const thresholdPctMax = 1_000
/** Stale pull requests remembered of all processes; some fifty bytes each, in every record of the project. */
export const staleBasesMax = 512
/** Processes that tell of them at the same time: as many replicas as are ever run, and some. */
export const staleBaseProcessesMax = 12

const thresholdPct = Ordinal.check(Schema.isLessThanOrEqualTo(thresholdPctMax))
const cap = Ordinal.check(Schema.isLessThanOrEqualTo(capMax))

/** What a project says otherwise than the configuration for its work items; what it leaves out is as configured. */
export const WorkItemOverrides = WorkItemSettings.mapFields(Struct.map(Schema.optionalKey))
export interface WorkItemOverrides extends Schema.Schema.Type<typeof WorkItemOverrides> {}

const ProjectSettingsFields = Schema.Struct({
  displayName: Schema.String.check(Schema.isBetweenLength(1, 200)),
  repositoryUrl: Schema.String.check(Schema.isBetweenLength(1, 1_000)),
  /** For thirty days; null: unlimited. */
  budgetMicroUsd: Schema.NullOr(Ordinal.check(Schema.isLessThanOrEqualTo(budgetMicroUsdMax))),
  /** Percent of the budget from which on spend is warned of, and from which on the queue is paused. */
  warningThresholdPct: thresholdPct,
  hardCapPct: thresholdPct,
  /** Items that runners have in hand at once, and those of them with one agent; null: any number. */
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

/** The settings of a project that says nothing but its name and repository. */
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

/** What is seen of a spend against a budget. */
export const budgetReading = {
  spendMicroUsd: Count.check(Schema.isLessThanOrEqualTo(spendMicroUsdMax)),
  budgetMicroUsd: Ordinal,
  /** The threshold that was crossed. */
  thresholdPct
}

/** The spend from which on a queue is paused: that percentage of that budget. */
export const budgetCap = Schema.Struct({ budgetMicroUsd: Ordinal, hardCapPct: thresholdPct })

/** `<number>:<head sha>`, oldest first. */
const ToldBases = Schema.Array(text(100)).check(Schema.isMaxLength(staleBasesMax))

export const ProjectState = Schema.Struct({
  settings: ProjectSettings,
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** What keeps the queue: an operator, the budget, or both. It runs while neither does. */
  manualPause: Schema.NullOr(Schema.Struct({ reason: PauseReason, pausedBy: Id, pausedAtMs: EpochMs })),
  automaticPause: Schema.NullOr(
    Schema.Struct({ reason: PauseReason, pausedAtMs: EpochMs, cap: Schema.optionalKey(budgetCap) })
  ),
  budget: Schema.Struct({
    band: BudgetBand,
    /** The process that told of the band; null while there was nothing to tell. */
    toldEpoch: Schema.NullOr(Id),
    /** When the band was last told or changed, 30-day spend was so much. */
    spendMicroUsd: Count
  }),
  /** Told by the process that told last, and by others, of whom any may be the next. */
  staleBases: Schema.Struct({
    epoch: Schema.NullOr(Id),
    told: ToldBases,
    others: Schema.optionalKey(
      Schema.Array(Schema.Struct({ epoch: Id, told: ToldBases })).check(Schema.isMaxLength(staleBaseProcessesMax))
    )
  })
}).annotate({ identifier: "ProjectState" })
export interface ProjectState extends Schema.Schema.Type<typeof ProjectState> {}

/** What the views show of a project beside its state (`Running`, `Paused`) and times. */
export const ProjectSummary = Schema.Struct({
  settings: ProjectSettings,
  isPausedManually: Schema.Boolean,
  isPausedAutomatically: Schema.Boolean,
  pauseReason: Schema.NullOr(Schema.String),
  budgetBand: BudgetBand
})
export interface ProjectSummary extends Schema.Schema.Type<typeof ProjectSummary> {}
