/**
 * From an audited branch to upstream. A merge into the base branch succeeds, fails, or meets a conflict, which is a
 * concern of its own. A failed push is tried again after a wait, as often as the project allows, the first try
 * included. A hosted forge may make a pull request of it, which is merged only where the project says so.
 */
import { type Concern, decided, itemEvent, nothing, refused, silent } from "./concern.ts"
import { conflicted } from "./conflicts.ts"
import { branches } from "./dispatch.ts"
import { failing } from "./failures.ts"
import { readyFor } from "./states.ts"
import { backoffMs } from "./waits.ts"

export const merge = {
  reports: {
    "merge-ended": (item, { outcome, mergeSha, reason }, { dispatch: { phase } }) => {
      if (phase !== "merge") return refused(item, `no merge is under way in the phase ${phase}`)
      switch (outcome) {
        case "merged":
          return decided({ _tag: "Merged", mergeSha })
        case "conflict":
          return conflicted(item, { source: "merge", reason: reason ?? "the branches are in conflict" })
        case "failed":
          return decided(...failing(item, reason ?? "the merge failed", "merge"))
      }
    },
    "pull-request-opened": (item, { pullRequestNumber, pullRequestUrl, mergedSha }, { dispatch: { phase } }) => {
      if (phase !== "upstream") return refused(item, `nothing is being pushed in the phase ${phase}`)
      const known = item.pullRequest
      const merged = item.settings.autoMerge ? mergedSha : null
      if (known?.number === pullRequestNumber && known.mergedSha === merged) return nothing
      return decided({ _tag: "PullRequestOpened", pullRequestNumber, pullRequestUrl, mergedSha: merged })
    },
    "push-ended": (item, { outcome, reason }, { dispatch: { phase }, atMs, jitter }) => {
      if (phase !== "upstream") return refused(item, `nothing is being pushed in the phase ${phase}`)
      if (outcome === "pushed") return decided({ _tag: "Completed" })
      const error = reason ?? "the push failed"
      const { maxUpstreamPushAttempts, transientBackoff } = item.settings
      const attempts = item.upstreamPushAttempts
      if (attempts >= maxUpstreamPushAttempts) return decided(...failing(item, error, "upstream"))
      const notBeforeMs = atMs + backoffMs(transientBackoff, attempts, jitter)
      return decided({ _tag: "PushFailed", reason: error, notBeforeMs })
    }
  },
  evolve: {
    Merged: (_item, { mergeSha }) => ({ ...readyFor("upstream"), mergeSha }),
    PullRequestOpened: (_item, { pullRequestNumber, pullRequestUrl, mergedSha }) => ({
      pullRequest: { number: pullRequestNumber, url: pullRequestUrl, mergedSha }
    }),
    PushFailed: (_item, { reason, notBeforeMs }) => ({ ...readyFor("upstream"), lastError: reason, notBeforeMs })
  },
  events: {
    Merged: (item, { mergeSha }, context) => [
      itemEvent(item, context, { event: "merge.completed", details: { ...branches(item, context.id), mergeSha } }),
      itemEvent(item, context, { event: "work_item.merged" })
    ],
    PullRequestOpened: (item, { _tag, ...details }, context) => [
      itemEvent(item, context, {
        event: "work_item.pull_request_opened",
        details: {
          workBranch: item.workBranch,
          baseBranch: item.baseBranch,
          ...details
        }
      })
    ],
    PushFailed: silent
  }
} satisfies Concern
