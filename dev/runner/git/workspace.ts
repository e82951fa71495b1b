/**
 * The clone of an item's repository. When a phase has ended, everything in it is upstream as well, so that any runner
 * may take the next phase: work is pushed to the work branch, a merge to a ref of its own.
 */
import { existsSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { PickupDispatch } from "#pipeline/contract"
import { commitOf, git } from "./git.ts"

export interface Workspace {
  readonly folder: string
  /** Kept while the runner runs: agents may keep notes of an item there. */
  readonly notes: string
  readonly upstream: string
  readonly baseBranch: string
  readonly workBranch: string
  /** The upstream ref that keeps the merge until it is pushed. */
  readonly mergeRef: string
}

const clonesOf = (root: string) => join(root, "clones")
const notesOf = (root: string) => join(root, "notes")

/** Notes stay: they tell an agent that was killed what it has done before. */
export const clearWorkspaces = (root: string) =>
  Effect.promise(() => rm(clonesOf(root), { recursive: true, force: true }))

/** The clone in its present upstream state. */
export const openWorkspace = Effect.fnUntraced(function* (root: string, { workItem }: PickupDispatch) {
  const { repositoryUrl: upstream, baseBranch, workBranch, id } = workItem
  const workspace: Workspace = {
    folder: join(clonesOf(root), id),
    notes: join(notesOf(root), id),
    upstream,
    baseBranch,
    workBranch,
    mergeRef: `refs/starling/merged/${workBranch}`
  }
  const { folder, mergeRef } = workspace
  yield* Effect.promise(() => mkdir(workspace.notes, { recursive: true }))
  if (existsSync(join(folder, ".git"))) yield* fetchUpstream(workspace)
  else {
    yield* Effect.promise(() => rm(folder, { recursive: true, force: true }))
    yield* Effect.promise(() => mkdir(dirname(folder), { recursive: true }))
    // A ref of one name that is not there would fail each fetch; a pattern of it does not.
    const merges = `remote.origin.fetch=+${mergeRef}*:${mergeRef}*`
    yield* git(root, "clone", "--quiet", "--no-tags", "--no-checkout", "--config", merges, upstream, folder)
  }
  if ((yield* commitOf(folder, `origin/${baseBranch}`)) === undefined) yield* beginBase(workspace)
  return workspace
})

/** A branch that does not exist yet, such as a release's, starts at the repository's head. */
const beginBase = Effect.fnUntraced(function* ({ folder, baseBranch }: Workspace) {
  yield* git(folder, "push", "--quiet", "origin", `refs/remotes/origin/HEAD:refs/heads/${baseBranch}`)
})

export const fetchUpstream = ({ folder }: Workspace) =>
  git(folder, "fetch", "--quiet", "--prune", "--no-tags", "origin")

/** The files of a commit, without any remains of another phase. */
export const checkOut = Effect.fnUntraced(function* ({ folder }: Workspace, ...how: ReadonlyArray<string>) {
  yield* git(folder, "checkout", "--quiet", "--force", ...how)
  yield* git(folder, "clean", "-fdxq")
})

/** Removes the clone of an item that no longer needs one. Notes are kept while the item may come again. */
export const removeWorkspace = ({ folder, notes }: Workspace, isOver: boolean) =>
  Effect.promise(async () => {
    await rm(folder, { recursive: true, force: true })
    if (isOver) await rm(notes, { recursive: true, force: true })
  })
