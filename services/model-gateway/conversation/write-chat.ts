/**
 * Writes a conversation for a provider of OpenAI's chat: tool results are separate messages that can contain only text,
 * so pictures follow them. Pure.
 */
import { createHash } from "node:crypto"
import type { Result } from "effect"
import { costlyParameters } from "#gateway/contract"
import { type JsonObject, present, recordAt, type Untranslatable } from "../translate/json.ts"
import type {
  Conversation,
  DocumentPart,
  OutputForm,
  Part,
  ReasoningPart,
  TextPart,
  ThinkingWish,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn
} from "./Conversation.ts"
import { words } from "../translate/provider-keys.ts"
import { argumentsOf, inputOf } from "../translate/tool-input.ts"
import {
  contentOf,
  type OtherKeys,
  providersTool,
  refuseMisplaced,
  refusePart,
  type TakenParameters,
  type WriteOptions,
  type Writing,
  writingOf,
  type Written,
  writtenOthers
} from "./Written.ts"

// Keys that cost extra and are not in the model's configuration were refused earlier.
const commonKeys = [...words("frequency_penalty presence_penalty logprobs top_logprobs"), ...costlyParameters]
const openAiKeys = [
  ...words("seed logit_bias store metadata moderation"),
  ...words("safety_identifier verbosity prompt_cache_key prompt_cache_retention")
]
const extensionKeys = [
  ...words("top_a min_p random_seed repetition_penalty length_penalty reasoning include_reasoning thinking"),
  ...words("enable_thinking thinking_budget prompt_mode safe_prompt usage prompt_cache_options")
]
// Requested from Anthropic by a beta: without it the answer has another form.
const missed = new Set(["output_format"])

/** What a provider receives besides the keys that are read, by the parameters it accepts. */
export const chatKeys: Readonly<Record<TakenParameters, OtherKeys>> = {
  common: { sent: new Set(commonKeys), missed: new Set([...missed, "logit_bias"]) },
  openai: { sent: new Set([...commonKeys, ...openAiKeys]), missed },
  extended: { sent: new Set([...commonKeys, ...openAiKeys, ...extensionKeys]), missed }
}

/** The keys that are written from what was read. */
export const openAiReadKeys = [
  ...words("model messages max_tokens max_completion_tokens stream stream_options n stop tools tool_choice"),
  ...words("parallel_tool_calls response_format reasoning_effort temperature top_p user")
]

export const writeChat = (
  conversation: Conversation,
  options: WriteOptions
): Result.Result<Written, Untranslatable> => {
  const writing = writingOf(conversation, options, "chat")
  const { limitKey, outputTokens } = writing
  const { others, stop, answers, isStreamed, dialect } = conversation
  const { parameters } = writing.takes
  const { stream_options: asked, ...rest } = others
  const tools = conversation.tools.map((tool) => chatTool(tool, writing)).filter((tool) => tool !== undefined)
  const isExtended = parameters === "extended"
  const isCommon = parameters === "common"
  return writing.end(
    present({
      thinking:
        writing.takes.thoughts === "required" && !areThoughtsBack(conversation) ? { type: "disabled" } : undefined,
      ...writtenOthers(dialect === "messages" ? rest : others, chatKeys[parameters], writing),
      messages: [
        ...(isCommon ? schemaWish(conversation.output) : []),
        ...conversation.turns.flatMap((turn) => chatMessages(turn, writing))
      ],
      [conversation.limitKey ?? limitKey]: outputTokens,
      stream: isStreamed ? true : undefined,
      // Usage is sent only on request.
      stream_options: isStreamed ? { ...recordAt({ asked }, "asked"), include_usage: true } : undefined,
      n: answers > 1 ? answers : undefined,
      stop: stop.length === 0 ? undefined : stop,
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: tools.length === 0 ? undefined : chatChoice(conversation.choice, writing),
      parallel_tool_calls: taken(!isCommon, "parallel_tool_calls", serialOf(conversation), writing),
      response_format: chatOutput(conversation.output, isCommon),
      reasoning_effort: chatEffort(conversation.thinking),
      temperature: conversation.temperature,
      top_p: conversation.topP,
      top_k: taken(isExtended, "top_k", conversation.topK, writing),
      user: taken(!isCommon, "user", shortUser(conversation.user), writing)
    })
  )
}

/** Whether each call since the user's last message comes with the thought it followed from. */
const areThoughtsBack = ({ turns }: Conversation): boolean => {
  const isSaid = ({ role, parts }: Turn) => role === "user" && !parts.every((part) => part._tag === "ToolResult")
  const lately = turns.slice(turns.findLastIndex(isSaid) + 1)
  return lately.every(
    ({ parts }) =>
      !parts.some((part) => part._tag === "ToolCall") ||
      parts.some((part) => part._tag === "Reasoning" && part.text !== "")
  )
}

/** A value for a provider that accepts its key. */
const taken = <A>(takes: boolean, key: string, value: A | undefined, { leaveOut }: Writing): A | undefined => {
  if (takes || value === undefined) return value
  leaveOut(key)
  return undefined
}

const serialOf = ({ isSerial, tools }: Conversation) => (isSerial && tools.length > 0 ? false : undefined)

const userCharactersMax = 64

/** The same caller always gets the same name. */
const shortUser = (user: string | undefined) =>
  user === undefined || user.length <= userCharactersMax
    ? user
    : createHash("sha256").update(user).digest("hex").slice(0, userCharactersMax)

const chatTool = (tool: Tool, writing: Writing): JsonObject | undefined => {
  if (tool._tag === "Providers") return providersTool(tool, writing)
  const { description, schema, strict, form, cache } = tool
  if (writing.isOwn && form === "custom") return tool.value
  const parameters = form === "custom" ? anyText : schema
  return present({
    type: "function",
    function: present({ name: writing.toolName(tool), description, parameters, strict }),
    cache_control: mark(cache, writing)
  })
}

/** The input of a custom tool, whose calls are converted back to their original form. */
export const customInputKey = "input"
export const anyText = {
  type: "object",
  properties: { [customInputKey]: { type: "string" } },
  required: [customInputKey],
  additionalProperties: false
}

const mark = (cache: JsonObject | undefined, writing: Writing) =>
  taken(writing.takes.parameters === "extended", "cache_control", cache, writing)

const chatChoice = (choice: ToolChoice | undefined, writing: Writing) => {
  switch (choice?._tag) {
    case "Auto":
      return "auto"
    case "None":
      return "none"
    case "Any":
      return "required"
    case "Named":
      return { type: "function", function: { name: writing.toolName(choice.tool) } }
    case "Own":
      return choice.value
    default:
      return undefined
  }
}

/** A schema, in words for a provider that does not accept schemas. */
const schemaWish = (output: OutputForm | undefined): ReadonlyArray<JsonObject> => {
  if (output?._tag !== "Schema") return []
  const content = `Answer with a JSON object alone, which satisfies this JSON schema:\n${JSON.stringify(output.schema)}`
  return [{ role: "system", content }]
}

const chatOutput = (output: OutputForm | undefined, isCommon: boolean) => {
  if (output === undefined) return undefined
  if (output._tag === "Json" || isCommon) return { type: "json_object" }
  const { name = "answer", description, schema, strict } = output
  return { type: "json_schema", json_schema: present({ name, description, schema, strict }) }
}

const chatEffort = (wish: ThinkingWish | undefined): string | undefined => {
  switch (wish?._tag) {
    case "Effort":
      return wish.effort === "max" ? "xhigh" : wish.effort
    case "Adaptive":
      return wish.effort === "max" ? "xhigh" : (wish.effort ?? "medium")
    case "Budget":
      if (wish.tokens < 4_096) return "low"
      return wish.tokens < 16_384 ? "medium" : "high"
    default:
      return undefined
  }
}

const chatMessages = (turn: Turn, writing: Writing): ReadonlyArray<JsonObject> => {
  const { role, parts, name } = turn
  const named = (message: JsonObject) => (name === undefined ? message : { ...message, name })
  if (role === "assistant") return [named(assistantMessage(parts, writing))]
  const messages: Array<JsonObject> = []
  const content: Array<JsonObject> = []
  for (const part of parts) {
    if (part._tag !== "ToolResult") continue
    const { message, shown } = toolResult(part, writing)
    messages.push(message)
    content.push(...shown)
  }
  for (const part of parts) if (part._tag !== "ToolResult") content.push(...chatPart(part, writing))
  if (role === "system") {
    return [named({ role, content: content.every(isPlain) ? content.map(({ text }) => text).join("\n") : content })]
  }
  if (content.length > 0) messages.push(named({ role, content: onlyText(content) ?? content }))
  return messages
}

const isPlain = (part: JsonObject) => part["type"] === "text" && part["cache_control"] === undefined

/** A single text is written as a string, because not every provider reads lists. */
const onlyText = (content: ReadonlyArray<JsonObject>) => {
  const [first] = content
  return content.length === 1 && first !== undefined && isPlain(first) ? first["text"] : undefined
}

const assistantMessage = (parts: ReadonlyArray<Part>, writing: Writing): JsonObject => {
  const calls = parts.filter((part) => part._tag === "ToolCall")
  const thoughts = parts.filter((part) => part._tag === "Reasoning")
  const said = parts.filter((part) => part._tag !== "ToolCall" && part._tag !== "Reasoning")
  const content = said.flatMap((part) => chatPart(part, writing))
  const isText = content.every(isPlain)
  const text = content.map((part) => part["text"]).join("")
  return present({
    role: "assistant",
    content: isText ? (text === "" && calls.length > 0 ? null : text) : content,
    ...thoughtsBack(thoughts, calls.length > 0, writing),
    tool_calls: calls.length === 0 ? undefined : calls.map((call) => toolCall(call, writing))
  })
}

const toolCall = ({ id, tool, input, isCustom }: ToolCallPart, { isOwn, toolName, callId }: Writing) =>
  isOwn && isCustom === true
    ? { id, type: "custom", custom: { name: tool.name, input: inputOf(input)[customInputKey] } }
    : { id: callId(id), type: "function", function: { name: toolName(tool), arguments: argumentsOf(input) } }

/** Some providers refuse a call whose thoughts are missing, even if there were none. */
const thoughtsBack = (thoughts: ReadonlyArray<ReasoningPart>, hasCalls: boolean, { takes }: Writing): JsonObject => {
  switch (takes.thoughts) {
    case "none":
      return {}
    case "required":
    case "reasoning_content": {
      const text = thoughts.map((thought) => thought.text).join("\n")
      return text === "" && !hasCalls ? {} : { reasoning_content: text }
    }
    case "reasoning_details":
      return thoughts.length === 0 ? {} : { reasoning_details: thoughts.flatMap(detailsOf) }
  }
}

const format = "anthropic-claude-v1"

const detailsOf = ({ text, signature, encrypted }: ReasoningPart, index: number): ReadonlyArray<JsonObject> => [
  ...(text === "" ? [] : [present({ type: "reasoning.text", text, signature, format, index })]),
  ...(encrypted === undefined ? [] : [{ type: "reasoning.encrypted", data: encrypted, format, index }])
]

/** A tool result's text; what text cannot express is shown in the turn after it. */
const toolResult = ({ id, parts, isError }: ToolResultPart, writing: Writing) => {
  const made = parts.flatMap((part) => chatPart(part, writing))
  const said = made.filter(isText).map(({ text }) => text)
  const shown = made.filter((part) => !isText(part))
  const text = isError ? `Error: ${said.join("\n")}` : said.join("\n")
  const called = writing.callId(id)
  return {
    message: { role: "tool", tool_call_id: called, content: text },
    shown: shown.length === 0 ? [] : [{ type: "text", text: `Result of the tool call ${called}:` }, ...shown]
  }
}

const isText = ({ type }: JsonObject) => type === "text"

const chatPart = (part: Part, writing: Writing): ReadonlyArray<JsonObject> => {
  switch (part._tag) {
    case "Text":
      return chatText(part, writing)
    case "Refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }]
    case "Image": {
      const content = contentOf(part.file, writing)
      if (content._tag === "Plain") return [{ type: "text", text: content.text }]
      const image_url = present({ url: dataUrl(content), detail: part.detail })
      const made = present({ type: "image_url", image_url, cache_control: mark(part.cache, writing) })
      return [writing.place(content, "image", made)]
    }
    case "Document":
      return chatDocument(part, writing)
    case "Audio": {
      const { file, format: kind, isBare } = part
      const data = isBare ? file.base64 : dataUrl(file)
      return [writing.place(file, "file", { type: "input_audio", input_audio: { data, format: kind } })]
    }
    case "SearchResult":
      return [
        { type: "text", text: [part.title, part.source].filter((line) => line !== "").join("\n") },
        ...part.parts.flatMap((inner) => chatPart(inner, writing))
      ]
    case "Own":
      if (writing.isOwn) return [part.value]
      refusePart(part, writing)
      return []
    case "ToolCall":
    case "ToolResult":
    case "Reasoning":
      // Where they belong they are written before.
      refuseMisplaced(part, writing)
      return []
  }
}

const chatText = ({ text, cache }: TextPart, writing: Writing): ReadonlyArray<JsonObject> =>
  text === ""
    ? []
    : [
        cache === undefined
          ? { type: "text", text }
          : present({ type: "text", text, cache_control: mark(cache, writing) })
      ]

const chatDocument = (part: DocumentPart, writing: Writing): ReadonlyArray<JsonObject> => {
  const { source, title, context, cache } = part
  const head = [title, context].filter((line) => line !== undefined && line !== "").join("\n")
  const said = (text: string) => chatText({ _tag: "Text", text, ...(cache === undefined ? {} : { cache }) }, writing)
  if (source._tag === "Parts") return [...said(head), ...source.parts.flatMap((inner) => chatPart(inner, writing))]
  const content = source._tag === "Plain" ? source : contentOf(source, writing)
  if (content._tag === "Plain") return said(head === "" ? content.text : `${head}\n${content.text}`)
  const file = present({ filename: title ?? "document.pdf", file_data: dataUrl(content) })
  const made = present({ type: "file", file, cache_control: mark(cache, writing) })
  return [...(context === undefined ? [] : said(context)), writing.place(content, "file", made)]
}

const dataUrl = ({ mediaType, base64 }: { readonly mediaType: string; readonly base64: string }) =>
  `data:${mediaType};base64,${base64}`
