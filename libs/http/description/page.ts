/**
 * The reference of an API as a page of Markdown, made from its OpenAPI document: routes, shapes, headers, codes; and
 * the tables that other reference pages also use. Pure.
 */
import type { ErrorCode } from "#base"
import { type JsonObject, propertiesOf } from "./document.ts"

export interface PageOptions {
  readonly title: string
  /** Paragraphs before the routes. */
  readonly introduction: ReadonlyArray<string>
  readonly document: JsonObject
  /** Markdown between the routes and their shapes. */
  readonly chapters?: ReadonlyArray<string>
  /** What refusals look like; by default, standard envelopes. */
  readonly errors?: string
  readonly errorCodes: Readonly<Record<string, ErrorCode>>
  /** The name of the API's address in examples: `$PIPELINE`. */
  readonly address: string
  readonly longList?: LongList
}

export const apiPage = (options: PageOptions): string => {
  const { title, introduction, document, chapters = [], errors = standardErrors, errorCodes, longList } = options
  const operations = operationsOf(document)
  const components = at(document, "components")
  const schemas = at(components, "schemas") as Record<string, JsonObject>
  return [
    `# ${title}`,
    ...introduction,
    routeTable(operations),
    ...operations.map((operation) => section(operation, schemas, options)),
    ...chapters,
    "## Shapes",
    ...Object.entries(schemas).flatMap(([name, schema]) => [`### ${name}`, shape(schema, longList)]),
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
  const hasScopes = operations.some(({ scopes }) => scopes.length > 0)
  return table(
    ["route", "for", ...(hasScopes ? ["scope"] : [])],
    operations.map(({ method, path, summary, scopes }) => [
      `[${method} ${path}](#${anchorOf(summary)})`,
      summary,
      ...(hasScopes ? [scopes.map((scope) => `\`${scope}\``).join(" or ") || "none, no token"] : [])
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
  /** The path with segments such as `:id`. */
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Any one of them suffices. */
  readonly scopes: ReadonlyArray<string>
  readonly query: Readonly<Record<string, JsonObject>>
  /** Parts of the query without which it is refused. */
  readonly queryRequired: ReadonlyArray<string>
  readonly body: Body | undefined
  readonly answers: ReadonlyArray<Answer>
  readonly refusals: ReadonlyArray<string>
}

interface Body {
  readonly schema: string
  /** The shape of the body in a vendor's dialect, if the route accepts one. */
  readonly dialect: string | undefined
  readonly example: unknown
  readonly isForm: boolean
}

/** One per status: nothing, bytes of any of these media types, or a shape. */
interface Answer {
  readonly status: string
  readonly mediaTypes: ReadonlyArray<string>
  readonly schema: JsonObject | undefined
}

const operationsOf = (document: JsonObject): ReadonlyArray<Operation> =>
  Object.entries(at(document, "paths")).flatMap(([template, methods]) =>
    Object.entries(methods as Record<string, JsonObject>).map(([method, operation]) => {
      const parameters = (operation["parameters"] ?? []) as ReadonlyArray<JsonObject>
      const security = (operation["security"] ?? []) as ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
      const responses = responsesOf(document, operation)
      return {
        method: method.toUpperCase(),
        path: template.replaceAll(/\{(\w+)\}/gu, ":$1"),
        summary: String(operation["summary"]),
        description: String(operation["description"]),
        scopes: security.flatMap((each) => Object.values(each).flat()),
        query: Object.fromEntries(
          parameters
            .filter((parameter) => parameter["in"] === "query")
            .map(({ name, schema, description }) => [String(name), { ...(schema as JsonObject), description }])
        ),
        queryRequired: parameters
          .filter((parameter) => parameter["in"] === "query" && parameter["required"] === true)
          .map(({ name }) => String(name)),
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

/** By status, including those among the document's components. */
const responsesOf = (document: JsonObject, operation: JsonObject): Record<string, JsonObject> =>
  Object.fromEntries(
    Object.entries(at(operation, "responses") as Record<string, JsonObject>).map(([status, response]) => [
      status,
      "$ref" in response
        ? at(document, "components", "responses", String(response["$ref"]).split("/").at(-1) ?? "")
        : response
    ])
  )

const bodyOf = (operation: JsonObject): Operation["body"] => {
  const [[mediaType, content] = ["", {}]] = Object.entries(at(operation, "requestBody", "content"))
  const { schema, example } = content as JsonObject
  const [name, dialect] = ((schema as JsonObject | undefined)?.["anyOf"] as ReadonlyArray<unknown> | undefined)?.map(
    nameOf
  ) ?? [nameOf(schema)]
  return name === undefined ? undefined : { schema: name, dialect, example, isForm: mediaType === form }
}

const form = "multipart/form-data"
const events = "text/event-stream"

/** All byte types are one answer. */
const contentsOf = (status: string, response: JsonObject): ReadonlyArray<Answer> => {
  const contents = Object.entries(at(response, "content") as Record<string, { readonly schema?: JsonObject }>).map(
    ([mediaType, { schema }]) => [mediaType, { schema: mediaType === events ? dataOf(schema) : schema }] as const
  )
  const ofBytes = contents.flatMap(([mediaType, { schema }]) => (schema === undefined ? [mediaType] : []))
  const shaped = contents.flatMap(([mediaType, { schema }]) =>
    schema === undefined ? [] : [{ status, mediaTypes: [mediaType], schema }]
  )
  const hasBytesOnly = shaped.length === 0
  return ofBytes.length > 0 || hasBytesOnly ? [...shaped, { status, mediaTypes: ofBytes, schema: undefined }] : shaped
}

/** For a stream of events, the shape of their data. */
const dataOf = (event: JsonObject | undefined): JsonObject => {
  const data = at(event, "properties", "data")
  return (data["contentSchema"] as JsonObject | undefined) ?? data
}

/** A status with several shapes has the codes of all of them. */
const codesOf = (response: JsonObject): ReadonlyArray<string> => {
  const schema = at(response, "content", "application/json", "schema")
  const shapes = (schema["anyOf"] ?? [schema]) as ReadonlyArray<JsonObject>
  return shapes.flatMap(({ allOf }) => (Array.isArray(allOf) ? codesIn(allOf[1] as JsonObject) : []))
}

/** The one field that is narrowed, wherever it is. */
const codesIn = ({ enum: codes, ...narrowed }: JsonObject): ReadonlyArray<string> =>
  Array.isArray(codes) ? (codes as ReadonlyArray<string>) : Object.values(propertiesOf(narrowed)).flatMap(codesIn)

const nameOf = (schema: unknown) => {
  const ref = (schema as JsonObject | undefined)?.["$ref"]
  return typeof ref === "string" ? ref.split("/").at(-1) : undefined
}

const at = (value: unknown, ...path: ReadonlyArray<string>): JsonObject => {
  let found = value as JsonObject | undefined
  for (const step of path) found = found?.[step] as JsonObject | undefined
  return found ?? {}
}

const section = (
  operation: Operation,
  schemas: Readonly<Record<string, JsonObject>>,
  { address, longList }: PageOptions
): string => {
  const { method, path, summary, description, query, body, answers, refusals } = operation
  return [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description,
    ...(body === undefined ? [] : [fieldTable(schemas[body.schema] ?? {}, longList)]),
    ...(body?.dialect === undefined ? [] : [`Or takes ${typeOf({ $ref: body.dialect })}.`]),
    ...(Object.keys(query).length === 0 ? [] : [queryTable(query)]),
    `\`\`\`sh\n${curlOf(operation, address)}\n\`\`\``,
    `Answers ${answers.map(answered).join(", or ")}.`,
    `Refuses with ${refusals.join(", ")}.`
  ].join("\n\n")
}

const answered = (answer: Answer) =>
  answer.status === "200" ? `with ${whatOf(answer)}` : `${answer.status} with ${whatOf(answer)}`

const whatOf = ({ schema, mediaTypes }: Answer) => {
  if (mediaTypes.length === 0) return "nothing"
  const { description, $ref: ref, oneOf } = schema ?? {}
  const of = schema === undefined || (ref ?? oneOf) === undefined ? undefined : typeOf(schema)
  if (of !== undefined) return mediaTypes.includes(events) ? `events of ${of}` : of
  return description === undefined ? mediaTypes.map((type) => `\`${type}\``).join(", ") : String(description)
}

/** What the caller fills in: `?id=$ID`. */
const filledIn = (names: ReadonlyArray<string>) =>
  names.map((name, index) => `${index === 0 ? "?" : "&"}${name}=$${name.toUpperCase()}`).join("")

const curlOf = ({ method, path, scopes, queryRequired, body, answers }: Operation, address: string) =>
  [
    `curl ${answers.every(({ mediaTypes }) => mediaTypes.includes(events)) ? "-N " : ""}"${address}${path.replaceAll(/:(\w+)/gu, (_, name: string) => `$${name.toUpperCase()}`)}${filledIn(queryRequired)}"`,
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(scopes.length === 0 ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === undefined ? [] : bodyArguments(body)),
    ...(answers.every(isOfBytes) ? ['-o "$FILE"'] : [])
  ].join(" \\\n  ")

const bodyArguments = ({ example, isForm }: NonNullable<Operation["body"]>) =>
  isForm
    ? Object.entries(example as JsonObject).map(([name, value]) => `-F ${quoted(`${name}=${String(value)}`)}`)
    : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(example))}`]

/** As one shell word. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

const isOfBytes = ({ schema, mediaTypes }: Answer) => schema === undefined && mediaTypes.length > 0

const shape = (schema: JsonObject, longList?: LongList) =>
  Object.keys(propertiesOf(schema)).length === 0 ? typeOf(schema, longList) : fieldTable(schema, longList)

const headerTable = (head: string, headers: JsonObject) =>
  table(
    [head, ""],
    Object.entries(headers as Record<string, JsonObject>).map(([name, { description }]) => [
      `\`${name}\``,
      String(description)
    ])
  )

export const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.map(escaped).join(" | ")} |`).join("\n")

const escaped = (cell: string) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")

/** The anchor that forges make from a heading. */
export const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/gu, "")
    .replaceAll(" ", "-")

/** The reference to a list of values that is too long for a cell; undefined prints them all. */
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

const queryTable = (fields: Readonly<Record<string, JsonObject>>): string =>
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
