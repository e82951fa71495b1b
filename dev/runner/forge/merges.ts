/** Merges in a bare repository, without files: whether a merge would succeed, and the merge itself. */
import { Effect } from "effect"
import { commitOf, git, tryGit } from "../git/git.ts"

/** The merged tree; undefined when they are in conflict, or one of them does not exist. */
const mergedTree = Effect.fnUntraced(function* (repository: string, base: string, head: string) {
  const { code, output } = yield* tryGit(repository, "merge-tree", "--write-tree", "--no-messages", base, head)
  return code === 0 ? output.trim() : undefined
})

export const headOf = (repository: string, branch: string) => commitOf(repository, `refs/heads/${branch}`)

export const canMerge = (repository: string, base: string, head: string) =>
  Effect.map(mergedTree(repository, base, head), (tree) => tree !== undefined)

/** Undefined when it was in conflict, or the base moved at that moment. */
export const mergeBranch = Effect.fnUntraced(function* (repository: string, base: string, head: string, title: string) {
  const [baseSha, headSha] = [yield* headOf(repository, base), yield* headOf(repository, head)]
  const tree = yield* mergedTree(repository, base, head)
  if (tree === undefined || baseSha === undefined || headSha === undefined) return undefined
  const parents = ["-p", baseSha, "-p", headSha]
  const commit = yield* git(repository, "commit-tree", tree, ...parents, "-m", `Merge pull request: ${title}`)
  const { code } = yield* tryGit(repository, "update-ref", `refs/heads/${base}`, commit, baseSha)
  return code === 0 ? commit : undefined
})
