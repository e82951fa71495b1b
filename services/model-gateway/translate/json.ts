/** Readers for JSON of unknown shape. Pure. */
import { Schema } from "effect"

export type JsonObject = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const textAt = (object: JsonObject, key: string): string | undefined => {
  const value = object[key]
  return typeof value === "string" ? value : undefined
}

export const numberAt = (object: JsonObject, key: string): number | undefined => {
  const value = object[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

export const recordAt = (object: JsonObject, key: string): JsonObject => {
  const value = object[key]
  return isRecord(value) ? value : {}
}

/** The objects of a list; empty when there is no list. */
export const recordsAt = (object: JsonObject, key: string): ReadonlyArray<JsonObject> => {
  const value = object[key]
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** The object without its empty keys. */
export const present = (object: Readonly<Record<string, unknown>>): JsonObject => {
  const full: Record<string, unknown> = {}
  for (const key of Object.keys(object)) if (object[key] !== undefined) full[key] = object[key]
  return full
}

/** The object itself if it has none of them: this runs for each event of a stream. */
export const without = (object: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  keys.some((key) => key in object)
    ? Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
    : object

/** Null, false and empty values: a caller that sends one requests nothing. */
export const isNothing = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === false ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0)

/** A part of a request that the provider's shape cannot express. Only the caller can omit it. */
export class Untranslatable extends Schema.TaggedError<Untranslatable>()("Untranslatable", {
  param: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.param}: ${this.reason}`
  }
}
