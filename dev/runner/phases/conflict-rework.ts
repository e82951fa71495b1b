/**
 * Conflict rework: the base is merged into the work branch, the resolve command resolves the conflicts, and the result
 * is checked: nothing left in conflict, nothing touched beyond it, and passed by the verify command.
 */
import { Effect } from "effect"
import { runAgent } from "../agent.ts"
import { pushWork } from "../git/commit.ts"
import { git } from "../git/git.ts"
import { mergeBaseIn } from "../git/merge.ts"
import { acceptResolution } from "../git/resolution.ts"
import type { Workspace } from "../git/workspace.ts"
import type { RunnerOptions } from "../options.ts"
import type { ReportBody } from "../Reporter.ts"
import { interruption, type PhaseTools, reasonOf } from "./outcome.ts"

const ended = (outcome: "resolved" | "failed" | "rejected", reason: string | null) =>
  ({ kind: "conflict-rework-ended", outcome, reason }) satisfies ReportBody

export const conflictRework = Effect.fnUntraced(function* (
  tools: PhaseTools,
  workspace: Workspace,
  options: RunnerOptions
) {
  const merged = yield* mergeBaseIn(workspace)
  if (merged._tag === "Conflict") {
    const files = { STARLING_CONFLICTS: merged.files.join("\n") }
    const end = yield* runAgent(options.resolve, tools, workspace, files)
    if (end._tag === "Badly") return ended("failed", reasonOf(end.complaint, "the conflict was not resolved"))
    const interrupted = interruption(tools.dispatch, end)
    if (interrupted !== undefined) return interrupted
    const rejection = yield* acceptResolution(workspace, merged.files)
    if (rejection !== undefined) return ended("rejected", rejection)
  }
  const verified = yield* runAgent(options.verify, tools, workspace)
  if (verified._tag === "Badly") return ended("rejected", reasonOf(verified.complaint, "host verification failed"))
  const interrupted = interruption(tools.dispatch, verified)
  if (interrupted !== undefined) return interrupted
  yield* pushWork(workspace)
  const headSha = yield* git(workspace.folder, "rev-parse", "HEAD")
  return { ...ended("resolved", null), headSha } satisfies ReportBody
})
