/**
 * Rows of the views with their summaries read by the schema of their kind. A row that cannot be read is of another
 * version of the fleet: it is passed over, and seen again once the projector is of this one. Each row is read once:
 * those who look through all of them do so many times a second.
 */
import { Option, Schema } from "effect"
import type { ViewRow } from "./view-row.ts"

export interface Seen<Summary> extends Omit<ViewRow, "summary"> {
  readonly summary: Summary
}

/** Of rows of one kind; those that cannot be read are left out. */
export const summaryReader = <Summary>(schema: Schema.Codec<Summary, unknown>) => {
  const decode = Schema.decodeUnknownOption(schema)
  const known = new WeakMap<ViewRow, Option.Option<Seen<Summary>>>()
  const read = (row: ViewRow): Option.Option<Seen<Summary>> => {
    const before = known.get(row)
    if (before !== undefined) return before
    const seen = Option.map(decode(row.summary), (summary): Seen<Summary> => ({ ...row, summary }))
    known.set(row, seen)
    return seen
  }
  return (rows: ReadonlyArray<ViewRow>): ReadonlyArray<Seen<Summary>> => {
    const all: Array<Seen<Summary>> = []
    for (const row of rows) {
      const seen = read(row)
      if (Option.isSome(seen)) all.push(seen.value)
    }
    return all
  }
}
