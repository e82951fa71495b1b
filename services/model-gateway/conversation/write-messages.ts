/**
 * Writes a conversation for a provider of Anthropic's messages: instructions are separate, roles alternate, and tool
 * results belong to the user and precede the user's own text. Pure.
 */
import type { Result } from "effect"
import { costlyParameters } from "#gateway/contract"
import { isRecord, type JsonObject, present, type Untranslatable, without } from "../translate/json.ts"
import { inputOf } from "../translate/tool-input.ts"
import type {
  Conversation,
  DocumentPart,
  OwnPart,
  Part,
  ReasoningPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn
} from "./Conversation.ts"
import { anyText } from "./write-chat.ts"
import { words } from "../translate/provider-keys.ts"
import {
  contentOf,
  type OtherKeys,
  providersTool,
  refusePart,
  type WriteOptions,
  type Writing,
  writingOf,
  type Written,
  writtenOthers
} from "./Written.ts"

/** Besides the keys that are read. */
export const messagesKeys = {
  sent: new Set([...words("context_management cache_control diagnostics"), ...costlyParameters]),
  missed: new Set([
    ...words("logprobs top_logprobs logit_bias min_p top_a frequency_penalty presence_penalty"),
    ...words("repetition_penalty length_penalty reasoning enable_thinking thinking_budget")
  ])
} satisfies OtherKeys

/** The keys that are written from what was read. */
export const anthropicReadKeys = [
  ...words("model messages system max_tokens stream stop_sequences tools tool_choice metadata thinking output_config"),
  ...words("temperature top_p top_k")
]

export const writeMessages = (
  conversation: Conversation,
  options: WriteOptions
): Result.Result<Written, Untranslatable> => {
  const writing = writingOf(conversation, options, "messages")
  const { turns, choice, answers, user, isStreamed, others } = conversation
  if (answers > 1) writing.refuse("n", "this model gives one answer at a time")
  const spoken = joined(turns.filter(({ role }) => role !== "system").map((turn) => message(turn, writing)))
  const messages = writing.isOwn ? spoken : withoutTrail(spoken)
  const tools = conversation.tools.map((tool) => messagesTool(tool, writing)).filter((tool) => tool !== undefined)
  const thinking = thinkingOf(conversation, messages, writing)
  const isThinking = thinking !== undefined && thinking["type"] !== "disabled"
  return writing.end(
    present({
      ...writtenOthers(others, messagesKeys, writing),
      ...samplingOf(conversation, isThinking, writing),
      system: systemOf(conversation, writing),
      messages: messages.map(({ role, content }) => ({ role, content: plainOr(content) })),
      max_tokens: options.outputTokens,
      stream: isStreamed ? true : undefined,
      stop_sequences: stopsOf(conversation, writing),
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: tools.length === 0 ? undefined : messagesChoice(choice, conversation.isSerial, writing),
      metadata: user === undefined ? undefined : { user_id: user },
      thinking,
      output_config: outputConfig(conversation)
    })
  )
}

/** What a thinking model does not receive: it thinks at its own temperature. */
const samplingOf = ({ temperature, topP, topK }: Conversation, isThinking: boolean, { leaveOut }: Writing) => {
  if (!isThinking) {
    if (temperature !== undefined && temperature > 1) leaveOut("temperature")
    return { temperature: temperature === undefined ? undefined : Math.min(1, temperature), top_p: topP, top_k: topK }
  }
  if (temperature !== undefined && temperature !== 1) leaveOut("temperature")
  if (topK !== undefined) leaveOut("top_k")
  if (topP !== undefined && topP < 0.95) leaveOut("top_p")
  return { top_p: topP !== undefined && topP >= 0.95 ? topP : undefined }
}

const jsonWish = "Answer with a JSON object alone."

const systemOf = ({ turns, output }: Conversation, writing: Writing): unknown => {
  const parts = turns.flatMap(({ role, parts: said }) => (role === "system" ? said : []))
  const blocks = parts.flatMap((part) => block(part, writing))
  const wished = output?._tag === "Json" ? [...blocks, { type: "text", text: jsonWish }] : blocks
  if (wished.length === 0) return undefined
  if (writing.isOwn) return plainOr(wished)
  return wished.every(isPlainText) ? wished.map(({ text }) => text).join("\n") : wished
}

const isPlainText = (each: JsonObject) => each["type"] === "text" && Object.keys(each).length === 2

/** A single text is written as a string, which is shorter. */
const plainOr = (content: ReadonlyArray<JsonObject>): unknown => {
  const [first] = content
  return content.length === 1 && first !== undefined && isPlainText(first) ? first["text"] : content
}

/** A stop sequence of white space alone is refused, and would end most answers at their first line. */
const stopsOf = ({ stop }: Conversation, { leaveOut }: Writing) => {
  const kept = stop.filter((text) => text.trim() !== "")
  if (kept.length < stop.length) leaveOut("stop")
  return kept.length === 0 ? undefined : kept
}

const messagesTool = (tool: Tool, writing: Writing): JsonObject | undefined => {
  if (tool._tag === "Providers") return providersTool(tool, writing)
  if (writing.isOwn) return tool.value
  if (writing.dialect === "chat" && tool.form === "custom") {
    writing.refuse("tools", 'the tool type "custom" is not available for this model')
  }
  const { form, description, schema, cache } = tool
  const input_schema = form === "custom" ? anyText : (schema ?? { type: "object", properties: {} })
  return present({ name: writing.toolName(tool), description, input_schema, cache_control: cache })
}

const messagesChoice = (choice: ToolChoice | undefined, isSerial: boolean, writing: Writing) => {
  const serial = isSerial ? { disable_parallel_tool_use: true } : {}
  switch (choice?._tag) {
    case "Any":
      return { type: "any", ...serial }
    case "None":
      return { type: "none" }
    case "Named":
      return { type: "tool", name: writing.toolName(choice.tool), ...serial }
    case "Own":
      return choice.value
    case "Auto":
      return { type: "auto", ...serial }
    default:
      return isSerial ? { type: "auto", ...serial } : undefined
  }
}

const budgets = new Map([
  ["low", 1_024],
  ["medium", 4_096],
  ["high", 16_384],
  ["xhigh", 32_768]
])
const budgetMin = 1_024
/** The key with which each dialect requests thoughts. */
const thinkingKeys = { chat: "reasoning_effort", messages: "thinking", responses: "reasoning" } as const

/**
 * Thinking counts as output, and must leave room for the answer. It is omitted if a tool is forced, and for a turn
 * whose earlier thoughts the caller did not send back: either is refused.
 */
const thinkingOf = (
  { thinking: wish, choice, dialect }: Conversation,
  messages: ReadonlyArray<Message>,
  { outputTokens, leaveOut }: Writing
): JsonObject | undefined => {
  const isForced = choice?._tag === "Any" || choice?._tag === "Named"
  switch (wish?._tag) {
    case "Off":
      return dialect === "messages" ? { type: "disabled" } : undefined
    case "Adaptive":
      return wish.value
    case "Budget":
    case "Effort": {
      const wanted = wish._tag === "Budget" ? wish.tokens : budgets.get(wish.effort)
      if (wanted === undefined || (wish._tag === "Effort" && dialect === "messages")) return undefined
      const budget = Math.min(wanted, outputTokens - 1)
      if (budget < budgetMin || isForced || !areThoughtsBack(messages)) {
        leaveOut(thinkingKeys[dialect])
        return undefined
      }
      const { value } = wish._tag === "Budget" ? wish : { value: { type: "enabled" } }
      return { ...value, budget_tokens: budget }
    }
    default:
      return undefined
  }
}

/** Whether the turn that continues with tool results began with a thought, if there is such a turn. */
const areThoughtsBack = (messages: ReadonlyArray<Message>): boolean => {
  const last = messages.at(-1)
  if (last?.role !== "user" || last.content[0]?.["type"] !== "tool_result") return true
  const first = messages.at(-2)?.content[0]?.["type"]
  return first === "thinking" || first === "redacted_thinking"
}

const outputConfig = ({ output, thinking, dialect }: Conversation) => {
  const effort =
    dialect === "messages" && (thinking?._tag === "Effort" || thinking?._tag === "Adaptive")
      ? thinking.effort
      : undefined
  const format = output?._tag === "Schema" ? { type: "json_schema", schema: output.schema } : undefined
  return effort === undefined && format === undefined ? undefined : present({ effort, format })
}

interface Message {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<JsonObject>
}

const message = ({ role, parts }: Turn, writing: Writing): Message => ({
  role: role === "assistant" ? "assistant" : "user",
  content: parts.flatMap((part) => block(part, writing))
})

/** Joins consecutive messages of one role; tool results come first within their message. */
const joined = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const turns: Array<{ readonly role: Message["role"]; readonly content: Array<JsonObject> }> = []
  for (const { role, content } of messages) {
    const last = turns.at(-1)
    if (last?.role === role) for (const each of content) last.content.push(each)
    else if (content.length > 0) turns.push({ role, content: [...content] })
  }
  const isResult = ({ type }: JsonObject) => type === "tool_result"
  return turns.map(({ role, content }) =>
    role === "assistant" || !content.some(isResult)
      ? { role, content }
      : { role, content: [...content.filter(isResult), ...content.filter((each) => !isResult(each))] }
  )
}

/** White space at the end of an answer that is to be continued is refused. */
const withoutTrail = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const last = messages.at(-1)
  const end = last?.content.at(-1)
  if (last?.role !== "assistant" || end === undefined || !isPlainText(end)) return messages
  const text = String(end["text"]).trimEnd()
  const content = [...last.content.slice(0, -1), ...(text === "" ? [] : [{ ...end, text }])]
  return [...messages.slice(0, -1), ...(content.length === 0 ? [] : [{ role: last.role, content }])]
}

const block = (part: Part, writing: Writing): ReadonlyArray<JsonObject> => {
  switch (part._tag) {
    case "Text": {
      const { text, citations, cache } = part
      return text === "" ? [] : [present({ type: "text", text, citations, cache_control: cache })]
    }
    case "Refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }]
    case "Image": {
      const content = contentOf(part.file, writing)
      if (content._tag === "Plain") return [{ type: "text", text: content.text }]
      const source = { type: "base64", media_type: content.mediaType, data: content.base64 }
      return [writing.place(content, "image", present({ type: "image", source, cache_control: part.cache }))]
    }
    case "Document":
      return [document(part, writing)]
    case "Audio":
      writing.refuse("messages", "this model hears no sound; leave it out")
      return []
    case "SearchResult": {
      const { title, source, parts, citations, cache } = part
      const content = parts.flatMap((inner) => block(inner, writing))
      return [present({ type: "search_result", title, source, content, citations, cache_control: cache })]
    }
    case "ToolCall": {
      const name = writing.toolName(part.tool)
      return [
        present({
          type: "tool_use",
          id: writing.callId(part.id),
          name,
          input: inputOf(part.input),
          cache_control: part.cache
        })
      ]
    }
    case "ToolResult":
      return [toolResult(part, writing)]
    case "Reasoning":
      return thought(part)
    case "Own":
      return ownBlock(part, writing)
  }
}

const document = ({ source, title, context, citations, cache }: DocumentPart, writing: Writing): JsonObject => {
  const head = { title, context, citations, cache_control: cache }
  if (source._tag === "Parts") {
    const content = source.parts.flatMap((inner) => block(inner, writing))
    return present({ type: "document", source: { type: "content", content }, ...head })
  }
  const content = source._tag === "Plain" ? source : contentOf(source, writing)
  if (content._tag === "Plain") {
    return present({
      type: "document",
      source: { type: "text", media_type: "text/plain", data: content.text },
      ...head
    })
  }
  const data = { type: "base64", media_type: content.mediaType, data: content.base64 }
  return writing.place(content, "file", present({ type: "document", source: data, ...head }))
}

const toolResult = ({ id, parts, isError, cache }: ToolResultPart, writing: Writing): JsonObject => {
  const content = parts.flatMap((part) => block(part, writing))
  return present({
    type: "tool_result",
    tool_use_id: writing.callId(id),
    content,
    is_error: isError ? true : undefined,
    cache_control: cache
  })
}

/** A thought without its seal is refused. */
const thought = ({ text, signature, encrypted }: ReasoningPart): ReadonlyArray<JsonObject> => [
  ...(signature === undefined ? [] : [{ type: "thinking", thinking: text, signature }]),
  ...(encrypted === undefined ? [] : [{ type: "redacted_thinking", data: encrypted }])
]

const ownBlock = (part: OwnPart, writing: Writing): ReadonlyArray<JsonObject> => {
  const { value, page } = part
  if (!writing.isOwn) {
    refusePart(part, writing)
    return []
  }
  if (page === undefined) return [value]
  const result = isRecord(value["content"]) ? value["content"] : {}
  return [{ ...value, content: { ...without(result, "content"), content: document(page, writing) } }]
}
