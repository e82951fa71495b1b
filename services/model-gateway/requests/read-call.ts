/** A call to a model, read, checked and measured: all that can be known before anybody pays or is asked. */
import { Effect, Option, Result } from "effect"
import { HttpCall } from "#http"
import { inputTokensOf, type OutputTokens, outputTokensOf, type PromptSize } from "#x402"
import { fault } from "../errors/GatewayFault.ts"
import { conversationFiles, type NamedFile } from "../images/conversation-files.ts"
import { type JsonObject, numberAt, recordAt, textAt } from "../translate/json.ts"
import { Catalogue, type CatalogueModel } from "./Catalogue.ts"
import { soldRequest } from "./costly-parameters.ts"
import { checkConversation, checkFace, type ModelFace, requestedTokens } from "./faces.ts"
import { promptSize } from "./prompt-size.ts"
import { readBody } from "./read-body.ts"

export interface ModelCall {
  readonly face: ModelFace
  readonly model: CatalogueModel
  /** With every address of a picture or document as it was parsed. */
  readonly request: JsonObject
  /** The pictures and documents that have to be fetched. */
  readonly named: ReadonlyArray<NamedFile>
  /** As it came. */
  readonly bytes: Uint8Array
  readonly isStreamed: boolean
  readonly includesUsage: boolean
  readonly outputTokens: OutputTokens
  /** Answers to one question. */
  readonly answers: number
  readonly prompt: PromptSize
  /** For a provider of the same kind. */
  readonly headers: Readonly<Record<string, string>>
}

const answersMax = 128

export const readCall = Effect.fnUntraced(function* (face: ModelFace) {
  const { bytes, json } = yield* readBody
  const request = yield* Effect.fromResult(checkFace(face, json))
  const model = yield* (yield* Catalogue).find(textAt(request, "model") ?? "", "chat")
  const isStreamed = request["stream"] === true
  if (isStreamed && !model.entry.Streams) return yield* fault("STREAM_UNSUPPORTED", { param: "stream" })
  yield* Effect.fromResult(checkConversation(face, request))
  const sold = yield* Effect.fromResult(soldRequest(face, request, model.entry.ExtraParameters))
  const files = yield* Effect.fromResult(conversationFiles(sold))
  const prompt = promptSize(files.request, files.documents)
  yield* Effect.fromResult(checkContext(face, prompt, model.entry.ContextTokens))
  const { header } = yield* HttpCall
  const beta = face === "messages" ? Option.getOrUndefined(header("anthropic-beta")) : undefined
  const call: ModelCall = {
    face,
    model,
    request: files.request,
    named: files.named,
    bytes,
    isStreamed,
    includesUsage: recordAt(request, "stream_options")["include_usage"] === true,
    outputTokens: outputTokensOf(requestedTokens(face, request), model.entry.OutputTokensMax),
    answers: Math.min(answersMax, numberAt(request, "n") ?? 1),
    prompt,
    headers: beta === undefined ? {} : { "anthropic-beta": beta }
  }
  return call
})

/** By the same guess as the quote: what fills the window leaves no room for an answer. */
const checkContext = (face: ModelFace, prompt: PromptSize, contextTokens: number) => {
  const tokens = inputTokensOf(prompt)
  if (tokens < contextTokens) return Result.void
  const param = face === "responses" ? "input" : "messages"
  const message = `The prompt is about ${tokens} tokens, and the model's context window has ${contextTokens}`
  return Result.fail(fault("CONTEXT_LENGTH_EXCEEDED", { param, message }))
}
