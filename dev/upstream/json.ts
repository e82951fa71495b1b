/** Reads of JSON of any shape: what is missing or of another type reads as nothing. Pure. */

export type Json = Readonly<Record<string, unknown>>

export const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const jsonOf = (value: unknown): Json => (isJson(value) ? value : {})

/** The objects of a list. */
export const objectsOf = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isJson) : [])

export const textAt = (value: Json, key: string): string => {
  const found = value[key]
  return typeof found === "string" ? found : ""
}
