/**
 * What every report begins with. `reportId` is the command's id of what follows from it, so that a report that is
 * published twice changes nothing the second time. `atMs` is the reporter's clock: shown, never decided on.
 */
import { Schema } from "effect"
import { EpochMs, Uuid } from "../primitives.ts"

/** A report as it is declared: decoding, documents, examples, `publish` and handlers are made from it. */
export interface ReportDeclaration<S extends Schema.Codec<unknown, unknown> = Schema.Codec<unknown, unknown>> {
  /** What it says has happened, as the end of "says that ...". */
  readonly why: string
  /** Whose actor it concerns; `fleet`: nobody's, it only becomes an event. */
  readonly about: "workitem" | "agent" | "project" | "release" | "fleet"
  readonly schema: S
}

export const reportHead = { reportId: Uuid, atMs: EpochMs }

export const reportOf = <const Kind extends string, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  fields: Fields
) => Schema.Struct({ kind: Schema.Literal(kind), ...reportHead, ...fields })
