/**
 * The reference of the pipeline's API as a page, from the same lists and schemas as its OpenAPI document. Pure;
 * docs/pipeline-api.md is written from it and a test fails when the page is stale.
 */
import { anchorOf, fieldTable, queryTable, table, typeOf } from "#http"
import { componentSchemas, headers, queryFields, requestHeaders } from "./document.ts"
import { errorCodeNames, errorCodes } from "./error-codes.ts"
import { nullInBodies, type Operation, operations } from "./operations.ts"

export const pipelinePage = (): string =>
  [
    "# The pipeline API",
    "Made from the schemas and lists in `services/pipeline-api` by `./starling docs`. The same for machines: " +
      "[pipeline-openapi.json](pipeline-openapi.json), and `GET /openapi.json` of a running fleet. Runners and internal " +
      "services speak to the pipeline over the bus: [asyncapi.json](asyncapi.json).",
    "Calls carry `Authorization: Bearer <token>`; `./starling token make --role member` makes a token. The examples take it from " +
      "`$TOKEN`, and the address from `$PIPELINE`.",
    nullInBodies,
    table(
      ["route", "for", "scope"],
      operations.map(({ method, path, summary, scope }) => [
        `[${method} ${path}](#${anchorOf(summary)})`,
        summary,
        scope === undefined ? "none, no token" : `\`${scope}\``
      ])
    ),
    ...operations.map(section),
    "## Shapes",
    ...Object.entries(componentSchemas()).flatMap(([name, schema]) => [`### ${name}`, shape(schema)]),
    "## Headers",
    table(
      ["of requests", ""],
      Object.values(requestHeaders).map(({ name, description }) => [`\`${name}\``, description])
    ),
    table(
      ["of answers", ""],
      Object.entries(headers).map(([name, { description }]) => [`\`${name}\``, description])
    ),
    "## Errors",
    'Every refusal is JSON: `{"error": {"code", "message", "fields"?, "details"?}, "request_id"}`. Go by the code, not by ' +
      "the message. 408, 429 and 5xx may be tried again, after `Retry-After` where it is given.",
    table(
      ["status", "code", "when"],
      errorCodeNames.map((name) => [String(errorCodes[name].status), `\`${name}\``, errorCodes[name].when])
    )
  ]
    .join("\n\n")
    .concat("\n")

const shape = (schema: Parameters<typeof fieldTable>[0]) =>
  schema["properties"] === undefined ? typeOf(schema) : fieldTable(schema)

const section = (operation: Operation): string =>
  [
    `## ${operation.summary}`,
    `\`${operation.method} ${operation.path}\``,
    operation.description,
    ...(operation.body === undefined ? [] : [fieldTable(componentSchemas()[operation.body.schema] ?? {})]),
    ...(operation.query === undefined ? [] : [queryTable(queryFields(operation.query))]),
    `\`\`\`sh\n${curlOf(operation)}\n\`\`\``,
    operation.answer === undefined
      ? "Answers with an OpenAPI document."
      : `Answers with [${operation.answer}](#${operation.answer.toLowerCase()}).`,
    `Refuses with ${[...operation.codes]
      .toSorted((left, right) => errorCodes[left].status - errorCodes[right].status)
      .map((code) => `${errorCodes[code].status} \`${code}\``)
      .join(", ")}.`
  ].join("\n\n")

const curlOf = ({ method, path, scope, body }: Operation) =>
  [
    `curl "$PIPELINE${path.replace(":id", "$ID")}"`,
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(scope === undefined ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body.example)}'`])
  ].join(" \\\n  ")
