/** An agent's changes, as a commit on the work branch and upstream. */
import { Effect } from "effect"
import { commitOf, git } from "./git.ts"
import { checkOut, type Workspace } from "./workspace.ts"

/** Continues the upstream work branch, or begins at the base. Returns the commit it stands on. */
export const checkOutWork = Effect.fnUntraced(function* (workspace: Workspace) {
  const { folder, workBranch, baseBranch } = workspace
  const begun = yield* commitOf(folder, `origin/${workBranch}`)
  const start = begun ?? (yield* git(folder, "rev-parse", `origin/${baseBranch}`))
  yield* checkOut(workspace, "-B", workBranch, start)
  return start
})

/** Undefined when nothing was changed since `start`. The agent's own commits count. */
export const commitWork = Effect.fnUntraced(function* ({ folder }: Workspace, start: string, message: string) {
  yield* git(folder, "add", "--all")
  const staged = yield* git(folder, "status", "--porcelain")
  if (staged !== "") yield* git(folder, "commit", "--quiet", "--no-verify", "-m", message)
  const head = yield* git(folder, "rev-parse", "HEAD")
  return head === start ? undefined : head
})

// The branch belongs to the item: an earlier run of it may have left one that ours does not follow from.
export const pushWork = ({ folder, workBranch }: Workspace) =>
  git(folder, "push", "--quiet", "--force", "origin", `HEAD:refs/heads/${workBranch}`)
