/**
 * Fields set on a command line, `details.attempt=2`: each value gets the type that a JSON Schema gives its path, so
 * that numbers and texts need no quotes. Every fault is reported by its path. Pure.
 */
import { Result } from "effect"
import { didYouMean } from "#base"

export type JsonSchema = Readonly<Record<string, unknown>>

/** The values by their paths. */
export const fieldsFrom = (
  schema: JsonSchema,
  assignments: ReadonlyArray<string>
): Result.Result<Readonly<Record<string, unknown>>, ReadonlyArray<string>> => {
  const fields: Record<string, unknown> = {}
  const faults: Array<string> = []
  for (const assignment of assignments) {
    const [path = "", text] = split(assignment)
    const value = text === undefined ? Result.fail("is written as path=value") : valueAt(schema, path, text)
    if (Result.isSuccess(value)) fields[path] = value.success
    else faults.push(`${path}: ${value.failure}`)
  }
  return faults.length > 0 ? Result.fail(faults) : Result.succeed(fields)
}

const split = (assignment: string): ReadonlyArray<string> => {
  const at = assignment.indexOf("=")
  return at < 0 ? [assignment] : [assignment.slice(0, at), assignment.slice(at + 1)]
}

const valueAt = (root: JsonSchema, path: string, text: string): Result.Result<unknown, string> => {
  let here: ReadonlyArray<JsonSchema> = alternatives(root, root)
  const walked: Array<string> = []
  for (const step of path.split(".")) {
    const next = here.flatMap((schema) => alternativesBelow(root, schema, step))
    if (next.length === 0) return Result.fail(noField(here, walked, step))
    walked.push(step)
    here = next
  }
  return typed(here, text)
}

const noField = (here: ReadonlyArray<JsonSchema>, walked: ReadonlyArray<string>, step: string) => {
  const names = here.flatMap(({ properties = {} }) => Object.keys(properties as object))
  const where = walked.length === 0 ? "" : ` in ${walked.join(".")}`
  if (names.length === 0) return `there are no fields${where}, it is ${kindsOf(here)}`
  return `there is no field ${step}${where}${didYouMean(step, names) || `; there are ${names.join(", ")}`}`
}

/** A schema's alternatives, with every reference followed. Those of an unknown reference allow anything. */
const alternatives = (root: JsonSchema, schema: JsonSchema, depth = 0): ReadonlyArray<JsonSchema> => {
  // Deeper than any schema of ours; a self-referencing one ends here.
  if (depth > 16) return []
  const ref = schema["$ref"]
  if (typeof ref === "string") {
    const definitions = (root["$defs"] ?? {}) as Readonly<Record<string, JsonSchema>>
    return alternatives(root, definitions[ref.slice(ref.lastIndexOf("/") + 1)] ?? {}, depth + 1)
  }
  const inner = schema["anyOf"] ?? schema["oneOf"]
  if (!Array.isArray(inner)) return [schema]
  return (inner as ReadonlyArray<JsonSchema>).flatMap((each) => alternatives(root, each, depth + 1))
}

const alternativesBelow = (root: JsonSchema, schema: JsonSchema, step: string): ReadonlyArray<JsonSchema> => {
  const { properties, additionalProperties, items } = schema as Readonly<Record<string, JsonSchema | undefined>>
  const own = properties !== undefined && Object.hasOwn(properties, step) ? properties[step] : undefined
  if (own !== undefined) return alternatives(root, own as JsonSchema)
  if (/^\d+$/u.test(step) && items !== undefined) return alternatives(root, items)
  // A record can have any key. An object with named fields has only these: any other is most likely a typo.
  const isRecord = properties === undefined && (schema["type"] === "object" || schema["type"] === undefined)
  if (!isRecord) return []
  return alternatives(root, typeof additionalProperties === "object" ? additionalProperties : {})
}

const typed = (options: ReadonlyArray<JsonSchema>, text: string): Result.Result<unknown, string> => {
  const types = options.map(({ type }) => type)
  const parsed = parsedOf(text)
  if (parsed !== undefined && types.includes(typeOf(parsed))) return Result.succeed(parsed)
  // A whole number is also a number.
  if (Number.isInteger(parsed) && types.includes("integer")) return Result.succeed(parsed)
  if (types.includes("string")) return Result.succeed(text)
  if (types.includes(undefined)) return Result.succeed(parsed === undefined ? text : parsed)
  return Result.fail(`is ${kindsOf(options)}, not ${text === "" ? "empty" : text}`)
}

const kindsOf = (options: ReadonlyArray<JsonSchema>) =>
  [...new Set(options.map(({ type }) => String(type ?? "anything")))].join(" or ")

/** Undefined for invalid JSON. */
const parsedOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const typeOf = (value: unknown) => {
  if (value === null) return "null"
  // Texts are taken as typed: quotes are part of them.
  if (typeof value === "string") return undefined
  return Array.isArray(value) ? "array" : typeof value
}
