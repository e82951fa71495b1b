/** The fields of an example, one by one, so that a form can change them; and what their schema says. Pure. */

export type Leaf = string | number | boolean | null

export interface ExampleField {
  /** As `details.attempt`; places of lists are steps too. */
  readonly path: string
  readonly value: Leaf
  /** The only values, where the schema lists them. */
  readonly choices: ReadonlyArray<string>
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null
const depthMax = 8
const fieldsMax = 200

/** What the API sets itself. */
const fixed = new Set(["event", "eventSchemaVersion", "occurredAt"])

export const fieldsOf = (example: Fields, schema: Fields): ReadonlyArray<ExampleField> => {
  const found: Array<ExampleField> = []
  const walk = (value: unknown, steps: ReadonlyArray<string>, at: unknown) => {
    if (found.length >= fieldsMax || steps.length > depthMax) return
    const resolved = resolve(at, schema)
    if (isFields(value)) {
      for (const [name, inner] of Object.entries(value)) walk(inner, [...steps, name], inside(resolved, name, schema))
    } else {
      found.push({ path: steps.join("."), value: value as Leaf, choices: choicesOf(resolved) })
    }
  }
  for (const [name, value] of Object.entries(example)) {
    if (!fixed.has(name)) walk(value, [name], inside(schema, name, schema))
  }
  return found
}

/** Follows `$ref`, and the first of several that is no null. */
const resolve = (at: unknown, root: Fields): Fields => {
  let schema: unknown = at
  for (let hops = 0; hops < depthMax && isFields(schema); hops += 1) {
    const ref = schema["$ref"]
    const many = schema["anyOf"]
    if (typeof ref === "string")
      schema = isFields(root["$defs"]) ? root["$defs"][ref.replace("#/$defs/", "")] : undefined
    else if (Array.isArray(many)) schema = many.find((one) => isFields(one) && one["type"] !== "null")
    else return schema
  }
  return isFields(schema) ? schema : {}
}

const inside = (schema: Fields, name: string, root: Fields): unknown => {
  const here = resolve(schema, root)
  if (isFields(here["properties"])) return here["properties"][name]
  return here["items"]
}

const choicesOf = ({ enum: values }: Fields): ReadonlyArray<string> =>
  Array.isArray(values) ? values.filter((value) => typeof value === "string") : []

/** What a person typed, as a value of the field's own kind; text that is none stays text, and the API says so. */
export const valueOf = (typed: string, { value, choices }: ExampleField): Leaf => {
  if (choices.length > 0 || typeof value === "string") return typed
  if (typed === "null" || typed === "") return null
  if (typed === "true" || typed === "false") return typed === "true"
  const number = Number(typed)
  return Number.isNaN(number) ? typed : number
}

export const typedOf = (value: Leaf): string => (value === null ? "" : String(value))
