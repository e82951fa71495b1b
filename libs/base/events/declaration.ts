/**
 * The declaration of an event: as data, so that decoding, documents and tests all come from one place.
 *
 * `workItem` and `project`: `present`, `null`, or `either`. `release`: the event carries a release in place of a work
 * item. `details`: a schema; `null` (always null); `open` (null, or any object).
 */
import { Schema } from "effect"

export type Presence = "present" | "null" | "either"

type DetailsSchema = Schema.Codec<unknown, unknown>

export interface EventDeclaration {
  readonly name: string
  readonly firedWhen: string
  readonly about: "workItem" | "release"
  readonly workItem: Presence
  readonly project: Presence
  readonly details: "null" | "open" | DetailsSchema
  /** The event is delivered only to endpoints whose filter asks for it. */
  readonly isProgress: boolean
  /** True for the one event whose `usage` key is present and null. */
  readonly usageIsNull: boolean
}

type Options = Partial<Omit<EventDeclaration, "name" | "firedWhen">>

const declare =
  (defaults: Options) =>
  (name: string, firedWhen: string, options: Options = {}): EventDeclaration => ({
    name,
    firedWhen,
    about: "workItem",
    workItem: "null",
    project: "null",
    details: "null",
    isProgress: false,
    usageIsNull: false,
    ...defaults,
    ...options
  })

export const itemEvent = declare({ workItem: "present", project: "present" })
/** A step within an item's run, delivered only to endpoints that ask for it. */
export const progressEvent = declare({ workItem: "present", project: "present", isProgress: true })
/** A fleet-wide event: neither item nor project. */
export const fleetEvent = declare({})
export const projectEvent = declare({ project: "present" })
export const releaseEvent = declare({ about: "release", project: "present", details: "open" })

/** A closed set of fields. Unknown fields pass, as additive. */
export const fields = (shape: Schema.Struct.Fields): DetailsSchema => Schema.Struct(shape) as unknown as DetailsSchema

/** Those fields, or null. */
export const fieldsOrNull = (shape: Schema.Struct.Fields): DetailsSchema =>
  Schema.NullOr(Schema.Struct(shape)) as unknown as DetailsSchema
