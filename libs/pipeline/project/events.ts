/** What the world is told of a project. Budget events are about no project object: their details name the project. */
import type { EventDraft } from "#actors/definition"
import { isoTime, type Project, type ProjectFact, type ProjectState } from "#contracts"
import { budgetDetails } from "./budget.ts"
import { holdTold } from "./holds.ts"

export const toEvents = (project: ProjectState, fact: ProjectFact, id: string): ReadonlyArray<EventDraft> => {
  const nobodys = { workItem: null, project: null }
  switch (fact._tag) {
    case "BudgetWarned":
      return [{ event: "project.budget_warning", ...nobodys, details: budgetDetails(id, fact) }]
    case "BudgetExceeded":
      return [{ event: "project.budget_exceeded", ...nobodys, details: budgetDetails(id, fact) }]
    case "BudgetRecovered":
      return [{ event: "project.budget_recovered", ...nobodys, details: budgetDetails(id, fact) }]
    case "PausedManually":
    case "PausedAutomatically":
    case "ResumedManually":
    case "AutomaticPauseLifted": {
      const told = holdTold(project, fact)
      if (told === undefined) return []
      const details = { projectId: id, ...told.details }
      return [{ event: told.event, workItem: null, project: wireProject(project, id), details }]
    }
    case "StaleBaseFound": {
      const { _tag, workItem, firstDetectedAtMs, epoch: _epoch, ...found } = fact
      const details = { projectId: id, ...found, firstDetectedAt: isoTime(firstDetectedAtMs) }
      return [{ event: "upstream.pr_stale_base", workItem, project: wireProject(project, id), details }]
    }
    // Settings, and the way back from the hard cap to the warning band, are nobody's business.
    case "Created":
    case "SettingsUpdated":
    case "BudgetEased":
    case "BudgetRemoved":
      return []
  }
}

const wireProject = ({ settings }: ProjectState, id: string): Project => ({
  id,
  displayName: settings.displayName,
  repositoryUrl: settings.repositoryUrl
})
