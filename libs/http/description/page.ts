/** The reference of an API as a page of Markdown, from its OpenAPI document: routes, shapes, headers, codes. Pure. */
import type { ErrorCode } from "#contracts"
import { type JsonObject, propertiesOf } from "./openapi.ts"
import { anchorOf, fieldTable, queryTable, table, typeOf } from "./tables.ts"

export interface PageOptions {
  readonly title: string
  /** Paragraphs before the routes. */
  readonly introduction: ReadonlyArray<string>
  readonly document: JsonObject
  /** Markdown between the routes and their shapes. */
  readonly chapters?: ReadonlyArray<string>
  /** How refusals look; without it, as standard envelopes. */
  readonly errors?: string
  readonly errorCodes: Readonly<Record<string, ErrorCode>>
  /** The name of the API's address in examples: `$PIPELINE`. */
  readonly address: string
}

export const apiPage = (options: PageOptions): string => {
  const { title, introduction, document, chapters = [], errors = standardErrors, errorCodes, address } = options
  const operations = operationsOf(document)
  const components = at(document, "components")
  const schemas = at(components, "schemas") as Record<string, JsonObject>
  return [
    `# ${title}`,
    ...introduction,
    routeTable(operations),
    ...operations.map((operation) => section(operation, schemas, address)),
    ...chapters,
    "## Shapes",
    ...Object.entries(schemas).flatMap(([name, schema]) => [`### ${name}`, shape(schema)]),
    "## Headers",
    headerTable("of requests", at(components, "parameters")),
    headerTable("of answers", at(components, "headers")),
    "## Errors",
    errors,
    codeTable(errorCodes)
  ]
    .join("\n\n")
    .concat("\n")
}

const standardErrors =
  'Every refusal is JSON: `{"error": {"code", "message", "fields"?, "details"?}, "request_id"}`. Go by the code, not by ' +
  "the message. 408, 429 and 5xx may be tried again, after `Retry-After` where it is given."

/** An API without tokens has no column for scopes. */
const routeTable = (operations: ReadonlyArray<Operation>) => {
  const hasScopes = operations.some(({ scope }) => scope !== undefined)
  return table(
    ["route", "for", ...(hasScopes ? ["scope"] : [])],
    operations.map(({ method, path, summary, scope }) => [
      `[${method} ${path}](#${anchorOf(summary)})`,
      summary,
      ...(hasScopes ? [scope === undefined ? "none, no token" : `\`${scope}\``] : [])
    ])
  )
}

const codeTable = (codes: PageOptions["errorCodes"]) => {
  const hasTypes = Object.values(codes).some(({ type }) => type !== undefined)
  return table(
    ["status", "code", ...(hasTypes ? ["type"] : []), "when"],
    Object.entries(codes).map(([name, { status, type, when }]) => [
      String(status),
      `\`${name}\``,
      ...(hasTypes ? [type ?? ""] : []),
      when
    ])
  )
}

interface Operation {
  readonly method: string
  /** The path with `:id` for a segment. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly scope: string | undefined
  readonly query: Readonly<Record<string, JsonObject>>
  readonly body: { readonly schema: string; readonly example: unknown } | undefined
  /** One for each status and media type. */
  readonly answers: ReadonlyArray<{
    readonly status: string
    readonly mediaType: string
    /** The name of its shape. */
    readonly schema: string | undefined
    readonly description: string | undefined
  }>
  readonly refusals: ReadonlyArray<string>
}

const operationsOf = (document: JsonObject): ReadonlyArray<Operation> =>
  Object.entries(at(document, "paths")).flatMap(([template, methods]) =>
    Object.entries(methods as Record<string, JsonObject>).map(([method, operation]) => {
      const parameters = (operation["parameters"] ?? []) as ReadonlyArray<JsonObject>
      const security = (operation["security"] ?? []) as ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
      const responses = at(operation, "responses") as Record<string, JsonObject>
      return {
        method: method.toUpperCase(),
        path: template.replaceAll(/\{(\w+)\}/gu, ":$1"),
        summary: String(operation["summary"]),
        description: String(operation["description"]),
        scope: security.flatMap((each) => Object.values(each).flat())[0],
        query: Object.fromEntries(
          parameters
            .filter((parameter) => parameter["in"] === "query")
            .map(({ name, schema, description }) => [String(name), { ...(schema as JsonObject), description }])
        ),
        body: bodyOf(operation),
        answers: Object.entries(responses).flatMap(([status, response]) =>
          status.startsWith("2") ? contentsOf(status, response) : []
        ),
        refusals: Object.entries(responses).flatMap(([status, response]) =>
          codesOf(response).map((code) => `${status} \`${code}\``)
        )
      }
    })
  )

const bodyOf = (operation: JsonObject): Operation["body"] => {
  const { schema, example } = at(operation, "requestBody", "content", "application/json")
  const name = nameOf(schema)
  return name === undefined ? undefined : { schema: name, example }
}

const contentsOf = (status: string, response: JsonObject): Operation["answers"] =>
  Object.entries(at(response, "content") as Record<string, JsonObject>).map(([mediaType, { schema }]) => {
    const { description } = (schema ?? {}) as { readonly description?: string }
    return { status, mediaType, schema: nameOf(schema), description }
  })

/** A status with several shapes has the codes of all. */
const codesOf = (response: JsonObject): ReadonlyArray<string> => {
  const schema = at(response, "content", "application/json", "schema")
  const shapes = (schema["anyOf"] ?? [schema]) as ReadonlyArray<JsonObject>
  return shapes.flatMap(({ allOf }) =>
    Array.isArray(allOf) ? (at(allOf[1], "properties", "error", "properties", "code")["enum"] as Array<string>) : []
  )
}

const nameOf = (schema: unknown) => {
  const ref = (schema as JsonObject | undefined)?.["$ref"]
  return typeof ref === "string" ? ref.split("/").at(-1) : undefined
}

const at = (value: unknown, ...path: ReadonlyArray<string>): JsonObject => {
  let found = value as JsonObject | undefined
  for (const step of path) found = found?.[step] as JsonObject | undefined
  return found ?? {}
}

const section = (operation: Operation, schemas: Readonly<Record<string, JsonObject>>, address: string): string => {
  const { method, path, summary, description, query, body, answers, refusals } = operation
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    ...(body === undefined ? [] : [fieldTable(schemas[body.schema] ?? {})]),
    ...(Object.keys(query).length === 0 ? [] : [queryTable(query)]),
    `\`\`\`sh\n${curlOf(operation, address)}\n\`\`\``,
    `Answers ${answers.map(answered).join(", or ")}.`,
    `Refuses with ${refusals.join(", ")}.`
  ].join("\n\n")
}

const answered = ({ status, schema, description, mediaType }: Operation["answers"][number]) => {
  const what = schema === undefined ? (description ?? `\`${mediaType}\``) : `[${schema}](#${schema.toLowerCase()})`
  return status === "200" ? `with ${what}` : `${status} with ${what}`
}

const curlOf = ({ method, path, scope, body }: Operation, address: string) =>
  [
    `curl "${address}${path.replaceAll(/:(\w+)/gu, (_, name: string) => `$${name.toUpperCase()}`)}"`,
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(scope === undefined ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body.example)}'`])
  ].join(" \\\n  ")

const shape = (schema: JsonObject) =>
  Object.keys(propertiesOf(schema)).length === 0 ? typeOf(schema) : fieldTable(schema)

const headerTable = (head: string, headers: JsonObject) =>
  table(
    [head, ""],
    Object.entries(headers as Record<string, JsonObject>).map(([name, { description }]) => [
      `\`${name}\``,
      String(description)
    ])
  )
