/**
 * What a JSON Schema says of a value's form, as far as type systems can say it too. Bounded: what is deeper, refers to
 * itself or cannot be said is `unknown`. Pure.
 */
import { Option } from "effect"

export type Shape =
  | { readonly kind: "unknown" | "string" | "number" | "integer" | "boolean" | "null" }
  | { readonly kind: "literal"; readonly value: string | number | boolean }
  | { readonly kind: "list"; readonly of: Shape }
  | { readonly kind: "record"; readonly of: Shape }
  | { readonly kind: "object"; readonly fields: ReadonlyArray<Field> }
  | { readonly kind: "union"; readonly of: ReadonlyArray<Shape> }

export interface Field {
  readonly name: string
  readonly shape: Shape
  readonly isRequired: boolean
  readonly description: string | undefined
}

type JsonSchema = Readonly<Record<string, unknown>>

const depthMax = 16
const partsMax = 2_000

export const unknownShape: Shape = { kind: "unknown" }

/** Undefined: any object, or null. */
export const shapeOf = (schema: unknown): Shape => {
  if (schema === undefined) return union([{ kind: "record", of: unknownShape }, { kind: "null" }])
  return read(schema, { root: schema, depth: 0, budget: { parts: partsMax } })
}

interface Reading {
  readonly root: unknown
  readonly depth: number
  readonly budget: { parts: number }
}

const read = (schema: unknown, reading: Reading): Shape => {
  reading.budget.parts -= 1
  if (!isObject(schema) || reading.depth > depthMax || reading.budget.parts < 0) return unknownShape
  const within: Reading = { ...reading, depth: reading.depth + 1 }
  const { $ref, const: only, enum: values, anyOf, oneOf, allOf, type } = schema
  if (typeof $ref === "string")
    return Option.match(pointed(reading.root, $ref), {
      onNone: () => unknownShape,
      onSome: (target) => read(target, within)
    })
  if ("const" in schema) return literal(only)
  if (Array.isArray(values)) return union(values.map(literal))
  const several = Array.isArray(anyOf) ? anyOf : oneOf
  if (Array.isArray(several)) return union(several.map((each) => read(each, within)))
  if (Array.isArray(allOf)) return joined([...allOf.map((each) => read(each, within)), ofType(schema, type, within)])
  return Array.isArray(type) ? union(type.map((each) => ofType(schema, each, within))) : ofType(schema, type, within)
}

const ofType = (schema: JsonSchema, type: unknown, within: Reading): Shape => {
  switch (type) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
    case "null":
      return { kind: type }
    case "array":
      return { kind: "list", of: "items" in schema ? read(schema["items"], within) : unknownShape }
    case "object":
      return objectOf(schema, within)
    default:
      return "properties" in schema || "required" in schema ? objectOf(schema, within) : unknownShape
  }
}

const objectOf = (schema: JsonSchema, within: Reading): Shape => {
  const { properties, required, additionalProperties } = schema
  const declared = isObject(properties) ? Object.entries(properties) : []
  const needed = new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : [])
  const others = [...needed].filter((name) => !declared.some(([known]) => known === name))
  const fields = [...declared, ...others.map((name) => [name, true] as const)].map(([name, inner]): Field => ({
    name,
    shape: read(inner, within),
    isRequired: needed.has(name),
    description: isObject(inner) && typeof inner["description"] === "string" ? inner["description"] : undefined
  }))
  if (fields.length > 0) return { kind: "object", fields }
  return { kind: "record", of: isObject(additionalProperties) ? read(additionalProperties, within) : unknownShape }
}

const literal = (value: unknown): Shape => {
  if (value === null) return { kind: "null" }
  if (typeof value === "string" || typeof value === "boolean") return { kind: "literal", value }
  if (typeof value !== "number") return unknownShape
  return Number.isSafeInteger(value) ? { kind: "literal", value } : { kind: "number" }
}

const union = (shapes: ReadonlyArray<Shape>): Shape => {
  const all = shapes.flatMap((shape) => (shape.kind === "union" ? shape.of : [shape]))
  if (all.length === 0 || all.some(({ kind }) => kind === "unknown")) return unknownShape
  const distinct = [...new Map(all.map((shape) => [JSON.stringify(shape), shape])).values()]
  const [only] = distinct
  return distinct.length === 1 && only !== undefined ? only : { kind: "union", of: distinct }
}

/** All of them at once: of objects the fields together. */
const joined = (shapes: ReadonlyArray<Shape>): Shape => {
  const said = shapes.filter(({ kind }) => kind !== "unknown")
  const [only] = said
  if (said.length === 1 && only !== undefined) return only
  const objects = said.flatMap((shape) => (shape.kind === "object" ? [shape] : []))
  if (objects.length === 0 || objects.length !== said.length) return unknownShape
  const byName = new Map<string, Field>()
  for (const field of objects.flatMap(({ fields }) => fields)) {
    const before = byName.get(field.name)
    byName.set(
      field.name,
      before === undefined
        ? field
        : { ...field, shape: joined([before.shape, field.shape]), isRequired: before.isRequired || field.isRequired }
    )
  }
  return { kind: "object", fields: [...byName.values()] }
}

/** What a reference within the schema points at; none for an anchor. */
const pointed = (root: unknown, ref: string): Option.Option<unknown> => {
  if (!/^#(?:\/|$)/u.test(ref)) return Option.none()
  let at: unknown = root
  for (const step of ref.slice(1).split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return Option.none()
    at = (at as JsonSchema)[key]
  }
  return Option.some(at)
}

const decoded = (step: string) => {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)
