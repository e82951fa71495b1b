/**
 * The life of a release as one table: for every state, the commands that it takes and the states to which they may
 * lead. A command that leads nowhere (`[]`) is taken and changes nothing; one that is not listed is refused. The
 * decisions hold further guards.
 */
import type { ReleaseCommandTag, ReleaseStateName } from "#contracts"

export type ReleaseInput = Exclude<ReleaseCommandTag, "Create">
type Row = Partial<Record<ReleaseInput, ReadonlyArray<ReleaseStateName>>>

/** Linked items reach their ends whatever becomes of the release. */
const items = (state: ReleaseStateName) => ({ EndWorkItem: [state], ReturnWorkItem: [state] }) satisfies Row
/** The release's branch stays in step with its target until the release is over. */
const synced = (state: ReleaseStateName) => ({ ...items(state), ReportSyncConflict: [state] }) satisfies Row

export const releaseTransitions: Record<ReleaseStateName, Row> = {
  open: { ...synced("open"), AddWorkItem: ["open"], Close: ["closed"], Abandon: ["abandoned"] },
  closed: { ...synced("closed"), AddWorkItem: [], BeginDeepAudit: ["in_review"] },
  in_review: {
    ...synced("in_review"),
    AddWorkItem: [],
    BeginDeepAudit: [],
    CompleteAuditIteration: ["in_review", "failed"],
    Publish: ["published"]
  },
  failed: { ...synced("failed"), AddWorkItem: [], Reopen: ["open"] },
  published: { ...items("published"), AddWorkItem: [], Retire: ["published"] },
  abandoned: { ...items("abandoned"), AddWorkItem: [], Retire: ["abandoned"] }
}

const refusals: Record<ReleaseInput, string> = {
  AddWorkItem: "only an open release takes work items",
  EndWorkItem: "it takes no ends of items",
  ReturnWorkItem: "it takes no items back",
  Close: "only an open release can be closed",
  BeginDeepAudit: "only a closed release can be reviewed",
  CompleteAuditIteration: "no deep audit of it runs",
  Publish: "only a release in review can be published",
  Reopen: "only a failed release can be opened again",
  Abandon: "only an open release can be abandoned",
  ReportSyncConflict: "its branch is not synced any more",
  Retire: "only a release that is over can be retired"
}

/** Why a state does not take a command, in words for its sender. */
export const refusalOf = (input: ReleaseInput): string => refusals[input]
