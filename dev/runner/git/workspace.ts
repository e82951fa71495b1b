/**
 * The clone of an item's repository. It holds nothing that is not upstream as well when a phase has ended, so that any
 * runner may take the next phase: work is pushed to the work branch, a merge to a name of its own.
 */
import { existsSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { PickupDispatch } from "#contracts"
import { commitOf, git } from "./git.ts"

export interface Workspace {
  readonly folder: string
  /** Stays while the runner runs: agents may keep notes of an item there. */
  readonly notes: string
  readonly upstream: string
  readonly baseBranch: string
  readonly workBranch: string
  /** Where upstream keeps the merge until it is pushed. */
  readonly mergeRef: string
}

const clonesOf = (root: string) => join(root, "clones")
const notesOf = (root: string) => join(root, "notes")

/** Notes stay: they tell an agent that was killed what it has done before. */
export const clearWorkspaces = (root: string) =>
  Effect.promise(() => rm(clonesOf(root), { recursive: true, force: true }))

/** The clone as upstream is now. */
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
  const { folder } = workspace
  yield* Effect.promise(() => mkdir(workspace.notes, { recursive: true }))
  if (existsSync(join(folder, ".git"))) yield* fetchUpstream(workspace)
  else {
    yield* Effect.promise(() => rm(folder, { recursive: true, force: true }))
    yield* Effect.promise(() => mkdir(dirname(folder), { recursive: true }))
    yield* git(root, "clone", "--quiet", "--no-tags", "--no-checkout", upstream, folder)
  }
  if ((yield* commitOf(folder, `origin/${baseBranch}`)) === undefined) yield* beginBase(workspace)
  return workspace
})

/** A branch that nobody has made yet, such as a release's, starts where the repository stands. */
const beginBase = Effect.fnUntraced(function* ({ folder, baseBranch }: Workspace) {
  yield* git(folder, "push", "--quiet", "origin", `refs/remotes/origin/HEAD:refs/heads/${baseBranch}`)
})

export const fetchUpstream = ({ folder }: Workspace) =>
  git(folder, "fetch", "--quiet", "--prune", "--no-tags", "origin")

/** The files of a commit, and nothing that was left of another phase. */
export const checkOut = Effect.fnUntraced(function* ({ folder }: Workspace, ...how: ReadonlyArray<string>) {
  yield* git(folder, "checkout", "--quiet", "--force", ...how)
  yield* git(folder, "clean", "-fdxq")
})

/** Of an item that needs no clone any more. Notes are kept while it may come again. */
export const removeWorkspace = ({ folder, notes }: Workspace, isOver: boolean) =>
  Effect.promise(async () => {
    await rm(folder, { recursive: true, force: true })
    if (isOver) await rm(notes, { recursive: true, force: true })
  })
