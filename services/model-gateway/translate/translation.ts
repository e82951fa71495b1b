/** The way of an answer from a provider's shape to the caller's: whole, or event by event. Pure. */
import { chatToMessage } from "./answers.ts"
import { chain, chatChunks, chunksToEvents, type Translator } from "./chat-stream.ts"
import type { JsonObject } from "./json.ts"
import { providerApis, type ProviderKind } from "./provider-apis.ts"
import { chatToResponse, chunksToResponse } from "./responses.ts"

/** The shape in which a caller gets its answer. */
export interface AnswerShape {
  readonly dialect: "chat" | "messages" | "responses"
  /** The caller's name for the model. */
  readonly model: string
  readonly request: JsonObject
  readonly includesUsage: boolean
  readonly nowSeconds: number
}

export const wholeAnswer = (
  { dialect, model, request, nowSeconds }: AnswerShape,
  kind: ProviderKind,
  body: JsonObject
): JsonObject => {
  const { own, toChat } = providerApis[kind]
  if (dialect === own?.dialect) return own.whole(body, model)
  const chat = toChat(body, model, nowSeconds)
  if (dialect === "chat") return chat
  return dialect === "messages" ? chatToMessage(chat, model) : chatToResponse(chat, model, request)
}

export const streamTranslator = (shape: AnswerShape, kind: ProviderKind): Translator => {
  const { dialect, model, request, includesUsage, nowSeconds } = shape
  const { own, toChunks } = providerApis[kind]
  if (dialect === own?.dialect) return own.events(model)
  const last = {
    chat: () => chatChunks(model, includesUsage),
    messages: () => chunksToEvents(model),
    responses: () => chunksToResponse({ model, createdSeconds: nowSeconds, request })
  }[dialect]()
  return toChunks === undefined ? last : chain(toChunks(model, nowSeconds), last)
}
