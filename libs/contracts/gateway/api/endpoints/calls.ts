/** Calls to models, in the dialects of three APIs. Fields that a request has beyond its shape go on to the model. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { described } from "../../../http/declaration.ts"
import { ChatRequest, MessagesRequest, ResponsesRequest } from "../../requests.ts"
import { chatRefusals, messagesRefusals, responsesRefusals } from "../refusals.ts"

/** What a vendor's API answers, whole or, with `stream: true`, as events. */
const answersOf = (description: string) =>
  [
    Schema.Record(Schema.String, Schema.Unknown).annotate({ description }),
    Schema.String.annotate({ description: "its events, for `stream: true`" }).pipe(
      HttpApiSchema.asText({ contentType: "text/event-stream" })
    )
  ] as const

const messages = [{ role: "user", content: "Why is the sky blue?" }]

export const CallsGroup = HttpApiGroup.make("calls", { topLevel: true }).add(
  HttpApiEndpoint.post("createChatCompletion", "/v1/chat/completions", {
    disableCodecs: true,
    payload: ChatRequest,
    success: answersOf("a chat completion as OpenAI's API gives it"),
    error: chatRefusals
  }).annotateMerge(
    described({
      summary: "Complete a chat",
      description: "Answers a chat in OpenAI's shape; other parameters go on to the model.",
      example: { model: "demo/echo", messages }
    })
  ),
  HttpApiEndpoint.post("createMessage", "/v1/messages", {
    disableCodecs: true,
    payload: MessagesRequest,
    success: answersOf("a message as Anthropic's API gives it"),
    error: messagesRefusals
  }).annotateMerge(
    described({
      summary: "Answer a conversation",
      description: "Answers a conversation in Anthropic's shape, whoever serves the model.",
      example: { model: "demo/echo", max_tokens: 256, messages }
    })
  ),
  HttpApiEndpoint.post("createResponse", "/v1/responses", {
    disableCodecs: true,
    payload: ResponsesRequest,
    success: answersOf("a response as OpenAI's API gives it"),
    error: responsesRefusals
  }).annotateMerge(
    described({
      summary: "Create a response",
      description: "Answers in the shape of OpenAI's responses. Nothing is stored between calls.",
      example: { model: "demo/echo", input: "Why is the sky blue?" }
    })
  )
)
