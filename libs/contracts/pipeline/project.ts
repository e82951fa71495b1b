/**
 * A project: its settings, its state, the commands it takes and the facts of its log. Its state says what holds its
 * queue, where its spend stands to its budget, and which stale pull requests were told. Money is integer micro-USD.
 */
import { Schema, Struct } from "effect"
import { WorkItem } from "../events/entities.ts"
import { Count, EpochMs, Id, Ordinal, text } from "../primitives.ts"
import { PauseReason } from "./queue.ts"
import { capMax, WorkItemSettings } from "./work-item/settings.ts"
import { Branch } from "./work-item/state.ts"

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
const budgetReading = {
  spendMicroUsd: Count.check(Schema.isLessThanOrEqualTo(spendMicroUsdMax)),
  budgetMicroUsd: Ordinal,
  /** The threshold that was crossed. */
  thresholdPct
}

/** The spend from which on a queue is paused: that percentage of that budget. */
const budgetCap = Schema.Struct({ budgetMicroUsd: Ordinal, hardCapPct: thresholdPct })

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

const command = Schema.TaggedStruct
const settings = { settings: ProjectSettings }

/** A pull request of ours that its base has left behind. */
export const staleBase = {
  pullRequestNumber: Count,
  pullRequestUrl: text(1_000),
  headBranch: Branch,
  headSha: text(64),
  baseBranch: Branch,
  firstDetectedAtMs: EpochMs,
  /** The item that the pull request is of, as it stands; null where it is not known. */
  workItem: Schema.NullOr(WorkItem)
}

/** `epoch`: the run of the process that asks. What is told once in each run is told again after a restart. */
const projectCommands = {
  Create: command("Create", settings),
  /** The whole of the settings. */
  UpdateSettings: command("UpdateSettings", settings),
  /** By hand: until it is resumed by hand, whatever the budget does meanwhile. */
  PauseQueue: command("PauseQueue", { reason: PauseReason, pausedBy: Id }),
  /** What was paused by hand; a queue that the budget holds stays paused by it. */
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

/** `isFirst`: the queue ran until then. */
const hold = { reason: PauseReason, isFirst: Schema.Boolean }

/**
 * Private are settings, the way from beyond the hard cap back into the warning band, and the end of a hold while another
 * one stands.
 */
const projectFacts = {
  Created: fact("Created", settings),
  SettingsUpdated: fact("SettingsUpdated", settings),
  PausedManually: fact("PausedManually", { ...hold, pausedBy: Id }),
  /** In older logs it does not say of which cap. */
  PausedAutomatically: fact("PausedAutomatically", { ...hold, cap: Schema.optionalKey(budgetCap) }),
  /** `isLast`: nothing holds the queue any more. Older logs do not say it: there the budget's hold went with it. */
  ResumedManually: fact("ResumedManually", {
    reason: Schema.NullOr(PauseReason),
    resumedBy: Id,
    isLast: Schema.optionalKey(Schema.Boolean)
  }),
  AutomaticPauseLifted: fact("AutomaticPauseLifted", { reason: PauseReason, isLast: Schema.Boolean }),
  BudgetWarned: fact("BudgetWarned", bandReading),
  BudgetExceeded: fact("BudgetExceeded", bandReading),
  /** Below the hard cap again, but not below the warning threshold. */
  BudgetEased: fact("BudgetEased", { spendMicroUsd, epoch: Id }),
  BudgetRecovered: fact("BudgetRecovered", budgetReading),
  /** There is no budget any more to compare spend with. */
  BudgetRemoved: fact("BudgetRemoved", {}),
  StaleBaseFound: fact("StaleBaseFound", { ...staleBase, epoch: Id })
}

export const ProjectFact = Schema.Union(Object.values(projectFacts))
export type ProjectFact = typeof ProjectFact.Type
export type ProjectFactTag = ProjectFact["_tag"]
export type ProjectFactOf<Tag extends ProjectFactTag> = Extract<ProjectFact, { readonly _tag: Tag }>
