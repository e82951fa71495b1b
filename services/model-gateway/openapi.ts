/**
 * OpenAPI 3.1 of the model gateway, made from the schemas that decode its requests and from the table of its
 * codes. Pure; docs/model-gateway-openapi.json is written from it.
 */
import {
  ChatRequest,
  type GatewayCode,
  gatewayCodes,
  ImageJob,
  ImagesRequest,
  ListedModel,
  ListedModels,
  MessagesRequest,
  ResponsesRequest
} from "#contracts"
import { componentsOf, jsonContent, type JsonObject, pathParameters, pathsOf, refTo } from "#http"

const requests = { ChatRequest, MessagesRequest, ResponsesRequest, ImagesRequest, ListedModels, ListedModel, ImageJob }

export interface GatewayOperation {
  readonly id: string
  readonly method: "get" | "post"
  readonly path: string
  readonly summary: string
  readonly body?: keyof typeof requests
  /** The answer's schema where it is ours; the vendor's otherwise. */
  readonly answer?: keyof typeof requests
  readonly streams: boolean
}

export const gatewayOperations: ReadonlyArray<GatewayOperation> = [
  {
    id: "createChatCompletion",
    method: "post",
    path: "/v1/chat/completions",
    summary: "Answers a chat in OpenAI's shape; other parameters go on to the model.",
    body: "ChatRequest",
    streams: true
  },
  {
    id: "createMessage",
    method: "post",
    path: "/v1/messages",
    summary: "Answers a conversation in Anthropic's shape, whoever serves the model.",
    body: "MessagesRequest",
    streams: true
  },
  {
    id: "createResponse",
    method: "post",
    path: "/v1/responses",
    summary: "Answers in the shape of OpenAI's responses. Nothing is stored between calls.",
    body: "ResponsesRequest",
    streams: true
  },
  {
    id: "createImage",
    method: "post",
    path: "/v1/images/generations",
    summary: "Makes images. 202 with a job when they take longer than a caller waits.",
    body: "ImagesRequest",
    streams: false
  },
  {
    id: "getImageJob",
    method: "get",
    path: "/v1/images/jobs/:id",
    summary: "An image job of the last day.",
    answer: "ImageJob",
    streams: false
  },
  {
    id: "listModels",
    method: "get",
    path: "/v1/models",
    summary: "The models and their prices.",
    answer: "ListedModels",
    streams: false
  }
]

/** The codes of a status, in the order of the table. */
export const codesByStatus = (): ReadonlyMap<number, ReadonlyArray<GatewayCode>> => {
  const found = new Map<number, Array<GatewayCode>>()
  for (const code of Object.keys(gatewayCodes) as ReadonlyArray<GatewayCode>) {
    const { status } = gatewayCodes[code]
    found.set(status, [...(found.get(status) ?? []), code])
  }
  return found
}

export const gatewayOpenApi = (): JsonObject => ({
  openapi: "3.1.0",
  info: {
    title: "Starling models",
    version: "1.0.0",
    description:
      "Models paid for by the call with x402. `/api/v1` and `/v1` are the same; `/solana/api/v1` quotes for Solana."
  },
  servers: [{ url: "/" }, { url: "/api" }, { url: "/solana/api" }],
  paths: pathsOf(gatewayOperations, operationOf),
  components: { schemas: { ...componentsOf(requests), Error: errorSchema } }
})

const operationOf = (operation: GatewayOperation): JsonObject => ({
  operationId: operation.id,
  summary: operation.summary,
  parameters: pathParameters(operation.path),
  ...(operation.body === undefined
    ? {}
    : { requestBody: { required: true, content: jsonContent(refTo(operation.body)) } }),
  responses: {
    "200": {
      description: operation.summary,
      content: {
        "application/json": { schema: operation.answer === undefined ? { type: "object" } : refTo(operation.answer) },
        ...(operation.streams ? { "text/event-stream": { schema: { type: "string" } } } : {})
      }
    },
    ...(operation.id === "createImage"
      ? { "202": { description: "The job.", content: jsonContent(refTo("ImageJob")) } }
      : {}),
    ...(operation.method === "post" ? refusals() : {})
  }
})

const refusals = () =>
  Object.fromEntries(
    [...codesByStatus()].map(([status, codes]) => [
      String(status),
      { description: codes.join(", "), content: jsonContent(refTo("Error")) }
    ])
  )

const errorSchema = {
  type: "object",
  description: "OpenAI's envelope with mirrors; `/v1/messages` and `/v1/responses` answer in their vendor's shape.",
  required: ["error", "message", "code"],
  properties: {
    error: {
      type: "object",
      required: ["message", "type", "code", "param"],
      properties: {
        message: { type: "string" },
        type: { enum: [...new Set(Object.values(gatewayCodes).map(({ type }) => type))] },
        code: { enum: Object.keys(gatewayCodes) },
        param: { type: ["string", "null"] }
      }
    },
    message: { type: "string" },
    code: { type: "string" },
    debug: { type: "string" },
    details: { type: "array", items: { type: "object" } },
    source: { type: "string" },
    retry_after_seconds: { type: "integer" }
  }
}
