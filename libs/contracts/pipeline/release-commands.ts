/**
 * What can be asked of a release. Its operators close, reopen and abandon it; the deep audit reports its iterations;
 * the pipeline tells how linked items end. Ids of items that are to be made come in with the command.
 */
import { Schema } from "effect"
import { Count, EpochMs, Id, Ordinal, text, Uuid } from "../primitives.ts"
import { WaitMs } from "./instants.ts"
import { releaseOrigin, releaseReasonCharactersMax } from "./release-state.ts"
import { AgentName, Branch, instructionsCharactersMax, titleCharactersMax } from "./work-item-state.ts"

const command = Schema.TaggedStruct
const reason = Schema.NullOr(text(releaseReasonCharactersMax))

/** The item that is to mend what an iteration of the deep audit found. */
export const ReleaseRemediation = Schema.Struct({
  workItemId: Uuid,
  title: Schema.String.check(Schema.isBetweenLength(1, titleCharactersMax)),
  instructions: Schema.NullOr(text(instructionsCharactersMax)),
  agent: AgentName
})
export interface ReleaseRemediation extends Schema.Schema.Type<typeof ReleaseRemediation> {}

export const releaseCommands = {
  Create: command("Create", releaseOrigin),
  /** An item was created that names this release. One that is linked already changes nothing. */
  AddWorkItem: command("AddWorkItem", { workItemId: Uuid, title: text(titleCharactersMax) }),
  /** Of an item that is not linked: nothing. */
  EndWorkItem: command("EndWorkItem", {
    workItemId: Uuid,
    outcome: Schema.Literals(["done", "failed", "cancelled"])
  }),
  /** An item that had ended is in the pipeline again: resumed, queued again, delegated. */
  ReturnWorkItem: command("ReturnWorkItem", { workItemId: Uuid }),
  Close: command("Close", { reason }),
  BeginDeepAudit: command("BeginDeepAudit", { auditId: Id, maxIterations: Schema.NullOr(Ordinal) }),
  /**
   * `auditId` null: the audit that runs. `remediation`: dispatched where findings block and another iteration is
   * allowed; null: none is wanted.
   */
  CompleteAuditIteration: command("CompleteAuditIteration", {
    auditId: Schema.NullOr(Id),
    iteration: Ordinal,
    maxIterations: Ordinal,
    blockingFindings: Count,
    totalFindings: Count,
    remediation: Schema.NullOr(ReleaseRemediation)
  }),
  /** It was merged to its target; `forgeReleaseUrl` where a forge release was made of it. */
  Publish: command("Publish", { mergeSha: Schema.NullOr(text(64)), forgeReleaseUrl: Schema.NullOr(text(1_000)) }),
  Reopen: command("Reopen", { reason }),
  Abandon: command("Abandon", { reason }),
  /** Of the sync service; `sweepIntervalMs`: for so long the same conflict is not told again. */
  ReportSyncConflict: command("ReportSyncConflict", {
    sourceBranch: Branch,
    targetBranch: Branch,
    sweepIntervalMs: WaitMs
  }),
  /** The release goes, if it ended for good no later than that. */
  Retire: command("Retire", { endedBeforeMs: EpochMs })
}

export const ReleaseCommand = Schema.Union(Object.values(releaseCommands))
export type ReleaseCommand = typeof ReleaseCommand.Type
export type ReleaseCommandTag = ReleaseCommand["_tag"]
export type ReleaseCommandOf<Tag extends ReleaseCommandTag> = Extract<ReleaseCommand, { readonly _tag: Tag }>
