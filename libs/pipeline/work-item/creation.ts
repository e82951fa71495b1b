/** How an item begins, and how it goes: created once under its id, and retired when it has ended long enough ago. */
import { Result } from "effect"
import { type DecisionContext, Refusal } from "#actors/definition"
import { type WorkItemCommandOf, type WorkItemFactOf, type WorkItemState, workBranchOf } from "#contracts"
import { type CommandDeciders, decided, type Decision, type Evolvers, refused } from "./decisions.ts"

export const create = (
  { _tag, workBranchPrefix, ...origin }: WorkItemCommandOf<"Create">,
  { id }: DecisionContext
): Decision => {
  const isFollowUp = origin.kind === "follow-up"
  if (isFollowUp !== (origin.originCheckWorkItemId !== null)) {
    const reason = "a follow-up, and nothing else, names the check it comes from"
    return Result.fail(new Refusal({ state: "none", reason }))
  }
  return decided({ _tag: "Created", ...origin, workBranch: workBranchOf(workBranchPrefix, id) })
}

export const created = (
  { _tag, ...origin }: WorkItemFactOf<"Created">,
  { atMs }: Pick<DecisionContext, "atMs">
): WorkItemState => ({
  ...origin,
  state: "Queued",
  phase: "work",
  dispatch: null,
  assignedAgent: null,
  lastDispatchId: null,
  createdAtMs: atMs,
  updatedAtMs: atMs,
  endedAtMs: null,
  lastError: null,
  failureKind: null,
  failedAgent: null,
  run: 1,
  auditedIterations: 0,
  upstreamPushAttempts: 0,
  conflictReworks: 0,
  recoveryAttempts: 0,
  quotaRetries: 0,
  transientRetries: 0,
  terminalFailures: 0,
  isAutoEscalated: false,
  notBeforeMs: null,
  retryAtMs: null,
  quotaResetAtMs: null,
  openQuestions: [],
  questionIds: [],
  suggestions: 0,
  pullRequest: null,
  commitSha: null,
  mergeSha: null,
  followupWorkItemId: null,
  recheckedIteration: 0,
  usage: null,
  usageTotal: null
})

export const retirementDeciders = {
  Retire: (item, { endedBeforeMs }) =>
    item.endedAtMs !== null && item.endedAtMs <= endedBeforeMs
      ? decided({ _tag: "Retired" })
      : refused(item, "it has not ended long enough ago")
} satisfies Partial<CommandDeciders>

export const retirementEvolvers = { Retired: () => ({}) } satisfies Partial<Evolvers>
