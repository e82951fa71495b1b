/**
 * A project's budget. The spend of thirty days is in the normal band, beyond the warning threshold, or beyond the hard
 * cap, which pauses the queue. Each move between bands makes one event. The first sweep of a new sweeper process
 * repeats the event of the band, but does not pause again. A fall from beyond the cap to the warning band makes no
 * event: the queue stays paused until spend has recovered, or until an operator raises the cap beyond it.
 */
import type { BudgetBand, ProjectFact, ProjectFactOf, ProjectSettings, ProjectState } from "#pipeline/contract"
import { type Concern, decided, nothing } from "./concern.ts"
import { heldByBudget, releasedByBudget } from "./holds.ts"

export const budgetConcern = {
  commands: {
    SweepSpend: (project, { spendMicroUsd, epoch }) => {
      const budget = budgetOf(project)
      if (budget === undefined) return nothing
      const sweep: Sweep = { ...budget, spendMicroUsd, epoch }
      const band = bandOf(spendMicroUsd, budget)
      const facts = band === project.budget.band ? stayed(project, sweep) : moved(project, sweep, band)
      return decided(...facts, ...releasedByRaise(project, budget, band))
    }
  },
  evolve: {
    BudgetWarned: (_project, { spendMicroUsd, epoch }) => bandState("warning", spendMicroUsd, epoch),
    BudgetExceeded: (_project, { spendMicroUsd, epoch }) => bandState("exceeded", spendMicroUsd, epoch),
    BudgetEased: (_project, { spendMicroUsd, epoch }) => bandState("warning", spendMicroUsd, epoch),
    BudgetRecovered: (_project, { spendMicroUsd }) => bandState("normal", spendMicroUsd, null),
    BudgetRemoved: ({ budget }) => bandState("normal", budget.spendMicroUsd, null)
  }
} satisfies Concern

const microUsdPerUsd = 1_000_000

/** A budget with its thresholds: the settings of a project that has one. */
interface Budget extends Pick<ProjectSettings, "warningThresholdPct" | "hardCapPct"> {
  readonly budgetMicroUsd: number
}

const budgetOf = ({ settings }: ProjectState): Budget | undefined => {
  const { budgetMicroUsd, warningThresholdPct, hardCapPct } = settings
  return budgetMicroUsd === null ? undefined : { budgetMicroUsd, warningThresholdPct, hardCapPct }
}

// Products of money and percentages exceed the integers that a double holds exactly.
const reaches = (spendMicroUsd: number, { budgetMicroUsd }: Budget, thresholdPct: number) =>
  BigInt(spendMicroUsd) * 100n >= BigInt(budgetMicroUsd) * BigInt(thresholdPct)

const capOf = ({ budgetMicroUsd, hardCapPct }: Pick<Budget, "budgetMicroUsd" | "hardCapPct">) =>
  BigInt(budgetMicroUsd) * BigInt(hardCapPct)

const bandOf = (spendMicroUsd: number, budget: Budget): BudgetBand => {
  if (reaches(spendMicroUsd, budget, budget.hardCapPct)) return "exceeded"
  return reaches(spendMicroUsd, budget, budget.warningThresholdPct) ? "warning" : "normal"
}

interface Sweep extends Budget {
  readonly spendMicroUsd: number
  readonly epoch: string
}

const warned = ({ spendMicroUsd, budgetMicroUsd, warningThresholdPct, epoch }: Sweep): ProjectFact => ({
  _tag: "BudgetWarned",
  spendMicroUsd,
  budgetMicroUsd,
  thresholdPct: warningThresholdPct,
  epoch
})

const exceeded = ({ spendMicroUsd, budgetMicroUsd, hardCapPct, epoch }: Sweep): ProjectFact => ({
  _tag: "BudgetExceeded",
  spendMicroUsd,
  budgetMicroUsd,
  thresholdPct: hardCapPct,
  epoch
})

const recovered = ({ spendMicroUsd, budgetMicroUsd, warningThresholdPct }: Sweep): ProjectFact => ({
  _tag: "BudgetRecovered",
  spendMicroUsd,
  budgetMicroUsd,
  thresholdPct: warningThresholdPct
})

/** The band is unchanged: each run of the sweeper reports it once. */
const stayed = ({ budget }: ProjectState, sweep: Sweep): ReadonlyArray<ProjectFact> => {
  if (budget.band === "normal" || budget.toldEpoch === sweep.epoch) return []
  return [budget.band === "warning" ? warned(sweep) : exceeded(sweep)]
}

const moved = (project: ProjectState, sweep: Sweep, band: BudgetBand): ReadonlyArray<ProjectFact> => {
  const { spendMicroUsd, epoch } = sweep
  switch (band) {
    case "normal":
      return [recovered(sweep), ...releasedByBudget(project, "30-day spend is below the warning threshold again")]
    case "warning":
      return project.budget.band === "exceeded" && project.budget.toldEpoch === epoch
        ? [{ _tag: "BudgetEased", spendMicroUsd, epoch }]
        : [warned(sweep)]
    case "exceeded":
      return [exceeded(sweep), ...holding(project, sweep)]
  }
}

const holding = (project: ProjectState, { budgetMicroUsd, hardCapPct }: Sweep) =>
  heldByBudget(project, `30-day spend reached ${hardCapPct} % of the budget`, { budgetMicroUsd, hardCapPct })

/** A raised cap ends the budget's hold at once. Spend that only fell keeps it until spend has recovered. */
const releasedByRaise = (project: ProjectState, budget: Budget, band: BudgetBand): ReadonlyArray<ProjectFact> => {
  const cap = project.automaticPause?.cap
  return band === "warning" && cap !== undefined && capOf(budget) > capOf(cap)
    ? releasedByBudget(project, "the budget was raised beyond 30-day spend")
    : []
}

/** Without a budget nothing is exceeded, and the budget's hold ends. */
export const budgetRemoved = (project: ProjectState): ReadonlyArray<ProjectFact> => [
  ...(project.budget.band === "normal" ? [] : [{ _tag: "BudgetRemoved" as const }]),
  ...releasedByBudget(project, "the project has no budget any more")
]

const bandState = (band: BudgetBand, spendMicroUsd: number, toldEpoch: string | null) => ({
  budget: { band, spendMicroUsd, toldEpoch }
})

type Reading = ProjectFactOf<"BudgetWarned" | "BudgetExceeded" | "BudgetRecovered">

export const budgetDetails = (projectId: string, { spendMicroUsd, budgetMicroUsd, thresholdPct }: Reading) => ({
  projectId,
  currentSpendUsd: spendMicroUsd / microUsdPerUsd,
  budgetUsd: budgetMicroUsd / microUsdPerUsd,
  pct: (spendMicroUsd * 100) / budgetMicroUsd,
  thresholdPct
})
