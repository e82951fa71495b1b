/**
 * The page of settings: every key of the configuration with its variable, limits, default and reason, taken from the
 * schemas. Pure; docs/settings.md is generated from it, and a test fails when that page is stale.
 */
import { Result, Schema } from "effect"
import { ConfigurationFile, decodeConfiguration, environmentKeys } from "./sections.ts"
import { settingFacts } from "./effective-settings.ts"

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
}
type Values = Readonly<Record<string, unknown>>

export const settingsPage = (): string => {
  const document = Schema.toJsonSchemaDocument(ConfigurationFile)
  const sections = Object.entries((document.schema as JsonSchema).properties ?? {})
  const defaults = Result.getOrElse(decodeConfiguration({}), () => ({})) as Values
  return [
    "# Settings",
    "",
    "Made from `libs/configuration` by `./starling docs`. Change it there.",
    "",
    "One JSON file (`STARLING_CONFIG`, by default `starling.config.json`) holds the sections below; every one and every",
    "key may be left out. An environment variable stands over the file. A wrong key or value stops the start before",
    "anything is begun, and so does what is there twice, what does not fit together, and a secret that is not set: all of",
    "them are named in one report, in the order of the file. Secrets and models are looked at for the roles that run.",
    "",
    ...sections.flatMap(([name, schema]) => sectionOf(name, schema, defaults[name]))
  ].join("\n")
}

const sectionOf = (name: string, schema: JsonSchema, value: unknown) =>
  schema.items === undefined
    ? tableOf(`## ${name}`, name, schema, value as Values)
    : tableOf(`## ${name}[]`, `${name}[]`, schema.items, undefined)

/** The table of a section or of a list's entries. Nested lists of entries get tables of their own after it. */
const tableOf = (heading: string, path: string, schema: JsonSchema, values: Values | undefined): Array<string> => {
  const keys = Object.entries(schema.properties ?? {})
  const nested = keys.flatMap(([key, field]) => {
    if (field.items?.properties !== undefined) {
      return tableOf(`### ${path}.${key}[]`, `${path}.${key}[]`, field.items, undefined)
    }
    return field.properties === undefined
      ? []
      : tableOf(`### ${path}.${key}`, `${path}.${key}`, field, values?.[key] as Values | undefined)
  })
  const plain = keys.filter(([, field]) => field.properties === undefined)
  return [heading, "", ...table(path, plain, values), "", ...nested]
}

const table = (path: string, keys: ReadonlyArray<readonly [string, JsonSchema]>, values: Values | undefined) => [
  "| key | takes | default | for |",
  "|---|---|---|---|",
  ...keys.map(([key, field]) =>
    row([
      `\`${key}\`${variableOf(path, key)}`,
      takes(field),
      values === undefined ? "" : defaultText(values[key]),
      facts.get(`${path}.${key}`)?.why ?? ""
    ])
  )
]

const row = (cells: ReadonlyArray<string>) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`

const variables = new Map(environmentKeys.map(({ section, key, variable }) => [`${section}.${key}`, variable]))

const variableOf = (path: string, key: string) => {
  const variable = variables.get(`${path}.${key}`)
  return variable === undefined ? "" : ` \`${variable}\``
}

const defaultText = (value: unknown) => {
  if (value === undefined) return ""
  const text = JSON.stringify(value)
  // A list of entries has a table of its own.
  return Array.isArray(value) && value.some((entry) => typeof entry === "object") ? "" : `\`${text}\``
}

const takes = (field: JsonSchema): string => {
  if (field.enum !== undefined) return field.enum.map((choice) => `\`${JSON.stringify(choice)}\``).join(", ")
  if (field.anyOf !== undefined) return field.anyOf.map(takes).join(", ")
  if (field.type === "array") return `${within(field.minItems, field.maxItems)}a list of ${takes(field.items ?? {})}`
  if (field.type === "integer") return `${range(field)}a whole number`.trim()
  if (field.type === "number") return `${range(field)}a number`.trim()
  return field.type === "boolean" ? "`true`, `false`" : field.type === "object" ? "an entry" : "a text"
}

const within = (least: number | undefined, most: number | undefined) =>
  most === undefined ? "" : `${least === undefined ? "up to" : `${least} to`} ${most}: `

const range = (field: JsonSchema) => {
  const all = [field, ...(field.allOf ?? [])]
  const least = all.find(({ minimum }) => minimum !== undefined)?.minimum
  const most = all.find(({ maximum }) => maximum !== undefined)?.maximum
  return least === undefined || most === undefined ? "" : `${least} to ${most}: `
}

const facts = settingFacts(ConfigurationFile.fields)
