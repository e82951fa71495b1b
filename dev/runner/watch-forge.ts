/**
 * Watches the forge for pull requests of ours that can no longer be merged, because their base has moved. It reports
 * each change it sees, and repeats the report for one that stays behind, for its item may not have known of it the
 * first time. It learns the repositories from its own dispatches. Its memory of reports ends with it: then it reports
 * again, which is harmless.
 */
import { Clock, Effect } from "effect"
import { listPullRequests } from "./forge/client.ts"
import type { PullRequest } from "./forge/pull-request.ts"
import { sendReport } from "./Reporter.ts"

export interface ForgeWatch {
  readonly url: string
  readonly everyMs: number
  /** Addresses of repositories that have pull requests of ours. */
  readonly repositories: ReadonlySet<string>
  /** The interval after which a pull request that stays behind is reported again. */
  readonly againMs?: number
}

// An item knows of its pull request within moments.
const againMsDefault = 60_000

interface Reported {
  readonly seen: string
  readonly firstAtMs: number
  readonly reportedAtMs: number
}

// More than any forge of this size holds.
const reportedMax = 10_000

const mergeabilityOf = ({ state, mergeable }: PullRequest) => {
  if (state !== "open") return state
  return mergeable ? ("mergeable" as const) : ("stale-base" as const)
}

export const watchForge = Effect.fn("watchForge")(function* (watch: ForgeWatch) {
  const { url, everyMs, repositories, againMs = againMsDefault } = watch
  const reported = new Map<string, Reported>()
  const look = Effect.fnUntraced(function* (repositoryUrl: string) {
    const requests = yield* listPullRequests(url, repositoryUrl)
    for (const request of requests) {
      const mergeability = mergeabilityOf(request)
      const seen = `${request.headSha} ${mergeability}`
      const before = reported.get(request.url)
      const nowMs = yield* Clock.currentTimeMillis
      const isBehind = mergeability === "stale-base"
      const isSame = before?.seen === seen
      if (isSame && !(isBehind && nowMs - before.reportedAtMs >= againMs)) continue
      const firstAtMs = isSame ? before.firstAtMs : nowMs
      reported.set(request.url, { seen, firstAtMs, reportedAtMs: nowMs })
      if (reported.size > reportedMax) reported.clear()
      // A mergeable pull request is news only after it was not mergeable.
      if (before !== undefined || isBehind) yield* report(request, mergeability, firstAtMs)
    }
  })
  return yield* Effect.suspend(() =>
    Effect.forEach([...repositories], (repository) =>
      Effect.catch(look(repository), (error) => Effect.logWarning("the forge was not looked at", error.message))
    )
  ).pipe(Effect.delay(everyMs), Effect.forever)
})

const report = Effect.fnUntraced(function* (
  request: PullRequest,
  mergeability: ReturnType<typeof mergeabilityOf>,
  firstDetectedAtMs: number
) {
  const { workItemId, projectId } = request.labels
  if (projectId === undefined) return
  yield* sendReport("pull-request-mergeability", {
    projectId,
    workItemId: workItemId ?? null,
    pullRequestNumber: request.number,
    pullRequestUrl: request.url,
    headBranch: request.head,
    headSha: request.headSha,
    baseBranch: request.base,
    mergeability,
    firstDetectedAtMs
  })
})
