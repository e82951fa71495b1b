/**
 * Looks at the forge for pull requests of ours that cannot be merged any more, because their base has moved, and
 * reports each change it sees. Which repositories to look at it learns from what it was given to do. What it has told
 * it forgets when it ends: then it tells again, which is harmless.
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
}

// More than any forge of this size holds.
const toldMax = 10_000

const mergeabilityOf = ({ state, mergeable }: PullRequest) => {
  if (state !== "open") return state
  return mergeable ? ("mergeable" as const) : ("stale-base" as const)
}

export const watchForge = Effect.fn("watchForge")(function* ({ url, everyMs, repositories }: ForgeWatch) {
  const told = new Map<string, string>()
  const look = Effect.fnUntraced(function* (repositoryUrl: string) {
    const requests = yield* listPullRequests(url, repositoryUrl)
    for (const request of requests) {
      const mergeability = mergeabilityOf(request)
      const seen = `${request.headSha} ${mergeability}`
      const before = told.get(request.url)
      if (before === seen) continue
      told.set(request.url, seen)
      if (told.size > toldMax) told.clear()
      // That one can be merged is news only after it could not.
      if (before !== undefined || mergeability === "stale-base") yield* tell(request, mergeability)
    }
  })
  return yield* Effect.suspend(() =>
    Effect.forEach([...repositories], (repository) =>
      Effect.catch(look(repository), (error) => Effect.logWarning("the forge was not looked at", error.message))
    )
  ).pipe(Effect.delay(everyMs), Effect.forever)
})

const tell = Effect.fnUntraced(function* (request: PullRequest, mergeability: ReturnType<typeof mergeabilityOf>) {
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
    firstDetectedAtMs: yield* Clock.currentTimeMillis
  })
})
