/**
 * The push to upstream, and the pull request that a hosted forge may make of it. A push that failed is tried again
 * after a wait, the first try included as often as the project allows. A pull request is merged only where the project
 * lets it be; else it stays open.
 */
import type { RetryBackoff } from "#contracts"
import {
  type EventsByFact,
  decided,
  type Evolvers,
  type InHandDeciders,
  nothing,
  refused,
  silent
} from "./decisions.ts"
import { itemEvent } from "./envelope.ts"
import { failing } from "./failures.ts"
import { readyFor } from "./phases.ts"

/** How long to wait before a try, counted from 1; `jitter` is chance, from 0 to 1. */
export const backoffMs = ({ initialMs, maxMs, jitter: share }: RetryBackoff, attempt: number, jitter: number) =>
  Math.round(Math.min(initialMs * 2 ** Math.min(attempt - 1, 50), maxMs) * (1 + share * jitter))

export const upstreamDeciders = {
  "pull-request-opened": (item, { pullRequestNumber, pullRequestUrl, mergedSha }, { phase }) => {
    if (phase !== "upstream") return refused(item, `nothing is being pushed in the phase ${phase}`)
    const known = item.pullRequest
    const merged = item.settings.autoMerge ? mergedSha : null
    if (known?.number === pullRequestNumber && known.mergedSha === merged) return nothing
    return decided({ _tag: "PullRequestOpened", pullRequestNumber, pullRequestUrl, mergedSha: merged })
  },
  "push-ended": (item, { outcome, reason }, { phase }, { atMs, jitter }) => {
    if (phase !== "upstream") return refused(item, `nothing is being pushed in the phase ${phase}`)
    if (outcome === "pushed") return decided({ _tag: "Completed" })
    const error = reason ?? "the push failed"
    const { maxUpstreamPushAttempts, transientBackoff } = item.settings
    const attempts = item.upstreamPushAttempts
    if (attempts >= maxUpstreamPushAttempts) return decided(...failing(item, error, "upstream"))
    const notBeforeMs = atMs + backoffMs(transientBackoff, attempts, jitter)
    return decided({ _tag: "PushFailed", reason: error, notBeforeMs })
  }
} satisfies Partial<InHandDeciders>

export const upstreamEvolvers = {
  PullRequestOpened: (_item, { pullRequestNumber, pullRequestUrl, mergedSha }) => ({
    pullRequest: { number: pullRequestNumber, url: pullRequestUrl, mergedSha }
  }),
  PushFailed: (_item, { reason, notBeforeMs }) => ({ ...readyFor("upstream"), lastError: reason, notBeforeMs })
} satisfies Partial<Evolvers>

export const upstreamEvents = {
  PullRequestOpened: (item, { _tag, ...details }, context) => [
    itemEvent(item, context, "work_item.pull_request_opened", {
      workBranch: item.workBranch,
      baseBranch: item.baseBranch,
      ...details
    })
  ],
  PushFailed: silent
} satisfies Partial<EventsByFact>
