/**
 * What has happened to a project, as its log tells it. Settings, and the way from beyond the hard cap back into the
 * warning band, are private; so is the end of a hold while another one stands.
 */
import { Schema } from "effect"
import { Id } from "../primitives.ts"
import { staleBase } from "./project-commands.ts"
import { budgetCap, budgetReading, ProjectSettings } from "./project-state.ts"
import { PauseReason } from "./queue-commands.ts"

const fact = Schema.TaggedStruct
const settings = { settings: ProjectSettings }
const told = { ...budgetReading, epoch: Id }
const { spendMicroUsd } = budgetReading

/** `isFirst`: the queue ran until then. */
const hold = { reason: PauseReason, isFirst: Schema.Boolean }

export const projectFacts = {
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
  BudgetWarned: fact("BudgetWarned", told),
  BudgetExceeded: fact("BudgetExceeded", told),
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
