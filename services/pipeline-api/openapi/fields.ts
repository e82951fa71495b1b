/** A JSON Schema as a Markdown table of its fields. Pure. */
import { type JsonObject, propertiesOf } from "./schemas.ts"

export const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.map(escaped).join(" | ")} |`).join("\n")

const escaped = (cell: string) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")

export const fieldTable = (schema: JsonObject): string => {
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  return table(
    ["field", "type", "required", ""],
    Object.entries(propertiesOf(schema)).map(([name, field]) => [
      `\`${name}\``,
      typeOf(field),
      required.includes(name) ? "yes" : "",
      String(field["description"] ?? "")
    ])
  )
}

export const typeOf = (field: JsonObject): string => {
  const { $ref: ref, type, enum: values, items, anyOf, properties } = field
  if (typeof ref === "string") {
    const name = ref.split("/").at(-1) ?? ""
    return `[${name}](#${name.toLowerCase()})`
  }
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(" ")
  if (Array.isArray(anyOf)) return (anyOf as ReadonlyArray<JsonObject>).map(typeOf).join(" or ")
  if (type === "array") return `list of ${typeOf((items ?? {}) as JsonObject)}`
  if (type === "object" && properties !== undefined) return `object of ${Object.keys(propertiesOf(field)).join(", ")}`
  return String(type ?? "any")
}
