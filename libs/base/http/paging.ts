/** How the lists of every API are read page by page. */
import { Schema } from "effect"
import { describe } from "../primitives.ts"

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
