/** The common parts of the pipeline's bodies and queries: optional fields, branch names, paging. */
import { Schema } from "effect"
import { Count, describe } from "../../primitives.ts"
import { branchCharactersMax } from "../work-item/state.ts"

/** A field of a body that may be left out; null is the same. */
export const mayBeLeftOut = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A text with at least one character that is not blank. An empty text fails by its length alone. */
export const isNotBlank = Schema.makeFilter(
  (value: string) => value === "" || value.trim() !== "" || "must not be blank"
)

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

/** The API refuses a bad name at once; otherwise the runner's git would, hours later. */
export const BranchName = Schema.String.check(
  Schema.isBetweenLength(1, branchCharactersMax),
  Schema.makeFilter(isBranch)
)

/** The limit leaves room for `/<short id>`. */
export const BranchPrefix = Schema.String.check(Schema.isBetweenLength(1, 200), Schema.makeFilter(isBranch))

export const pageSizeMax = 200
export const pageSizeDefault = 50

/** Query parameters are text on the wire. */
const WholeNumber = Schema.String.check(Schema.isPattern(/^\d{1,6}$/u))

export const pageQuery = {
  limit: Schema.optionalKey(WholeNumber).pipe(
    describe(`Entries per page, 1 to ${pageSizeMax}; ${pageSizeDefault} without it.`)
  ),
  cursor: Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 512))).pipe(
    describe("`nextCursor` of the page before. The filters must be the same.")
  )
}

/** A page of a list, and how fresh it is. */
export const page = <S extends Schema.Codec<unknown, unknown>>(entry: S, what: string) => ({
  items: Schema.Array(entry)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(describe(`${what}, oldest first.`)),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page.")),
  sequence: Count.pipe(describe("The list shows everything up to this record of the log.")),
  behind: Count.pipe(describe("Records of the log that the list does not show yet.")),
  isTruncated: Schema.Boolean.pipe(
    describe("There are more entities than are kept for lists; some that have ended are missing.")
  )
})
