/**
 * An audit: the audit command runs for each auditor in turn, on the files of the work branch. Its lines are the
 * findings; an exit code other than 0 without any is a finding too. An auditor that takes too long is left out, and the
 * report says so.
 */
import { Clock, Effect, Option } from "effect"
import { findingsMax, type WorkItemReportOf } from "#pipeline/contract"
import { type AgentEnd, runAgent } from "../agent.ts"
import { linesOf } from "../agent-lines.ts"
import { checkOut, type Workspace } from "../git/workspace.ts"
import type { RunnerOptions } from "../options.ts"
import type { ReportBody } from "../Reporter.ts"
import { interruption, type PhaseTools, reasonOf } from "./outcome.ts"

type Found = WorkItemReportOf<"audit-ended">["findings"][number]

export const audit = Effect.fnUntraced(function* (tools: PhaseTools, workspace: Workspace, options: RunnerOptions) {
  const { dispatch, report } = tools
  const startedAtMs = yield* Clock.currentTimeMillis
  yield* checkOut(workspace, "--detach", `origin/${workspace.workBranch}`)
  const findings: Array<Found> = []
  for (const auditor of dispatch.auditors) {
    const end = yield* runAgent(options.audit, tools, workspace, { STARLING_AUDITOR: auditor }).pipe(
      Effect.timeoutOption(dispatch.auditorTimeoutMs)
    )
    if (Option.isNone(end) || end.value._tag === "Stuck") {
      yield* report({ kind: "auditor-timed-out", auditor, agent: dispatch.agent, sandboxId: null })
      continue
    }
    const interrupted = end.value._tag === "Badly" ? undefined : interruption(dispatch, end.value)
    if (interrupted !== undefined) return interrupted
    findings.push(...findingsOf(auditor, end.value))
  }
  const durationMs = (yield* Clock.currentTimeMillis) - startedAtMs
  return {
    kind: "audit-ended",
    findings: findings.slice(0, findingsMax),
    durationMs
  } satisfies ReportBody
})

const findingsOf = (auditor: string, end: AgentEnd): ReadonlyArray<Found> => {
  const found = linesOf(end.lines, "finding").map(({ type: _type, ...finding }) => ({ auditor, ...finding }))
  if (end._tag === "Well" || found.length > 0) return found
  const description = reasonOf(end.complaint, "it gave no reason").slice(-1_000)
  return [{ auditor, severity: "Error", title: "the auditor failed", location: null, description }]
}
