/**
 * Work, rework and delegation: the agent changes files on the work branch, and its changes are committed and pushed
 * there. A check changes nothing and ends with its verdict.
 */
import { Clock, Effect } from "effect"
import { runAgent } from "../agent.ts"
import { linesOf } from "../agent-lines.ts"
import { checkOutWork, commitWork, pushWork } from "../git/commit.ts"
import type { Workspace } from "../git/workspace.ts"
import type { RunnerOptions } from "../options.ts"
import type { ReportBody } from "../Reporter.ts"
import { interruption, type PhaseTools, reportSuggestions } from "./outcome.ts"

export const work = Effect.fnUntraced(function* (tools: PhaseTools, workspace: Workspace, options: RunnerOptions) {
  const { dispatch } = tools
  const startedAtMs = yield* Clock.currentTimeMillis
  const start = yield* checkOutWork(workspace)
  const end = yield* runAgent(options.work, tools, workspace)
  yield* reportSuggestions(tools, end)
  const interrupted = interruption(dispatch, end)
  if (interrupted !== undefined) return interrupted
  const [verdict] = linesOf(end.lines, "verdict")
  if (verdict !== undefined) {
    const { type: _type, ...given } = verdict
    return { kind: "check-verdict", ...given } satisfies ReportBody
  }
  const message = `${dispatch.workItem.title}\n\nWork item ${dispatch.workItem.id}, iteration ${dispatch.iteration}.`
  const commitSha = (yield* commitWork(workspace, start, message)) ?? null
  if (commitSha !== null) yield* pushWork(workspace)
  const durationMs = (yield* Clock.currentTimeMillis) - startedAtMs
  const without = linesOf(end.lines, "no-action").length > 0 ? ("no-action" as const) : ("unchanged" as const)
  const outcome = commitSha === null ? without : ("committed" as const)
  return { kind: "iteration-ended", outcome, commitSha, durationMs } satisfies ReportBody
})
