/** docs/model-gateway.md: the routes, the codes and the limits of the model gateway for people. Pure. */
import { gatewayCodes } from "#contracts"
import { gatewayOperations } from "./openapi.ts"

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

const limits = [
  ["a body", "1 MiB, 10 MiB with images", "`BodyBytesMax`, `ImageBodyBytesMax`"],
  ["the first byte of an answer, or all of one that is not streamed", "120 s", "`FirstByteSeconds`"],
  ["silence within a stream", "120 s", "`StallSeconds`"],
  ["a stream", "500 s", "`StreamSeconds`"],
  ["calls to free models from one address", "30 a minute and 300 an hour", "`FreeTier`"],
  ["lists of models to one address", "100 an hour", "`MetadataPerHour`"],
  ["images that a conversation names", "16, of at most 8 MiB each", "-"],
  ["an image that a caller waits for", "30 s, then it is a job", "`ImageInlineSeconds`"]
]

export const modelGatewayPage = (): string => `# The model gateway

Made from the schemas and lists in \`services/model-gateway\` by \`./starling docs\`. The same for machines: [model-gateway-openapi.json](model-gateway-openapi.json), and \`GET /openapi.json\` of a running gateway.

Every path also stands below \`/api\`, and below \`/solana/api\`, where quotes are for Solana.

${table(
  ["method", "path", "what it does", "streams"],
  gatewayOperations.map(({ method, path, summary, streams }) => [
    method.toUpperCase(),
    `\`${path}\``,
    summary,
    streams ? "yes" : "no"
  ])
)}

## Codes

An unknown model is the one error without a code: status 400 and \`{"error": "Unknown model: ..."}\` with ids that are near. A code also stands in the header \`X-Error-Code\`.

${table(
  ["code", "status", "type", "meaning"],
  Object.entries(gatewayCodes).map(([code, { status, type, message }]) => [
    `\`${code}\``,
    String(status),
    type,
    message
  ])
)}

## Limits

${table(["of", "limit", "key of ModelGateway"], limits)}
`
