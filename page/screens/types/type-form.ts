/** What a form says of an event type, as the keys of the configuration file. Pure. */

type Settings = Readonly<Record<string, unknown>>

export interface TypeField {
  readonly key: string
  readonly label: string
  readonly hint: string
  readonly kind: "text" | "list" | "json" | "switch"
}

/** In the order in which they are asked for. The first two are all that a type needs. */
export const typeFields: ReadonlyArray<TypeField> = [
  { key: "Name", label: "Name", hint: "Lower-case words joined by dots: order.paid", kind: "text" },
  {
    key: "Owners",
    label: "Owners",
    hint: "Who may publish it, with commas: users of the broker, or token:LABEL.",
    kind: "list"
  },
  { key: "Description", label: "Published when", hint: "For who chooses events: an order is paid.", kind: "text" },
  { key: "Schema", label: "Schema", hint: "The JSON Schema of its details. Empty: any object, or null.", kind: "json" },
  {
    key: "Example",
    label: "Example",
    hint: "Details of an example, as JSON. Tests of endpoints send it.",
    kind: "json"
  },
  {
    key: "SchemaVersion",
    label: "Version",
    hint: "1.0.0 if empty. A schema that refuses the example of before needs another.",
    kind: "text"
  },
  { key: "OptIn", label: "Opt-in", hint: "Only to endpoints whose filter asks for it.", kind: "switch" }
]

/** A setting as text for its control; empty where it has none. */
export const typedOf = (settings: Settings, { key, kind }: TypeField): string => {
  const value = settings[key]
  if (value === undefined || value === null) return kind === "switch" ? "false" : ""
  if (Array.isArray(value)) return value.join(", ")
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value)
}

type Typed = Readonly<Record<string, string>>

interface Read {
  /** What differs from the settings there are; null of one that was emptied, which gives it its default again. */
  readonly settings: Settings
  /** By the key of a field. */
  readonly faults: Readonly<Record<string, string>>
}

export const readTyped = (before: Settings, typed: Typed): Read => {
  const settings: Record<string, unknown> = {}
  const faults: Record<string, string> = {}
  for (const field of typeFields) {
    const text = typed[field.key]
    if (text === undefined || text === typedOf(before, field)) continue
    const value = settingOf(text.trim(), field)
    if (value === notJson) faults[field.key] = "is no JSON object"
    else if (value !== null || before[field.key] !== undefined) settings[field.key] = value
  }
  return { settings, faults }
}

const notJson = Symbol("not JSON")

const settingOf = (text: string, { kind }: TypeField): unknown => {
  if (kind === "list") return text.split(/[\s,]+/u).filter((name) => name !== "")
  if (kind === "switch") return text === "true"
  if (text === "") return null
  return kind === "json" ? objectIn(text) : text
}

const objectIn = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : notJson
  } catch {
    return notJson
  }
}

/** What the API says of a field and of all within it: `Schema.properties.total.type` is of `Schema`. */
export const faultsAt = (key: string, faults: Readonly<Record<string, string>>): string | undefined => {
  const found = Object.entries(faults).flatMap(([path, message]) => {
    const within = path.replace(/^settings\./u, "")
    if (within === key) return [message]
    return within.startsWith(`${key}.`) ? [`${within.slice(key.length + 1)}: ${message}`] : []
  })
  return found.length === 0 ? undefined : found.join("; ")
}
