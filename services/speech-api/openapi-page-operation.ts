/** One operation's section of the reference page. Pure. */
import { queryTable } from "#http"
import { errorCodes } from "./openapi-errors.ts"
import { speechFields } from "./openapi-fields.ts"
import type { Answer, Operation } from "./openapi-operations.ts"
import { streamedTypes } from "./openapi-responses.ts"
import { componentSchemas, voicesQuery } from "./openapi-schemas.ts"

export const operationSection = (operation: Operation): string =>
  [
    `## ${operation.summary}`,
    `\`${operation.method} ${operation.path}\``,
    operation.description,
    ...(operation.body === undefined ? [] : [speechFields(componentSchemas()[operation.body.schema] ?? {})]),
    ...(operation.query === undefined ? [] : [queryTable(voicesQuery())]),
    `\`\`\`sh\n${curlOf(operation)}\n\`\`\``,
    `Answers ${answerOf(operation.answer)}`,
    `Refuses with ${[...operation.codes]
      .toSorted((left, right) => errorCodes[left].status - errorCodes[right].status)
      .map((code) => `${errorCodes[code].status} \`${code}\``)
      .join(", ")}.`
  ].join("\n\n")

const examplePath = (path: string) => path.replace(":voice_id", path.endsWith(":voice_id") ? "selma" : "$VOICE")

const curlOf = ({ method, path, scopes, query, body, answer }: Operation) =>
  [
    `curl ${answer._tag === "Events" ? "-N " : ""}"$SPEECH${examplePath(path)}${query === undefined ? "" : "?locale=en&limit=5"}"`,
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(scopes.length === 0 ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === undefined ? [] : bodyOf(body)),
    ...(answer._tag === "Audio" ? ["-o hello.mp3"] : []),
    ...(answer._tag === "File" ? ["-OJ"] : [])
  ].join(" \\\n  ")

const bodyOf = ({ example, isForm }: NonNullable<Operation["body"]>) =>
  isForm
    ? Object.entries(example).map(([name, value]) => `-F '${name}=${String(value)}'`)
    : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(example)}'`]

const link = (name: string) => `[${name}](#${name.toLowerCase()})`

const answerOf = (answer: Answer): string => {
  switch (answer._tag) {
    case "Audio":
      return `with audio: ${streamedTypes().join(", ")}.`
    case "Events":
      return `with text/event-stream: ${answer.schemas.map(link).join(", ")}.`
    case "File":
      return `with the file: ${answer.mediaTypes.join(", ")}.`
    case "Empty":
      return "with nothing but 204."
    case "Document":
      return "with an OpenAPI document."
    case "Json":
      return answer.bareListOf === undefined
        ? `with ${link(answer.schema)}.`
        : `with ${link(answer.schema)}, or callers of old with a list of ${link(answer.bareListOf)}.`
  }
}
