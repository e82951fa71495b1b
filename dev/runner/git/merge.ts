/** Merges: a work branch into its base, which may meet a conflict, and the push of the base. */
import { Effect } from "effect"
import { commitOf, git, GitFailed, tryGit } from "./git.ts"
import { checkOut, fetchUpstream, type Workspace } from "./workspace.ts"

export type MergeOutcome =
  | { readonly _tag: "Merged"; readonly mergeSha: string }
  | { readonly _tag: "Conflict"; readonly files: ReadonlyArray<string> }

// Others push to the base as well; after losing this often in a row, the item is retried later.
const pushTriesMax = 20
// A push that is refused although the base has not moved may have met another push; not this often in a row.
const refusalsMax = 3

const conflicts = Effect.fnUntraced(function* (folder: string) {
  const files = yield* git(folder, "diff", "--name-only", "--diff-filter=U", "-z")
  return files.split("\0").filter((file) => file.trim() !== "")
})

const mergeHere = Effect.fnUntraced(function* (folder: string, name: string, message: string) {
  const { code, complaint } = yield* tryGit(folder, "merge", "--quiet", "--no-ff", "--no-verify", "-m", message, name)
  if (code === 0) return { _tag: "Merged", mergeSha: yield* git(folder, "rev-parse", "HEAD") } as const
  const files = yield* conflicts(folder)
  if (files.length > 0) return { _tag: "Conflict", files } as const
  return yield* new GitFailed({ command: "merge", detail: complaint, isRemote: false })
})

/** Merges the work branch into the upstream base. The files are then merged, or in conflict. */
export const mergeIntoBase = Effect.fnUntraced(function* (workspace: Workspace) {
  const { folder, baseBranch, workBranch } = workspace
  yield* checkOut(workspace, "--detach", `origin/${baseBranch}`)
  const outcome: MergeOutcome = yield* mergeHere(folder, `origin/${workBranch}`, `Merge ${workBranch}`)
  return outcome
})

/** Merges the base into the work branch, where its conflicts are to be resolved. */
export const mergeBaseIn = Effect.fnUntraced(function* (workspace: Workspace) {
  const { folder, baseBranch, workBranch } = workspace
  yield* checkOut(workspace, "-B", workBranch, `origin/${workBranch}`)
  const outcome: MergeOutcome = yield* mergeHere(
    folder,
    `origin/${baseBranch}`,
    `Merge ${baseBranch} into ${workBranch}`
  )
  return outcome
})

/** Keeps the merge upstream, so that any runner that pushes it finds it. */
export const keepMerge = ({ folder, mergeRef }: Workspace) =>
  git(folder, "push", "--quiet", "--force", "origin", `HEAD:${mergeRef}`)

export type PushOutcome = { readonly _tag: "Pushed" } | { readonly _tag: "NotPushed"; readonly reason: string }

/** Pushes the merge to the base; after a move of the base it merges again. A refusal without a move is a failure. */
export const pushBase = Effect.fnUntraced(function* (workspace: Workspace, mergeSha: string | null) {
  const { folder, baseBranch, mergeRef } = workspace
  const isKept = (yield* commitOf(folder, mergeRef)) !== undefined
  let merge = isKept && mergeSha !== null ? yield* commitOf(folder, mergeSha) : undefined
  const base = commitOf(folder, `origin/${baseBranch}`)
  let refusals = 0
  for (let tries = 0; tries < pushTriesMax; tries += 1) {
    if (merge === undefined) {
      const outcome = yield* mergeIntoBase(workspace)
      if (outcome._tag === "Conflict")
        return notPushed(`the base has moved, in conflict at ${outcome.files.join(", ")}`)
      merge = outcome.mergeSha
    }
    const before = yield* base
    const onto = `${merge}:refs/heads/${baseBranch}`
    // A push is some ten processes. After a refused one the kept merge is of no use: it is made anew, by any runner.
    const both = isKept && tries === 0
    const pushed = yield* tryGit(folder, "push", "--quiet", "origin", onto, ...(both ? [`:${mergeRef}`] : []))
    if (pushed.code === 0) {
      if (isKept && !both) yield* tryGit(folder, "push", "--quiet", "origin", `:${mergeRef}`)
      return { _tag: "Pushed" } satisfies PushOutcome
    }
    yield* fetchUpstream(workspace)
    refusals = before === (yield* base) ? refusals + 1 : 0
    if (refusals === refusalsMax) return notPushed(`the upstream repository refused the push: ${pushed.complaint}`)
    merge = undefined
  }
  return notPushed(`the base moved ${pushTriesMax} times while it was merged with`)
})

const notPushed = (reason: string): PushOutcome => ({ _tag: "NotPushed", reason })
