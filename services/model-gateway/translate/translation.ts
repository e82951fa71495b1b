/** Which way an answer goes from a provider's shape to the caller's: whole, or event by event. Pure. */
import { chatToMessage, messageToChat } from "./answers.ts"
import {
  anthropicEvents,
  chain,
  chatAnswer,
  chatChunks,
  chunksToEvents,
  eventsToChunks,
  type Translator
} from "./chat-stream.ts"
import type { ProviderKind } from "./event-decoder.ts"
import type { JsonObject } from "./json.ts"
import { chatToResponse, chunksToResponse } from "./responses.ts"

export interface Wanted {
  readonly dialect: "chat" | "messages" | "responses"
  /** As the caller calls it. */
  readonly model: string
  readonly request: JsonObject
  readonly includesUsage: boolean
  readonly nowSeconds: number
}

export const wholeAnswer = (
  { dialect, model, request, nowSeconds }: Wanted,
  kind: ProviderKind,
  body: JsonObject
): JsonObject => {
  if (dialect === "messages" && kind === "anthropic") return { ...body, model }
  const chat = kind === "anthropic" ? messageToChat(body, model, nowSeconds) : chatAnswer(body, model)
  if (dialect === "chat") return chat
  return dialect === "messages" ? chatToMessage(chat, model) : chatToResponse(chat, model, request)
}

export const streamTranslator = (wanted: Wanted, kind: ProviderKind): Translator => {
  const { dialect, model, request, includesUsage, nowSeconds } = wanted
  if (dialect === "messages" && kind === "anthropic") return anthropicEvents(model)
  const last = {
    chat: () => chatChunks(model, includesUsage),
    messages: () => chunksToEvents(model),
    responses: () => chunksToResponse({ model, createdSeconds: nowSeconds, request })
  }[dialect]()
  return kind === "anthropic" ? chain(eventsToChunks(model, nowSeconds), last) : last
}
