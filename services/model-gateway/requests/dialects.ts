/**
 * The API dialects in which models are asked, as the differences between them: how a request is checked, where it
 * limits the length of the answer, and how it becomes a provider's own shape. Pure.
 */
import { Result, type Schema } from "effect"
import {
  boundedDecoder,
  ChatRequest,
  type DecodingFaults,
  MessagesRequest,
  moreFaults,
  ResponsesRequest
} from "#contracts"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { ModelRoute } from "../models/ModelRegistry.ts"
import { messagesToChat } from "../translate/anthropic-requests.ts"
import {
  isRecord,
  type JsonObject,
  numberAt,
  recordsAt,
  textAt,
  type Untranslatable,
  without
} from "../translate/json.ts"
import { providerApis } from "../translate/provider-apis.ts"
import { type WrittenRequest, writtenRequest } from "../translate/provider-keys.ts"
import { responsesToChat, statelessFault } from "../translate/responses-to-chat.ts"

type Checked = Result.Result<void, GatewayFault>
const passed: Checked = Result.succeed(undefined)

const isSystem = ({ role }: JsonObject) => role === "system" || role === "developer"

const empty = (param: "messages" | "input" = "messages"): Checked => Result.fail(fault("EMPTY_CONVERSATION", { param }))

const toolFault = (param: string, message: string): Checked =>
  Result.fail(fault("TOOL_ID_FORMAT_ERROR", { param, message }))

/** In OpenAI's shape. */
export const checkChat = (request: JsonObject): Checked => {
  const messages = recordsAt(request, "messages")
  if (messages.every(isSystem)) return empty()
  const called = new Set<string>()
  for (const [at, message] of messages.entries()) {
    const reasoning = message["reasoning_content"] ?? null
    if (reasoning !== null && typeof reasoning !== "string") {
      const param = `messages[${at}].reasoning_content`
      return Result.fail(fault("REASONING_FORMAT_ERROR", { param, message: `${param} must be a text` }))
    }
    for (const [nth, call] of recordsAt(message, "tool_calls").entries()) {
      const id = textAt(call, "id")
      const param = `messages[${at}].tool_calls[${nth}].id`
      if (id === undefined || id === "") return toolFault(param, `${param} must be a text`)
      called.add(id)
    }
    if (message["role"] !== "tool") continue
    const id = textAt(message, "tool_call_id")
    const param = `messages[${at}].tool_call_id`
    if (id === undefined || id === "") return toolFault(param, `${param} must be a text`)
    if (!called.has(id)) return toolFault(param, `${param} belongs to no tool call before it`)
  }
  return passed
}

/** In Anthropic's shape. */
export const checkMessages = (request: JsonObject): Checked => {
  const messages = recordsAt(request, "messages")
  if (messages.every(isSystem)) return empty()
  const called = new Set<string>()
  for (const [at, turn] of messages.entries()) {
    for (const [nth, block] of recordsAt(turn, "content").entries()) {
      const path = `messages[${at}].content[${nth}]`
      const isThought = block["type"] === "thinking"
      if (isThought && (typeof block["thinking"] !== "string" || typeof block["signature"] !== "string")) {
        const message = `${path} must have its thinking and its signature`
        return Result.fail(fault("REASONING_FORMAT_ERROR", { param: path, message }))
      }
      if (block["type"] === "tool_use") {
        const id = textAt(block, "id")
        if (id === undefined || id === "") return toolFault(`${path}.id`, `${path}.id must be a text`)
        called.add(id)
      }
      if (block["type"] !== "tool_result") continue
      const id = textAt(block, "tool_use_id")
      if (id === undefined || !called.has(id)) {
        return toolFault(`${path}.tool_use_id`, `${path}.tool_use_id belongs to no tool use before it`)
      }
    }
  }
  return passed
}

/** In the shape of responses. */
export const checkResponses = (request: JsonObject): Checked => {
  const items = recordsAt(request, "input")
  const isText = typeof request["input"] === "string" && request["input"] !== ""
  // Instructions are the system's; a reasoning item asks for nothing.
  const asksNothing = (item: JsonObject) => {
    const type = item["type"] ?? "message"
    return type === "reasoning" || (type === "message" && isSystem(item))
  }
  if (!isText && items.every(asksNothing)) return empty("input")
  const called = new Set<string>()
  for (const [at, item] of items.entries()) {
    const id = textAt(item, "call_id")
    const param = `input[${at}].call_id`
    if (item["type"] !== "function_call" && item["type"] !== "function_call_output") continue
    if (id === undefined || id === "") return toolFault(param, `${param} must be a text`)
    if (item["type"] === "function_call") called.add(id)
    else if (!called.has(id)) return toolFault(param, `${param} belongs to no call before it`)
  }
  return passed
}

export type ApiDialect = "chat" | "messages" | "responses"

type Made = Result.Result<JsonObject, Untranslatable>

/** The faults of the shape by their paths. Made once for a schema. */
export const shapeCheck = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = boundedDecoder(schema)
  return (body: unknown) => checkedShape(body, decode(body))
}

const notAnObject: DecodingFaults = { listed: [{ path: [], message: "not an object" }], mayBeMore: false }

const checkedShape = (
  body: unknown,
  decoded: Result.Result<unknown, DecodingFaults>
): Result.Result<JsonObject, GatewayFault> => {
  if (Result.isSuccess(decoded) && isRecord(body)) return Result.succeed(body)
  const { listed, mayBeMore } = Result.isFailure(decoded) ? decoded.failure : notAnObject
  const details = listed.map(({ path, message }) => ({ path: path.map(String), message: message.slice(0, 200) }))
  const [first] = details
  const more = mayBeMore ? `; ${moreFaults}` : ""
  return Result.fail(
    fault("INVALID_REQUEST_BODY", {
      details,
      param: first === undefined || first.path.length === 0 ? undefined : first.path.join(".").slice(0, 200),
      message:
        first === undefined
          ? undefined
          : `Invalid request body: ${first.path.join(".") || "body"}: ${first.message}${more}`
    })
  )
}

interface DialectRules {
  readonly checkShape: (body: unknown) => Result.Result<JsonObject, GatewayFault>
  readonly check: (request: JsonObject) => Result.Result<void, GatewayFault>
  /** The keys by which a caller limits the tokens of the answer; the first one present counts. */
  readonly tokenKeys: readonly [string, ...ReadonlyArray<string>]
  readonly toChat: (request: JsonObject) => Made
}

// Every name that providers use for the limit of an answer: only the limit that was quoted is sent.
const limitKeys = ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_length"] as const

const asChat = (request: JsonObject): Made => Result.succeed(request)

const rules: Readonly<Record<ApiDialect, DialectRules>> = {
  chat: {
    checkShape: shapeCheck(ChatRequest),
    check: checkChat,
    tokenKeys: ["max_completion_tokens", "max_tokens"],
    toChat: asChat
  },
  messages: {
    checkShape: shapeCheck(MessagesRequest),
    check: checkMessages,
    tokenKeys: ["max_tokens"],
    toChat: messagesToChat
  },
  responses: {
    checkShape: shapeCheck(ResponsesRequest),
    check: (request) => {
      const stateful = statelessFault(request)
      return stateful === undefined
        ? checkResponses(request)
        : Result.fail(untranslatableFault(stateful, "INVALID_REQUEST"))
    },
    tokenKeys: ["max_output_tokens"],
    toChat: responsesToChat
  }
}

const untranslatableFault = ({ param, message }: Untranslatable, code: "INVALID_PARAMETER" | "INVALID_REQUEST") =>
  fault(code, { param, message })

export const checkRequest = (dialect: ApiDialect, body: unknown) => rules[dialect].checkShape(body)

export const checkConversation = (dialect: ApiDialect, request: JsonObject) => rules[dialect].check(request)

/** Null when the request does not say. */
export const requestedTokens = (dialect: ApiDialect, request: JsonObject): number | null => {
  for (const key of rules[dialect].tokenKeys) {
    const tokens = numberAt(request, key)
    if (tokens !== undefined) return tokens
  }
  return null
}

/** The request as it is written to a model's provider, with its answer limited to so many tokens. */
export const bodyFor =
  (dialect: ApiDialect, request: JsonObject, outputTokens: number) =>
  ({ provider, maxTokensParameter }: ModelRoute): Result.Result<WrittenRequest, GatewayFault> => {
    const { tokenKeys, toChat } = rules[dialect]
    const { keys, own, fromChat } = providerApis[provider.kind]
    const given = tokenKeys.find((key) => numberAt(request, key) !== undefined) ?? tokenKeys.at(-1) ?? "max_tokens"
    const limited = { ...without(request, ...limitKeys), [given]: outputTokens }
    const limit = { key: maxTokensParameter, tokens: outputTokens }
    const made =
      dialect === own?.dialect
        ? Result.succeed(limited)
        : Result.flatMap(toChat(limited), (chat) => fromChat(chat, limit))
    const written = Result.flatMap(made, (body) => writtenRequest(keys, body))
    return Result.mapError(written, (error) => untranslatableFault(error, "INVALID_PARAMETER"))
  }
