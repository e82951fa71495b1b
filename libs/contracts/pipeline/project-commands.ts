/**
 * What can be asked of a project. `epoch` names the run of the process that asks: what is to be told once in each run
 * of it is told again after a restart.
 */
import { Schema } from "effect"
import { WorkItem } from "../entities.ts"
import { Count, EpochMs, Id, text } from "../primitives.ts"
import { budgetReading, ProjectSettings } from "./project-state.ts"
import { PauseReason } from "./queue-commands.ts"
import { Branch } from "./work-item-state.ts"

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

export const projectCommands = {
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
