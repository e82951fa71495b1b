/** What an agent changed, as a commit of the work branch that upstream has too. */
import { Effect } from "effect"
import { commitOf, git } from "./git.ts"
import { checkOut, type Workspace } from "./workspace.ts"

/** Goes on where the work branch is upstream; begins at the base. Answers with the commit it stands on. */
export const checkOutWork = Effect.fnUntraced(function* (workspace: Workspace) {
  const { folder, workBranch, baseBranch } = workspace
  const begun = yield* commitOf(folder, `origin/${workBranch}`)
  const start = begun ?? (yield* git(folder, "rev-parse", `origin/${baseBranch}`))
  yield* checkOut(workspace, "-B", workBranch, start)
  return start
})

/** Undefined: nothing was changed since `start`. What the agent committed by itself counts. */
export const commitWork = Effect.fnUntraced(function* ({ folder }: Workspace, start: string, message: string) {
  yield* git(folder, "add", "--all")
  const staged = yield* git(folder, "status", "--porcelain")
  if (staged !== "") yield* git(folder, "commit", "--quiet", "--no-verify", "-m", message)
  const head = yield* git(folder, "rev-parse", "HEAD")
  return head === start ? undefined : head
})

// The branch is the item's own: an earlier run of it may have left one that ours does not follow from.
export const pushWork = ({ folder, workBranch }: Workspace) =>
  git(folder, "push", "--quiet", "--force", "origin", `HEAD:refs/heads/${workBranch}`)
