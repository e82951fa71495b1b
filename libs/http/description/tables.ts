/**
 * An API's reference as Markdown: tables, one of them for the fields of a schema, and the anchors of sections. Pure.
 */
import { type JsonObject, propertiesOf } from "./openapi.ts"

export const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.map(escaped).join(" | ")} |`).join("\n")

const escaped = (cell: string) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")

/** The anchor that forges make from a heading. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/gu, "")
    .replaceAll(" ", "-")

/** The reference to a list of values too long for a cell; undefined prints them all. */
export type LongList = (values: ReadonlyArray<unknown>) => string | undefined

const inFull: LongList = () => undefined

export const fieldTable = (schema: JsonObject, longList: LongList = inFull): string => {
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  return table(
    ["field", "type", "required", ""],
    Object.entries(propertiesOf(schema)).map(([name, field]) => [
      `\`${name}\``,
      typeOf(field, longList),
      required.includes(name) ? "yes" : "",
      String(field["description"] ?? "")
    ])
  )
}

export const queryTable = (fields: Readonly<Record<string, JsonObject>>): string =>
  table(
    ["query", "type", ""],
    Object.entries(fields).map(([name, field]) => [`\`${name}\``, typeOf(field), String(field["description"] ?? "")])
  )

export const typeOf = (field: JsonObject, longList: LongList = inFull): string => {
  const { $ref: ref, type, enum: values, items, anyOf, oneOf, properties, contentEncoding } = field
  if (typeof ref === "string") {
    const name = ref.split("/").at(-1) ?? ""
    return `[${name}](#${name.toLowerCase()})`
  }
  if (Array.isArray(values)) return longList(values) ?? values.map((value) => `\`${String(value)}\``).join(" ")
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) {
    return (choices as ReadonlyArray<JsonObject>).map((one) => typeOf(one, longList)).join(" or ")
  }
  if (type === "array") return `list of ${typeOf((items ?? {}) as JsonObject, longList)}`
  if (type === "string" && contentEncoding !== undefined) return String(contentEncoding)
  if (type === "object" && properties !== undefined) return `object of ${Object.keys(propertiesOf(field)).join(", ")}`
  return String(type ?? "any")
}
