/**
 * The push to upstream: of the merged base branch, or, with a forge, of a pull request, which the forge merges at once
 * when the item's settings allow it and it can.
 */
import { Effect } from "effect"
import { openPullRequest } from "../forge/client.ts"
import { pushBase } from "../git/merge.ts"
import type { Workspace } from "../git/workspace.ts"
import type { RunnerOptions } from "../options.ts"
import type { ReportBody } from "../Reporter.ts"
import type { PhaseTools } from "./outcome.ts"

const pushed = (reason: string | null): ReportBody => ({
  kind: "push-ended",
  outcome: reason === null ? "pushed" : "failed",
  reason
})

export const upstream = Effect.fnUntraced(function* (
  { dispatch, report, pushes }: PhaseTools,
  workspace: Workspace,
  { forge }: RunnerOptions
) {
  if (forge === undefined) {
    const outcome = yield* pushes.withPermits(1)(pushBase(workspace, dispatch.mergeSha))
    return pushed(outcome._tag === "Pushed" ? null : outcome.reason)
  }
  const { workItem, project, settings } = dispatch
  const opened = yield* openPullRequest(forge, workspace.upstream, {
    title: workItem.title,
    head: workspace.workBranch,
    base: workspace.baseBranch,
    autoMerge: settings.autoMerge,
    labels: { workItemId: workItem.id, projectId: project.id }
  }).pipe(Effect.result)
  if (opened._tag === "Failure") return pushed(opened.failure.message)
  const { number, url, mergedSha } = opened.success
  yield* report({
    kind: "pull-request-opened",
    pullRequestNumber: number,
    pullRequestUrl: url,
    mergedSha
  })
  return pushed(null)
})
