/** The reference of an API as a page of Markdown, from its OpenAPI document: routes, shapes, headers, codes. Pure. */
import type { ErrorCode } from "#contracts"
import { type JsonObject, propertiesOf } from "./openapi.ts"
import { anchorOf, fieldTable, queryTable, table, typeOf } from "./tables.ts"

export interface PageOptions {
  readonly title: string
  /** Paragraphs before the routes. */
  readonly introduction: ReadonlyArray<string>
  readonly document: JsonObject
  readonly errorCodes: Readonly<Record<string, ErrorCode>>
  /** The name of the API's address in examples: `$PIPELINE`. */
  readonly address: string
}

export const apiPage = ({ title, introduction, document, errorCodes, address }: PageOptions): string => {
  const operations = operationsOf(document)
  const components = at(document, "components")
  const schemas = at(components, "schemas") as Record<string, JsonObject>
  return [
    `# ${title}`,
    ...introduction,
    table(
      ["route", "for", "scope"],
      operations.map(({ method, path, summary, scope }) => [
        `[${method} ${path}](#${anchorOf(summary)})`,
        summary,
        scope === undefined ? "none, no token" : `\`${scope}\``
      ])
    ),
    ...operations.map((operation) => section(operation, schemas, address)),
    "## Shapes",
    ...Object.entries(schemas).flatMap(([name, schema]) => [`### ${name}`, shape(schema)]),
    "## Headers",
    headerTable("of requests", at(components, "parameters")),
    headerTable("of answers", at(components, "headers")),
    "## Errors",
    'Every refusal is JSON: `{"error": {"code", "message", "fields"?, "details"?}, "request_id"}`. Go by the code, not by ' +
      "the message. 408, 429 and 5xx may be tried again, after `Retry-After` where it is given.",
    table(
      ["status", "code", "when"],
      Object.entries(errorCodes).map(([name, { status, when }]) => [String(status), `\`${name}\``, when])
    )
  ]
    .join("\n\n")
    .concat("\n")
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
  /** The name of a shape, or a description of it. */
  readonly answer: { readonly schema: string | undefined; readonly mediaType: string }
  readonly refusals: ReadonlyArray<string>
}

const operationsOf = (document: JsonObject): ReadonlyArray<Operation> =>
  Object.entries(at(document, "paths")).flatMap(([template, methods]) =>
    Object.entries(methods as Record<string, JsonObject>).map(([method, operation]) => {
      const parameters = (operation["parameters"] ?? []) as ReadonlyArray<JsonObject>
      const security = (operation["security"] ?? []) as ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
      const responses = at(operation, "responses") as Record<string, JsonObject>
      const [, success = {}] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? []
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
        answer: contentOf(success),
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

const contentOf = (response: JsonObject): Operation["answer"] => {
  const [[mediaType, { schema }] = ["", {}]] = Object.entries(at(response, "content") as Record<string, JsonObject>)
  return { schema: nameOf(schema), mediaType }
}

const codesOf = (response: JsonObject): ReadonlyArray<string> => {
  const { allOf } = at(response, "content", "application/json", "schema")
  return Array.isArray(allOf)
    ? (at(allOf[1], "properties", "error", "properties", "code")["enum"] as Array<string>)
    : []
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
  const { method, path, summary, description, query, body, answer, refusals } = operation
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    ...(body === undefined ? [] : [fieldTable(schemas[body.schema] ?? {})]),
    ...(Object.keys(query).length === 0 ? [] : [queryTable(query)]),
    `\`\`\`sh\n${curlOf(operation, address)}\n\`\`\``,
    answered(answer),
    `Refuses with ${refusals.join(", ")}.`
  ].join("\n\n")
}

const answered = ({ schema, mediaType }: Operation["answer"]) => {
  if (schema !== undefined) return `Answers with [${schema}](#${schema.toLowerCase()}).`
  return mediaType === "application/json" ? "Answers with an OpenAPI document." : `Answers with \`${mediaType}\`.`
}

const curlOf = ({ method, path, scope, body }: Operation, address: string) =>
  [
    `curl "${address}${path.replace(":id", "$ID")}"`,
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
