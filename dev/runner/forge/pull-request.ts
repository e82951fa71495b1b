/** Pull requests, as the local forge returns and accepts them. */
import { Schema } from "effect"

const Name = Schema.String.check(Schema.isBetweenLength(1, 300))

/** `labels`: words by which the opener finds it again. */
export const NewPullRequest = Schema.Struct({
  title: Name,
  head: Name,
  base: Name,
  autoMerge: Schema.Boolean,
  labels: Schema.Record(Schema.String, Schema.String)
})
export interface NewPullRequest extends Schema.Schema.Type<typeof NewPullRequest> {}

export const PullRequest = Schema.Struct({
  number: Schema.Int,
  url: Schema.String,
  title: Schema.String,
  head: Schema.String,
  base: Schema.String,
  headSha: Schema.String,
  state: Schema.Literals(["open", "merged", "closed"]),
  /** Without conflict; also true of a merged one. */
  mergeable: Schema.Boolean,
  mergedSha: Schema.NullOr(Schema.String),
  labels: Schema.Record(Schema.String, Schema.String)
})
export interface PullRequest extends Schema.Schema.Type<typeof PullRequest> {}

export const PullRequestList = Schema.Array(PullRequest)

/** The name under which a forge knows a repository: the last part of its address. */
export const repositoryNameOf = (url: string) => {
  const [name = ""] = url
    .replace(/(?<!\/)\/+$/u, "")
    .split("/")
    .slice(-1)
  return name.replace(/\.git$/u, "")
}
