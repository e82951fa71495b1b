/** Checks an agent's resolution of a conflict: everything resolved, and no file touched that was not in conflict. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { git, tryGit } from "./git.ts"
import type { Workspace } from "./workspace.ts"

const marker = /^(?:<{7}|>{7}|={7})(?: |$)/mu

/** The reason why the resolution is rejected; undefined when it is good, and committed. */
export const acceptResolution = Effect.fnUntraced(function* (workspace: Workspace, files: ReadonlyArray<string>) {
  const { folder } = workspace
  yield* git(folder, "add", "--all")
  const outside = (yield* touched(workspace)).filter((file) => !files.includes(file))
  if (outside.length > 0) return `scope fence: ${outside.slice(0, 5).join(", ")} was not in conflict`
  const marked = yield* Effect.filter(files, (file) => isMarked(join(folder, file)))
  if (marked.length > 0) return `host verification: ${marked.slice(0, 5).join(", ")} is still in conflict`
  yield* git(folder, "commit", "--quiet", "--no-verify", "--no-edit")
  return undefined
})

/** Files that differ from git's own merge of them. */
const touched = Effect.fnUntraced(function* ({ folder, workBranch, baseBranch }: Workspace) {
  const { output } = yield* tryGit(
    folder,
    "merge-tree",
    "--write-tree",
    "--no-messages",
    `origin/${workBranch}`,
    `origin/${baseBranch}`
  )
  const [merged = ""] = output.split("\n")
  const resolved = yield* git(folder, "write-tree")
  const names = yield* git(folder, "diff", "--name-only", "-z", merged, resolved)
  return names.split("\0").filter((name) => name !== "")
})

// A file that the resolution removed holds no marker.
const isMarked = (path: string) =>
  Effect.promise(() =>
    readFile(path, "utf8").then(
      (text) => marker.test(text),
      () => false
    )
  )
