/**
 * A small value that satisfies a JSON schema: what is required and no more, zeros, empty texts and lists. It knows what
 * the schemas of tools and answers are made of; patterns, `not` and conditions it does not. Pure.
 */
import { isJson, type Json, jsonOf } from "./json.ts"

const formats: Readonly<Record<string, string>> = {
  "date-time": "1970-01-01T00:00:00Z",
  date: "1970-01-01",
  time: "00:00:00Z",
  duration: "P1D",
  email: "a@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com",
  uuid: "00000000-0000-4000-8000-000000000000"
}

export const minimalValue = (schema: unknown): unknown => valueOf(schema, { root: jsonOf(schema), open: [] })

interface Within {
  readonly root: Json
  /** The references that are being followed. */
  readonly open: ReadonlyArray<string>
}

const valueOf = (given: unknown, within: Within): unknown => {
  const schema = jsonOf(given)
  const reference = schema["$ref"]
  if (typeof reference === "string") {
    const { $ref: _, ...beside } = schema
    const found = jsonOf(referred(within.root, reference))
    return valueOf({ ...found, ...beside }, { ...within, open: [...within.open, reference] })
  }
  if ("const" in schema) return schema["const"]
  if (Array.isArray(schema["enum"])) return schema["enum"][0]
  for (const key of ["anyOf", "oneOf"]) {
    if (Array.isArray(schema[key])) return valueOf(withOption(schema, key, within), within)
  }
  if (Array.isArray(schema["allOf"])) return valueOf(withAll(schema, within), within)
  return valueOfType(schema, within)
}

const referred = (root: Json, reference: string): unknown =>
  reference
    .split("/")
    .slice(1)
    .reduce<unknown>((at, step) => jsonOf(at)[step.replaceAll("~1", "/").replaceAll("~0", "~")], root)

/** Follows no reference a second time where there is another option. */
const withOption = (schema: Json, key: string, { open }: Within): Json => {
  const { [key]: options, ...beside } = schema
  const all = options as ReadonlyArray<unknown>
  const isOpen = (option: unknown) => open.includes(String(jsonOf(option)["$ref"]))
  return joined(beside, jsonOf(all.find((option) => !isOpen(option)) ?? all[0]))
}

const withAll = (schema: Json, { root }: Within): Json => {
  const { allOf: all, ...beside } = schema
  return (all as ReadonlyArray<unknown>).reduce<Json>((whole, each) => {
    const reference = jsonOf(each)["$ref"]
    return joined(whole, jsonOf(typeof reference === "string" ? referred(root, reference) : each))
  }, beside)
}

const joined = (left: Json, right: Json): Json => {
  const required = [left["required"], right["required"]].flatMap((keys) => (Array.isArray(keys) ? keys : []))
  const properties = { ...jsonOf(left["properties"]), ...jsonOf(right["properties"]) }
  return {
    ...left,
    ...right,
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0 ? {} : { properties })
  }
}

const typeOf = (schema: Json): unknown => {
  const { type } = schema
  if (Array.isArray(type)) return type[0] as unknown
  if (type !== undefined) return type
  if (isJson(schema["properties"]) || Array.isArray(schema["required"])) return "object"
  if ("items" in schema || "prefixItems" in schema) return "array"
  return ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"].some((key) => key in schema)
    ? "number"
    : "string"
}

const valueOfType = (schema: Json, within: Within): unknown => {
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, within)
    case "array":
      return listOf(schema, within)
    case "integer":
      return numberOf(schema, 1)
    case "number":
      return numberOf(schema, 0.5)
    case "boolean":
      return false
    case "null":
      return null
    default:
      return textOf(schema)
  }
}

const objectOf = (schema: Json, within: Within) => {
  const properties = jsonOf(schema["properties"])
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : []
  const keys = [...Object.keys(properties).filter((key) => required.includes(key)), ...required]
  return Object.fromEntries(
    keys.map((key) => [key, valueOf(properties[key] ?? schema["additionalProperties"], within)])
  )
}

const listOf = (schema: Json, within: Within) => {
  const first = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : []
  const length = Number(schema["minItems"] ?? 0)
  return Array.from({ length }, (_, index) => valueOf(first[index] ?? schema["items"], within))
}

/** `step`: how far from a limit that is excluded. */
const numberOf = (schema: Json, step: number) => {
  const limit = (key: string) => (typeof schema[key] === "number" ? schema[key] : undefined)
  const above = limit("exclusiveMinimum")
  const below = limit("exclusiveMaximum")
  const least = Math.max(limit("minimum") ?? -Infinity, above === undefined ? -Infinity : above + step)
  const most = Math.min(limit("maximum") ?? Infinity, below === undefined ? Infinity : below - step)
  const nearest = Math.min(Math.max(0, least), most)
  const unit = limit("multipleOf") ?? (step === 1 ? 1 : undefined)
  if (unit === undefined) return nearest
  return (nearest > 0 ? Math.ceil(nearest / unit) : Math.floor(nearest / unit)) * unit + 0
}

const textOf = (schema: Json) => {
  const text = formats[String(schema["format"])] ?? ""
  return text.padEnd(Number(schema["minLength"] ?? 0), "x")
}
