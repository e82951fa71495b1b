/**
 * The API dialects of calls to models, as the differences between them: how a request is checked and read, where it
 * limits the answer's length, and how a request is written for each kind of provider. Pure.
 */
import { Result, type Schema } from "effect"
import { boundedDecoder, type DecodingFaults, moreFaults } from "#base"
import { ChatRequest, MessagesRequest, ResponsesRequest } from "#gateway/contract"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { ModelRoute } from "../models/ModelRegistry.ts"
import type { ApiDialect, Conversation, FileData, WebFile } from "../conversation/Conversation.ts"
import { type FileFinder, fileFinder } from "../conversation/files.ts"
import { readChat } from "../conversation/read-chat.ts"
import { readMessages } from "../conversation/read-messages.ts"
import { readResponses, statelessFault } from "../conversation/read-responses.ts"
import { writeChat } from "../conversation/write-chat.ts"
import { writeMessages } from "../conversation/write-messages.ts"
import type { WriteOptions, Written } from "../conversation/Written.ts"
import { isRecord, type JsonObject, numberAt, recordsAt, textAt, type Untranslatable } from "../translate/json.ts"
import type { ProviderKind } from "../translate/provider-apis.ts"

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
  // Instructions are the system's; a reasoning item asks no question.
  const isEmptyItem = (item: JsonObject) => {
    const type = item["type"] ?? "message"
    return type === "reasoning" || (type === "message" && isSystem(item))
  }
  if (!isText && items.every(isEmptyItem)) return empty("input")
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

/** The faults of the shape by their paths. Built once per schema. */
export const shapeCheck = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = boundedDecoder(schema)
  return (body: unknown) => (hasTooManyKeys(body) ? Result.fail(tooManyKeys) : checkedShape(body, decode(body)))
}

// More than all APIs have together. Each key is looked up, copied, and named if it is omitted.
const keysMax = 256
const tooManyKeys = fault("REQUEST_TOO_LARGE", { message: `The body may have ${keysMax} keys at its top` })

const hasTooManyKeys = (body: unknown) => {
  if (!isRecord(body)) return false
  let keys = 0
  for (const key in body) if (Object.hasOwn(body, key) && ++keys > keysMax) return true
  return false
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
  /** The keys with which a caller limits the tokens of the answer; the first one present counts. */
  readonly tokenKeys: readonly [string, ...ReadonlyArray<string>]
  readonly read: (request: JsonObject, files: FileFinder) => Result.Result<Conversation, Untranslatable>
}

const rules: Readonly<Record<ApiDialect, DialectRules>> = {
  chat: {
    checkShape: shapeCheck(ChatRequest),
    check: checkChat,
    tokenKeys: ["max_completion_tokens", "max_tokens"],
    read: (request, files) => Result.succeed(readChat(request, files))
  },
  messages: {
    checkShape: shapeCheck(MessagesRequest),
    check: checkMessages,
    tokenKeys: ["max_tokens"],
    read: (request, files) => Result.succeed(readMessages(request, files))
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
    read: readResponses
  }
}

const untranslatableFault = ({ param, message }: Untranslatable, code: "INVALID_PARAMETER" | "INVALID_REQUEST") =>
  fault(code, { param, message })

export const checkRequest = (dialect: ApiDialect, body: unknown) => rules[dialect].checkShape(body)

export const checkConversation = (dialect: ApiDialect, request: JsonObject) => rules[dialect].check(request)

/** Null if the request does not specify it. */
export const requestedTokens = (dialect: ApiDialect, request: JsonObject): number | null => {
  for (const key of rules[dialect].tokenKeys) {
    const tokens = numberAt(request, key)
    if (tokens !== undefined) return tokens
  }
  return null
}

export interface ReadConversation {
  readonly conversation: Conversation
  /** The pictures and documents to fetch, each once. */
  readonly named: ReadonlyArray<WebFile>
}

export const readConversation = (
  dialect: ApiDialect,
  request: JsonObject
): Result.Result<ReadConversation, GatewayFault> => {
  const files = fileFinder()
  const read = Result.mapError(rules[dialect].read(request, files), (error) =>
    untranslatableFault(error, "INVALID_PARAMETER")
  )
  return Result.flatMap(read, (conversation) => {
    const found = files.fault()
    return found === undefined ? Result.succeed({ conversation, named: files.named() }) : Result.fail(found)
  })
}

// No fetched file has a longer type.
const placeholders: Readonly<Record<WebFile["kind"], FileData>> = {
  image: { _tag: "Data", mediaType: "image/jpeg", base64: "" },
  document: { _tag: "Data", mediaType: "application/pdf", base64: "" }
}

/** A file's placeholder until it is fetched. */
export const placeholderOf = ({ kind }: WebFile): FileData => placeholders[kind]

type Writer = (conversation: Conversation, options: WriteOptions) => Result.Result<Written, Untranslatable>

const writers: Readonly<Record<ProviderKind, Writer>> = { openai: writeChat, anthropic: writeMessages }

/** The request as written to a model's provider, with its answer limited to this many tokens. */
export const writtenFor =
  (conversation: Conversation, { outputTokens, fetched }: Pick<WriteOptions, "outputTokens" | "fetched">) =>
  ({ provider, maxTokensParameter: limitKey }: ModelRoute): Result.Result<Written, GatewayFault> =>
    Result.mapError(
      writers[provider.kind](conversation, { outputTokens, fetched, limitKey, takes: provider.takes }),
      (error) => untranslatableFault(error, "INVALID_PARAMETER")
    )
