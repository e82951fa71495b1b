/** The common parts of the operators' API: pages of a stream, the reason of an act, and times in queries. */
import { Schema } from "effect"
import { pageSizeMax } from "../../pipeline/api/parts.ts"
import { describe, Timestamp } from "../../primitives.ts"
import { reasonCharactersMax } from "../audit.ts"

/** A page of a list, the newest first. */
export const newestFirst = <S extends Schema.Codec<unknown, unknown>>(entry: S, what: string) => ({
  items: Schema.Array(entry)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(describe(`${what}, newest first.`)),
  nextCursor: Schema.NullOr(Schema.String).pipe(
    describe("For `cursor`; null when there is nothing older. A page with a cursor may be short, and even empty.")
  )
})

/** Why an operator does it. */
export const Reason = Schema.String.check(
  Schema.isBetweenLength(1, reasonCharactersMax),
  Schema.makeFilter((value) => value.trim() !== "" || "must not be blank")
)

/** The body of an act that needs nothing but its reason. */
export const Because = Schema.Struct({
  reason: Reason.pipe(describe("Why, for the log of acts."))
}).annotate({ identifier: "Because" })

export const sequenceParams = { sequence: Schema.String }

/** Bounds of a list in time. */
export const timeQuery = {
  since: Schema.optionalKey(Timestamp).pipe(describe("Nothing from before.")),
  until: Schema.optionalKey(Timestamp).pipe(describe("Nothing from after."))
}

/** A name in a query. */
export const NameFilter = Schema.String.check(Schema.isBetweenLength(1, 256))
