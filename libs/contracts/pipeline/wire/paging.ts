/** How lists are paged, and how a page says how fresh it is. */
import { Schema } from "effect"
import { Count } from "../../primitives.ts"
import { says } from "../../speech/says.ts"

export const pageSizeMax = 200
export const pageSizeDefault = 50

/** Query parameters are text on the wire. */
const WholeNumber = Schema.String.check(Schema.isPattern(/^\d{1,6}$/u))

export const pageQuery = {
  limit: Schema.optionalKey(WholeNumber).pipe(
    says(`Entries per page, 1 to ${pageSizeMax}; ${pageSizeDefault} without it.`)
  ),
  cursor: Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 512))).pipe(
    says("`nextCursor` of the page before. The filters must be the same.")
  )
}

export const page = <S extends Schema.Codec<unknown, unknown>>(entry: S, what: string) => ({
  items: Schema.Array(entry)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(says(`${what}, oldest first.`)),
  nextCursor: Schema.NullOr(Schema.String).pipe(says("For `cursor`; null on the last page.")),
  sequence: Count.pipe(says("The list shows everything up to this record of the log.")),
  behind: Count.pipe(says("Records of the log that the list does not show yet.")),
  isTruncated: Schema.Boolean.pipe(
    says("There are more entities than are kept for lists; some that have ended are missing.")
  )
})
