/** Names of branches as git takes them: a bad one is refused where it is said, not by the runner's git hours later. */
import { Schema } from "effect"
import { branchCharactersMax } from "../work-item-state.ts"

/**
 * A branch that git takes: no control characters, spaces or `~^:?*[\`, no `..`, `@{`, `//`, and no part that begins
 * with a dot or ends with `.lock`.
 */
const isBranch = (name: string) => {
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(name)) return "not a branch name that git takes"
  const parts = name.split("/")
  const isBad = parts.some((part) => part === "" || part.startsWith(".") || part.endsWith(".lock"))
  return isBad || name === "@" || name.startsWith("-") || name.endsWith(".") ? "not a branch name that git takes" : true
}

export const BranchName = Schema.String.check(
  Schema.isBetweenLength(1, branchCharactersMax),
  Schema.makeFilter(isBranch)
)

/** Leaves room for `/<short id>`. */
export const BranchPrefix = Schema.String.check(Schema.isBetweenLength(1, 200), Schema.makeFilter(isBranch))
