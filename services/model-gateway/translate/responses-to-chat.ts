/** A request in the shape of OpenAI's responses, as one of chat. Features that need stored state are refused. Pure. */
import { Result } from "effect"
import { type JsonObject, present, recordAt, recordsAt, textAt, without, Untranslatable } from "./json.ts"
const refused = (param: string, reason: string) => Result.fail(new Untranslatable({ param, reason }))

const needsMemory = ["previous_response_id", "conversation", "prompt"] as const
const needsMemoryFlags = ["store", "background"] as const

/** What is refused for every provider; undefined when nothing is. */
export const statelessFault = (request: JsonObject): Untranslatable | undefined => {
  const key =
    needsMemory.find((name) => (request[name] ?? null) !== null) ??
    needsMemoryFlags.find((name) => request[name] === true)
  return key === undefined
    ? undefined
    : new Untranslatable({ param: key, reason: "nothing is stored here; leave it out" })
}

const ownWords = [
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "max_output_tokens",
  "text",
  "reasoning",
  "store",
  "background",
  "previous_response_id",
  "conversation",
  "prompt",
  "include",
  "truncation",
  "metadata",
  "top_logprobs",
  "max_tool_calls",
  "context_management",
  "n"
]

export const responsesToChat = (request: JsonObject): Result.Result<JsonObject, Untranslatable> => {
  const foreign = recordsAt(request, "tools").find(({ type }) => type !== "function")
  if (foreign !== undefined) {
    return refused("tools", `the tool type ${JSON.stringify(foreign["type"])} is not available for this model`)
  }
  const items = recordsAt(request, "input")
  const strange = items.findIndex((item) => messagesOf(item) === undefined)
  if (strange >= 0) {
    return refused(
      `input[${strange}]`,
      `an item of type ${JSON.stringify(items[strange]?.["type"])} cannot be read here`
    )
  }
  const { input } = request
  const instructions = textAt(request, "instructions")
  const tools = recordsAt(request, "tools")
  const format = recordAt(recordAt(request, "text"), "format")
  return Result.succeed(
    present({
      ...without(request, ...ownWords),
      messages: [
        ...(instructions === undefined ? [] : [{ role: "system", content: instructions }]),
        ...(typeof input === "string" ? [{ role: "user", content: input }] : []),
        ...callsTogether(items.flatMap((item) => messagesOf(item) ?? []))
      ],
      max_tokens: request["max_output_tokens"] ?? undefined,
      tools: tools.length === 0 ? undefined : tools.map(chatTool),
      tool_choice: chatChoice(request),
      response_format: formatOf(format),
      reasoning_effort: recordAt(request, "reasoning")["effort"] ?? undefined
    })
  )
}

const chatTool = (tool: JsonObject) => ({ type: "function", function: without(tool, "type") })

const chatChoice = (request: JsonObject) => {
  const { tool_choice: choice } = request
  if (typeof choice === "string") return choice
  const { name } = recordAt(request, "tool_choice")
  return name === undefined ? undefined : { type: "function", function: { name } }
}

const formatOf = (format: JsonObject) => {
  if (format["type"] === "json_object") return { type: "json_object" }
  return format["type"] === "json_schema" ? { type: "json_schema", json_schema: without(format, "type") } : undefined
}

/** Undefined for an item that has no place in a chat. */
const messagesOf = (item: JsonObject): ReadonlyArray<JsonObject> | undefined => {
  switch (item["type"] ?? "message") {
    case "message": {
      const { content } = item
      const isPlain = typeof content === "string"
      return [{ role: item["role"] ?? "user", content: isPlain ? content : contentOf(recordsAt(item, "content")) }]
    }
    case "function_call": {
      const { call_id: id, name, arguments: input } = item
      return [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name, arguments: input } }]
        }
      ]
    }
    case "function_call_output": {
      const { output } = item
      const text = typeof output === "string" ? output : plainText(recordsAt(item, "output"))
      return [{ role: "tool", tool_call_id: item["call_id"], content: text }]
    }
    // Reasoning is the model's own; a chat does not take it back.
    case "reasoning":
      return []
    default:
      return undefined
  }
}

const plainText = (parts: ReadonlyArray<JsonObject>) => parts.map((part) => textAt(part, "text") ?? "").join("")

const contentOf = (parts: ReadonlyArray<JsonObject>): unknown => {
  const isText = parts.every(({ type }) => type === "input_text" || type === "output_text" || type === "refusal")
  return isText ? plainText(parts) : parts.map(chatPart)
}

const chatPart = (part: JsonObject): JsonObject => {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
      return { type: "text", text: part["text"] }
    case "input_image":
      return { type: "image_url", image_url: present({ url: part["image_url"], detail: part["detail"] }) }
    case "input_file":
      return { type: "file", file: present({ file_data: part["file_data"], filename: part["filename"] }) }
    default:
      return part
  }
}

/** Joins successive tool calls, and the text just before them, into one message of the assistant. */
const callsTogether = (messages: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => {
  const turns: Array<JsonObject> = []
  let together: Array<JsonObject> = []
  for (const message of messages) {
    const last = turns.at(-1)
    const calls = recordsAt(message, "tool_calls")
    if (calls.length === 0) turns.push(message)
    else if (last?.["role"] === "assistant" && last["tool_calls"] === together) together.push(...calls)
    else {
      together = [...calls]
      const isAfterText = last?.["role"] === "assistant"
      if (isAfterText) turns.pop()
      turns.push({ ...(isAfterText ? last : message), tool_calls: together })
    }
  }
  return turns
}
