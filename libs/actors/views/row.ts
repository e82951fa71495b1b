/**
 * One entity as lists and watchdogs see it: made from its last record, and therefore a moment behind it. A caller that
 * must be right asks the actor.
 */
import { Option, Result, Schema } from "effect"
import { Count, encodeToken, EpochMs } from "#contracts"
import type { Projection, ViewFields } from "../definition.ts"

export const ViewRow = Schema.Struct({
  entity: Schema.String,
  id: Schema.String,
  /** Null for an entity of no project. */
  project: Schema.NullOr(Schema.String),
  state: Schema.String,
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** When a sweep has to look at it, by the name of the deadline. */
  deadlinesMs: Schema.Record(Schema.String, EpochMs),
  /** The sequence of the record that the row shows. */
  sequence: Count,
  /** The fields that lists show and sweeps use, by the entity's own definition. */
  summary: Schema.Record(Schema.String, Schema.Unknown)
})
export interface ViewRow extends Schema.Schema.Type<typeof ViewRow> {}

/** The position of the views in LOG. */
export const ViewCursor = Schema.TaggedStruct("Cursor", { position: Count })
export const Viewed = Schema.Union([ViewRow, ViewCursor])
export type Viewed = Schema.Schema.Type<typeof Viewed>

export const cursorKey = "cursor"

/** `<project>.<entity>.<id>`, so that one project's rows can be read alone; `=` stands for no project. */
export const viewKey = ({ entity, id, project }: Pick<ViewRow, "entity" | "id" | "project">) =>
  `${encodeToken(project ?? "")}.${encodeToken(entity)}.${encodeToken(id)}`

/** A projection that decodes stored states itself, so that projections of different kinds fit in one table. */
export interface EntityProjection {
  readonly entity: string
  /** Fails for a stored state that it cannot read. */
  readonly show: (stored: unknown, id: string) => Result.Result<ViewFields | undefined, Schema.SchemaError>
  /** For a state that an actor of that kind decided in this process: it is not decoded again. */
  readonly showDecoded: (state: unknown, id: string) => ViewFields | undefined
}

export const entityProjection = <State>({ entity, state, show }: Projection<State>): EntityProjection => {
  const decode = Schema.decodeUnknownResult(state)
  return {
    entity,
    show: (stored, id) => Result.map(decode(stored), (known) => show(known, id)),
    // The entity in the subject determines the state's type; the compiler cannot see that.
    showDecoded: (own, id) => show(own as State, id)
  }
}

export interface SummaryRow<Summary> extends Omit<ViewRow, "summary"> {
  readonly summary: Summary
}

/**
 * Reads the summaries of one kind of rows, each once, for sweeps go through all of them many times a second. A row of
 * another version of the fleet is left out, and comes back once the projector is of this version.
 */
export const summaryReader = <Summary>(schema: Schema.Codec<Summary, unknown>) => {
  const decode = Schema.decodeUnknownOption(schema)
  const known = new WeakMap<ViewRow, Option.Option<SummaryRow<Summary>>>()
  const read = (row: ViewRow): Option.Option<SummaryRow<Summary>> => {
    const before = known.get(row)
    if (before !== undefined) return before
    const seen = Option.map(decode(row.summary), (summary): SummaryRow<Summary> => ({ ...row, summary }))
    known.set(row, seen)
    return seen
  }
  return (rows: ReadonlyArray<ViewRow>): ReadonlyArray<SummaryRow<Summary>> => {
    const all: Array<SummaryRow<Summary>> = []
    for (const row of rows) {
      const seen = read(row)
      if (Option.isSome(seen)) all.push(seen.value)
    }
    return all
  }
}
