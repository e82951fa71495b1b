/** Possible next inputs of an item: mostly fitting its state, at times wrong, late or repeated. */
import {
  type WorkItemCommand,
  workItemPhases,
  type WorkItemReport,
  type WorkItemReportKind,
  workItemReportKinds,
  type WorkItemSettings,
  workItemSettingsDefault,
  type WorkItemState
} from "#pipeline/contract"
import type { Dice } from "../../../support/random-ssml.ts"
import { checkId, creation, finding, freshId, usage } from "./item-at-work.ts"
import { plainTags, sampleCommand, sampleReport } from "./samples.ts"

const kindsOf: Record<string, ReadonlyArray<WorkItemReportKind>> = {
  work: ["iteration-ended", "check-verdict", "questions-asked", "agent-stuck"],
  rework: ["iteration-ended", "questions-asked", "agent-stuck"],
  audit: ["audit-ended", "auditor-timed-out"],
  merge: ["merge-ended", "agent-stuck"],
  upstream: ["push-ended", "pull-request-opened"],
  "conflict-rework": ["conflict-rework-ended"],
  delegation: ["iteration-ended"]
}

export const randomSettings = ({ below, of }: Dice): WorkItemSettings => ({
  ...workItemSettingsDefault,
  failingSeverity: of(["Info", "Warning", "Error"]),
  autoMerge: below(2) === 0,
  maxAuditIterations: 1 + below(4),
  maxReworkAttempts: below(3),
  maxRecoveryAttempts: below(4),
  maxUpstreamPushAttempts: 1 + below(3),
  maxQuotaRetries: below(3),
  maxTransientRetries: below(4),
  retriesWhenStuck: below(2) === 0,
  delegatesAtAuditMax: below(2) === 0,
  delegatesAfterFailures: below(2) === 0 ? null : 1 + below(3)
})

export const randomCreation = (dice: Dice): WorkItemCommand =>
  creation({
    settings: randomSettings(dice),
    ...dice.of([{}, {}, { kind: "check" as const }, { kind: "follow-up" as const, originCheckWorkItemId: checkId }])
  })

const heads = ["abc1234", "feed123", "0123abc"]

export const randomCommand = (dice: Dice, item: WorkItemState, step: number): WorkItemCommand => {
  const { below, of } = dice
  if (item.dispatch !== null && below(10) < 8) return randomReport(dice, item, step)
  if (item.dispatch === null && below(10) < 8) return forward(dice, item, step)
  if (below(4) === 0) return randomReport(dice, item, step)
  const phase = below(6) > 0 ? (item.phase ?? "work") : of(workItemPhases)
  const command = sampleCommand(of(plainTags), phase, randomSettings(dice))
  if (command._tag === "Retire") return { ...command, endedBeforeMs: of([0, item.updatedAtMs]) }
  if (command._tag === "Defer") {
    const deferral = { ...command.deferral, suggestedRetryAtMs: item.updatedAtMs + below(2) }
    return { ...command, dispatchId: item.lastDispatchId, deferral }
  }
  if (command._tag === "RouteToConflictRework") return { ...command, headSha: of(heads) }
  if (command._tag === "ForgetStaleHead") return { ...command, headSha: of([...heads, null]) }
  return command._tag === "AutoRetry" ? { ...command, reason: of(["quota", "transient"]) } : command
}

/** The phase that the item waits for. */
const forward = (dice: Dice, item: WorkItemState, step: number): WorkItemCommand => {
  const command = (tag: (typeof plainTags)[number]) => sampleCommand(tag, item.phase ?? "work", item.settings)
  switch (item.state) {
    case "NeedsOperatorInput": {
      const questionId = item.openQuestions[0]?.questionId ?? "q"
      return dice.below(2) === 0
        ? { _tag: "Answer", questionId, answer: "this" }
        : { _tag: "DismissQuestion", questionId, reason: null }
    }
    case "WaitingForAgentResume":
      return { _tag: "AgentResumed" }
    case "WaitingForQuotaReset":
      return { _tag: "AutoRetry", reason: "quota", triggeredBy: "periodic", attempt: null }
    case "WaitingForTransientRetry":
      return { _tag: "AutoRetry", reason: "transient", triggeredBy: "startup", attempt: null }
    case "Failed":
      return command(dice.of(["AgentRestoreRequeue", "Delegate", "RouteToConflictRework"]))
    case "Done":
      return command("RouteToConflictRework")
    case "Cancelled":
      return command("Resume")
    case "AuditFailed":
      return command("Delegate")
    default:
      return { ...command("Dispatch"), dispatchId: `d${step}`, auditors: ["style"] } as WorkItemCommand
  }
}

const randomReport = (dice: Dice, item: WorkItemState, step: number): WorkItemCommand => {
  const { below, of } = dice
  const phase = item.dispatch?.phase
  const fitting = phase === undefined || below(4) === 0 ? workItemReportKinds : (kindsOf[phase] ?? [])
  const report = varied(dice, sampleReport(of(fitting)), step)
  const isLate = below(20) === 0
  const said =
    report.kind === "recheck-completed"
      ? report
      : {
          ...report,
          dispatchId: isLate ? "older" : (item.lastDispatchId ?? "none"),
          ...(below(2) === 0 ? {} : { usage: usage(below(1_000)) })
        }
  return { _tag: "Report", report: said, jitter: below(11) / 10, freshWorkItemId: freshId }
}

const varied = ({ below, of }: Dice, report: WorkItemReport, step: number): WorkItemReport => {
  switch (report.kind) {
    case "iteration-ended":
      return {
        ...report,
        commitSha: of(heads),
        outcome: below(20) === 0 ? "no-action" : of(["committed", "committed", "committed", "unchanged"])
      }
    case "audit-ended":
      return { ...report, findings: Array.from({ length: below(3) }, () => finding(of(["Info", "Warning", "Error"]))) }
    case "merge-ended":
      return { ...report, outcome: of(["merged", "merged", "conflict", "failed"]) }
    case "conflict-rework-ended":
      return {
        ...report,
        outcome: of(["resolved", "resolved", "failed", "rejected"]),
        ...(below(2) === 0 ? {} : { headSha: of(heads) })
      }
    case "push-ended":
      return { ...report, outcome: of(["pushed", "failed"]) }
    case "pull-request-opened":
      return { ...report, mergedSha: of([null, "feed123"]) }
    case "questions-asked":
      return { ...report, questions: [{ questionId: of(["q", `q${step}`]), questionText: "?".repeat(4_000) }] }
    case "quota-hit":
      return { ...report, toAgent: of([null, "mason"]), resetAtMs: of([null, 1_800_000_000_000]) }
    case "failed":
      return { ...report, failureKind: of(["infra", "agent"]), reason: "x".repeat(2_000) }
    case "check-verdict":
      return { ...report, isMatched: below(2) === 0 }
    case "recheck-completed":
      return { ...report, iteration: 1 + below(3) }
    default:
      return report
  }
}
