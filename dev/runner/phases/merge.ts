/** The merge into the base branch: made in the clone, checked by the verify command, and kept upstream for the push. */
import { Effect } from "effect"
import { runAgent } from "../agent.ts"
import { keepMerge, mergeIntoBase } from "../git/merge.ts"
import type { Workspace } from "../git/workspace.ts"
import type { RunnerOptions } from "../options.ts"
import type { ReportBody } from "../Reporter.ts"
import { interruption, type PhaseTools, reasonOf } from "./outcome.ts"

export const merge = Effect.fnUntraced(function* (tools: PhaseTools, workspace: Workspace, options: RunnerOptions) {
  const outcome = yield* mergeIntoBase(workspace)
  if (outcome._tag === "Conflict") {
    const reason = `in conflict: ${outcome.files.slice(0, 10).join(", ")}`
    return { kind: "merge-ended", outcome: "conflict", mergeSha: null, reason } satisfies ReportBody
  }
  const end = yield* runAgent(options.verify, tools, workspace)
  if (end._tag === "Badly") {
    const reason = reasonOf(end.complaint, "the merge was not passed")
    return { kind: "merge-ended", outcome: "failed", mergeSha: null, reason } satisfies ReportBody
  }
  const interrupted = interruption(tools.dispatch, end)
  if (interrupted !== undefined) return interrupted
  yield* keepMerge(workspace)
  const { mergeSha } = outcome
  return { kind: "merge-ended", outcome: "merged", mergeSha, reason: null } satisfies ReportBody
})
