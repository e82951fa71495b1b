/**
 * The runners' reports on an item, by `kind`. Every report has an id, so that a repeat is harmless, and names its
 * dispatch: a report of an earlier dispatch is too late and changes only the item's cost. Secrets in texts that people
 * wrote are removed before a report gets here. `usage` is the cost since the dispatch's last report of usage, and
 * counts once, however late or often the report arrives.
 */
import { Schema } from "effect"
import {
  Count,
  EpochMs,
  Finding,
  Id,
  Ordinal,
  QuestionId,
  questionTextCharactersMax,
  suggestionTitleCharactersMax,
  text,
  Uuid
} from "#base"
import { AgentName, errorCharactersMax, FailureKind, instructionsCharactersMax, titleCharactersMax } from "./state.ts"

// A decision is one message of at most a megabyte, and carries each finding twice: as fact and as event.
export const findingsMax = 64
export const questionsPerReportMax = 8
export const suggestionsPerReportMax = 8
export const auditorsMax = 64

// No single report may spend more; sums of thousands of them stay exact integers.
const amount = Count.check(Schema.isLessThanOrEqualTo(1_000_000_000_000))

/** Money is micro-USD. */
export const ReportedUsage = Schema.Struct({
  tokensInput: amount,
  tokensOutput: amount,
  tokensCached: amount,
  costMicroUsd: amount,
  elapsedMs: amount
})
export interface ReportedUsage extends Schema.Schema.Type<typeof ReportedUsage> {}

/** One finding as an auditor reports it, each text within its bound. */
export const ReportedFinding = Schema.Struct({
  auditor: text(100),
  severity: Finding.fields.severity,
  title: text(200),
  location: Schema.NullOr(text(300)),
  description: text(1_000)
})

export const ReportedSuggestion = Schema.Struct({
  title: text(suggestionTitleCharactersMax),
  rationale: text(4_000),
  category: Schema.Literals(["test-coverage", "refactor", "dead-code", "security", "dependency", "docs", "other"]),
  severity: Schema.Literals(["minor", "notable", "important"]),
  estimatedEffort: Schema.Literals(["tiny", "small", "medium", "large"]),
  filesReferenced: Schema.Array(text(256)).check(Schema.isMaxLength(32))
})

const sha = Schema.NullOr(Schema.String.check(Schema.isPattern(/^[0-9a-fA-F]{7,64}$/u)))
const reason = text(errorCharactersMax)
const durationMs = amount
const of = { reportId: Id, workItemId: Uuid }

const report = <const Kind extends string, const Fields extends Schema.Struct.Fields>(kind: Kind, fields: Fields) =>
  Schema.Struct({
    kind: Schema.Literal(kind),
    ...of,
    dispatchId: Id,
    usage: Schema.optionalKey(ReportedUsage),
    ...fields
  })

export const workItemReports = {
  /** The runner is alive and working. */
  progress: report("progress", {}),
  /** Work, rework or delegation ended. `unchanged`: without a commit; `no-action`: there was nothing to do. */
  iterationEnded: report("iteration-ended", {
    outcome: Schema.Literals(["committed", "unchanged", "no-action"]),
    commitSha: sha,
    durationMs
  }),
  auditEnded: report("audit-ended", {
    findings: Schema.Array(ReportedFinding).check(Schema.isMaxLength(findingsMax)),
    durationMs
  }),
  /** `sandboxId` null: during the launch of the sandbox. */
  auditorTimedOut: report("auditor-timed-out", { auditor: text(100), agent: AgentName, sandboxId: Schema.NullOr(Id) }),
  mergeEnded: report("merge-ended", {
    outcome: Schema.Literals(["merged", "conflict", "failed"]),
    mergeSha: sha,
    reason: Schema.NullOr(reason)
  }),
  /**
   * `rejected`: by host verification or the scope fence, which ends the item; `failed`: can be retried. `headSha`: the
   * commit pushed to the work branch; without it, earlier reports on the pull request must be repeated.
   */
  conflictReworkEnded: report("conflict-rework-ended", {
    outcome: Schema.Literals(["resolved", "failed", "rejected"]),
    reason: Schema.NullOr(reason),
    headSha: Schema.optionalKey(sha)
  }),
  /** Only from a hosted forge that has pull requests. `mergedSha` null: it stays open. */
  pullRequestOpened: report("pull-request-opened", {
    pullRequestNumber: Count,
    pullRequestUrl: text(1_000),
    mergedSha: sha
  }),
  /** `pushed`: upstream has the commit, perhaps by a pull request. */
  pushEnded: report("push-ended", { outcome: Schema.Literals(["pushed", "failed"]), reason: Schema.NullOr(reason) }),
  /** The sender has removed secrets from the text. */
  questionsAsked: report("questions-asked", {
    questions: Schema.Array(
      Schema.Struct({ questionId: QuestionId, questionText: text(questionTextCharactersMax) })
    ).check(Schema.isBetweenLength(1, questionsPerReportMax))
  }),
  suggestionsMade: report("suggestions-made", {
    suggestions: Schema.Array(ReportedSuggestion).check(Schema.isBetweenLength(1, suggestionsPerReportMax))
  }),
  /** The probe found the agent hanging, and killed it. */
  agentStuck: report("agent-stuck", { stuckSeconds: amount }),
  /** The worker is gone. */
  agentDied: report("agent-died", { reason }),
  /** A login prompt, or refused credentials. */
  authFailed: report("auth-failed", { reason, category: Schema.Literals(["Persistent", "Transient", "Unknown"]) }),
  /** `toAgent`: the member of the class that takes over; null: none is left, and `resetAtMs` gives the reset. */
  quotaHit: report("quota-hit", {
    reason,
    toAgent: Schema.NullOr(AgentName),
    toModel: Schema.NullOr(AgentName),
    resetAtMs: Schema.NullOr(EpochMs)
  }),
  transientFailed: report("transient-failed", { reason }),
  failed: report("failed", { reason, failureKind: FailureKind }),
  /** The host shuts down in an orderly way; the item goes back. */
  preempted: report("preempted", {}),
  /**
   * The verdict of an item that is a check. `followUp`: the follow-up's title and instructions, else those of the
   * check.
   */
  checkVerdict: report("check-verdict", {
    isMatched: Schema.Boolean,
    answer: text(4_000),
    followUp: Schema.NullOr(
      Schema.Struct({
        title: Schema.String.check(Schema.isBetweenLength(1, titleCharactersMax)),
        instructions: Schema.NullOr(text(instructionsCharactersMax))
      })
    )
  }),
  /** The check ran again after a follow-up's act; it belongs to no dispatch. */
  recheckCompleted: Schema.Struct({
    kind: Schema.Literal("recheck-completed"),
    ...of,
    iteration: Ordinal,
    answer: text(4_000),
    actionableAnswer: text(4_000)
  })
}

export const WorkItemReport = Schema.Union(Object.values(workItemReports))
export type WorkItemReport = typeof WorkItemReport.Type
export type WorkItemReportKind = WorkItemReport["kind"]
export type WorkItemReportOf<Kind extends WorkItemReportKind> = Extract<WorkItemReport, { readonly kind: Kind }>
/** The kinds as named in `reports.<kind>`. */
export const workItemReportKinds: ReadonlyArray<WorkItemReportKind> = Object.values(workItemReports).map(
  (schema) => schema.fields.kind.literal
)
