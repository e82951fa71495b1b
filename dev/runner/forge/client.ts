/** A runner's calls to a forge. */
import { Effect, Schema } from "effect"
import { type NewPullRequest, PullRequest, PullRequestList, repositoryNameOf } from "./pull-request.ts"

export class ForgeFailed extends Schema.TaggedError<ForgeFailed>()("ForgeFailed", { detail: Schema.String }) {
  override get message() {
    return `the forge: ${this.detail}`
  }
}

const timeoutMs = 10_000

const ask = Effect.fnUntraced(function* <A>(
  url: string,
  schema: Schema.Codec<A, unknown>,
  init: RequestInit
): Effect.fn.Return<A, ForgeFailed> {
  const answered = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) })
      return { isGood: response.ok, status: response.status, text: await response.text() }
    },
    catch: (cause) => new ForgeFailed({ detail: cause instanceof Error ? cause.message : String(cause) })
  })
  if (!answered.isGood) {
    return yield* new ForgeFailed({ detail: `${answered.status} ${answered.text.slice(0, 500)}` })
  }
  return yield* Schema.decodeEffect(Schema.fromJsonString(schema))(answered.text).pipe(
    Effect.mapError(() => new ForgeFailed({ detail: "it answered with something else" }))
  )
})

const pullsOf = (forge: string, repositoryUrl: string) => `${forge}/repos/${repositoryNameOf(repositoryUrl)}/pulls`

export const openPullRequest = (forge: string, repositoryUrl: string, request: NewPullRequest) =>
  ask(pullsOf(forge, repositoryUrl), PullRequest, {
    method: "POST",
    body: JSON.stringify(request),
    headers: { "content-type": "application/json" }
  })

export const listPullRequests = (forge: string, repositoryUrl: string) =>
  ask(pullsOf(forge, repositoryUrl), PullRequestList, { method: "GET" })
