/**
 * One entity as lists and watchdogs see it: made from its last record, and therefore a moment behind it. A caller
 * that has to be right asks the actor.
 */
import { Option, Result, Schema } from "effect"
import { Count, encodeToken, EpochMs } from "#contracts"
import type { Projection, ViewFields } from "../definition.ts"

export const ViewRow = Schema.Struct({
  entity: Schema.String,
  id: Schema.String,
  /** Null for what belongs to none. */
  project: Schema.NullOr(Schema.String),
  state: Schema.String,
  createdAtMs: EpochMs,
  updatedAtMs: EpochMs,
  /** When somebody has to look at it, by what for. */
  deadlinesMs: Schema.Record(Schema.String, EpochMs),
  /** Of the record it was made from. */
  sequence: Count,
  /** What lists show and sweeps go by; the entity's own. */
  summary: Schema.Record(Schema.String, Schema.Unknown)
})
export interface ViewRow extends Schema.Schema.Type<typeof ViewRow> {}

/** How far LOG is in the views. */
export const ViewCursor = Schema.TaggedStruct("Cursor", { position: Count })
export const Viewed = Schema.Union([ViewRow, ViewCursor])
export type Viewed = Schema.Schema.Type<typeof Viewed>

export const cursorKey = "cursor"

/** `<project>.<entity>.<id>`, so that one project's can be read alone; of no project is `=`. */
export const viewKey = ({ entity, id, project }: Pick<ViewRow, "entity" | "id" | "project">) =>
  `${encodeToken(project ?? "")}.${encodeToken(entity)}.${encodeToken(id)}`

/** A projection that reads stored states itself, so that those of different kinds stand beside each other. */
export interface EntityProjection {
  readonly entity: string
  /** Fails for a stored state that it cannot read. */
  readonly show: (stored: unknown, id: string) => Result.Result<ViewFields | undefined, Schema.SchemaError>
  /** Of a state that an actor of that kind decided in this process: it is not read again. */
  readonly showDecoded: (state: unknown, id: string) => ViewFields | undefined
}

export const entityProjection = <State>({ entity, state, show }: Projection<State>): EntityProjection => {
  const decode = Schema.decodeUnknownResult(state)
  return {
    entity,
    show: (stored, id) => Result.map(decode(stored), (known) => show(known, id)),
    // The entity in the subject says whose state it is; the compiler cannot tell that.
    showDecoded: (own, id) => show(own as State, id)
  }
}

export interface SummaryRow<Summary> extends Omit<ViewRow, "summary"> {
  readonly summary: Summary
}

/**
 * Reads the summaries of one kind of rows, each once, for sweeps look through all of them many times a second. A row of
 * another version of the fleet is left out, and seen again once the projector is of this version.
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
