/** Which way an answer goes from a provider's shape to the caller's: whole, or event by event. Pure. */
import type { Dialect } from "./event-decoder.ts"
import { chatToMessage, chatToResponse, messageToChat } from "./answers.ts"
import { chatAnswer, chatChunks } from "./Translator.ts"
import { chunksToEvents } from "./chat-stream.ts"
import { chunksToResponse } from "./response-stream.ts"
import { anthropicEvents, eventsToChunks } from "./chat-stream.ts"
import type { JsonObject } from "./json.ts"
import { chain, type Translator } from "./Translator.ts"

export interface Wanted {
  readonly face: "chat" | "messages" | "responses"
  /** As the caller calls it. */
  readonly model: string
  readonly request: JsonObject
  readonly includesUsage: boolean
  readonly nowSeconds: number
}

export const wholeAnswer = (
  { face, model, request, nowSeconds }: Wanted,
  dialect: Dialect,
  body: JsonObject
): JsonObject => {
  if (face === "messages" && dialect === "anthropic") return { ...body, model }
  const chat = dialect === "anthropic" ? messageToChat(body, model, nowSeconds) : chatAnswer(body, model)
  if (face === "chat") return chat
  return face === "messages" ? chatToMessage(chat, model) : chatToResponse(chat, model, request)
}

export const streamTranslator = (wanted: Wanted, dialect: Dialect): Translator => {
  const { face, model, request, includesUsage, nowSeconds } = wanted
  if (face === "messages" && dialect === "anthropic") return anthropicEvents(model)
  const last = {
    chat: () => chatChunks(model, includesUsage),
    messages: () => chunksToEvents(model),
    responses: () => chunksToResponse({ model, createdSeconds: nowSeconds, request })
  }[face]()
  return dialect === "anthropic" ? chain(eventsToChunks(model, nowSeconds), last) : last
}
