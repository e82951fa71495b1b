/** What a request of either vendor's shape asks: its question, tools, and form of the answer; its count of tokens. Pure. */
import { isJson, type Json, jsonOf, objectsOf, textAt } from "./json.ts"

export interface DeclaredTool {
  readonly name: string
  readonly schema: unknown
  /** OpenAI's tools that take any text. */
  readonly isCustom: boolean
}

/** Whether a tool has to be called: that one, or any, of which it is the first. */
export type Choice =
  | { readonly _tag: "Free" | "None" }
  | { readonly _tag: "Forced"; readonly tool: DeclaredTool; readonly isAny: boolean }

/** JSON of any shape, or as a schema describes it. */
export type Form = { readonly _tag: "Text" | "Json" } | { readonly _tag: "Schema"; readonly schema: unknown }

export interface Asked {
  readonly model: string
  readonly isStreamed: boolean
  /** The last user message; of one in parts, the part that begins with `!`, if there is one. */
  readonly message: string
  /** What tools answered since the last words of the model; empty unless that is what is to be answered now. */
  readonly results: ReadonlyArray<string>
  /** How often the model called tools since that message. */
  readonly rounds: number
  readonly tools: ReadonlyArray<DeclaredTool>
  readonly choice: Choice
  readonly isParallel: boolean
  readonly form: Form
  /** Anthropic's `thinking`. */
  readonly wantsThought: boolean
  readonly inputTokens: number
  readonly outputTokensMax: number
  readonly includesUsage: boolean
}

const textsOf = (content: unknown): ReadonlyArray<string> =>
  typeof content === "string" ? [content] : objectsOf(content).map((part) => textAt(part, "text"))

const textOf = (content: unknown) => textsOf(content).join("")

/** A picture among them is named. */
const resultOf = ({ content }: Json): string => {
  if (typeof content === "string") return content
  return objectsOf(content)
    .map((part) => (typeof part["text"] === "string" ? part["text"] : `[${textAt(part, "type")}]`))
    .join("\n")
}

/** Words count as tokens here. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  text.split(/(?<=\S)(?=\s)/u).filter((word) => word.trim() !== "")

export const askedOf = (body: unknown): Asked => {
  const request = jsonOf(body)
  const messages = objectsOf(request["messages"])
  const texts = messages.map(({ content }) => textOf(content))
  const system = textOf(request["system"])
  const tools = toolsOf(request)
  return {
    model: textAt(request, "model"),
    isStreamed: request["stream"] === true,
    ...questionOf(messages),
    tools,
    choice: choiceOf(request["tool_choice"], tools),
    isParallel:
      request["parallel_tool_calls"] !== false && jsonOf(request["tool_choice"])["disable_parallel_tool_use"] !== true,
    form: formOf(request),
    wantsThought: ["enabled", "adaptive"].includes(textAt(jsonOf(request["thinking"]), "type")),
    inputTokens: [...texts, system].reduce((sum, text) => sum + wordsOf(text).length, 0),
    outputTokensMax: Number(request["max_tokens"] ?? request["max_completion_tokens"] ?? 1_000_000),
    includesUsage: jsonOf(request["stream_options"])["include_usage"] === true
  }
}

const isOrder = (part: Json) => textAt(part, "text").startsWith("!")

const resultsOf = (message: Json): ReadonlyArray<string> => {
  if (message["role"] === "tool") return [resultOf(message)]
  return objectsOf(message["content"])
    .filter(({ type }) => type === "tool_result")
    .map(resultOf)
}

const calls = ({ tool_calls: calls, content }: Json) =>
  objectsOf(calls).length > 0 || objectsOf(content).some(({ type }) => type === "tool_use")

/** Agents put their own notes beside results in tags. */
const isNote = (text: string) =>
  text.trimStart().startsWith("<") && !text.split("\n").some((line) => line.trimStart().startsWith("!"))

const followsResults = (messages: ReadonlyArray<Json>, index: number) =>
  messages.slice(0, index).findLast(({ role }) => role !== "user")?.["role"] === "tool"

/** What comes with results is a question only if the user says something there, for their pictures come so, too. */
const questionOf = (messages: ReadonlyArray<Json>): Pick<Asked, "message" | "results" | "rounds"> => {
  const isQuestion = (message: Json, index: number) => {
    if (message["role"] !== "user") return false
    if (resultsOf(message).length === 0 && !followsResults(messages, index)) return true
    return textsOf(message["content"]).some((text) => text !== "" && !isNote(text))
  }
  const at = messages.findLastIndex(isQuestion)
  const content = messages[at]?.["content"]
  const since = messages.slice(at + 1)
  const answered = since.slice(since.findLastIndex(({ role }) => role === "assistant") + 1)
  return {
    message: textAt(objectsOf(content).findLast(isOrder) ?? {}, "text") || textOf(content),
    results: at < 0 ? [] : answered.flatMap(resultsOf),
    rounds: since.filter(calls).length
  }
}

const toolsOf = (request: Json): ReadonlyArray<DeclaredTool> =>
  objectsOf(request["tools"]).flatMap((tool) => {
    const isCustom = isJson(tool["custom"])
    const { name, parameters, input_schema: schema } = jsonOf(tool["function"] ?? tool["custom"] ?? tool)
    // Tools that the provider runs itself have no schema.
    const isOurs = isCustom || isJson(tool["function"]) || isJson(schema)
    if (typeof name !== "string" || !isOurs) return []
    return [{ name, schema: schema ?? parameters ?? { type: "object" }, isCustom }]
  })

const choiceOf = (choice: unknown, tools: ReadonlyArray<DeclaredTool>): Choice => {
  const { type, name, function: named, custom, allowed_tools: allowed } = jsonOf(choice)
  if (choice === "none" || type === "none") return { _tag: "None" }
  const isAllowed = jsonOf(allowed)["mode"] === "required"
  const [first] = isAllowed ? objectsOf(jsonOf(allowed)["tools"]) : []
  const isAny = choice === "required" || type === "any" || isAllowed
  const wanted = name ?? jsonOf(named ?? custom ?? first?.["function"] ?? first?.["custom"])["name"]
  const tool = wanted === undefined ? (isAny ? tools[0] : undefined) : tools.find((each) => each.name === wanted)
  return tool === undefined ? { _tag: "Free" } : { _tag: "Forced", tool, isAny }
}

const formOf = (request: Json): Form => {
  const format = jsonOf(request["response_format"] ?? jsonOf(request["output_config"])["format"])
  if (format["type"] === "json_object") return toldSchema(request) ?? { _tag: "Json" }
  if (format["type"] !== "json_schema") return { _tag: "Text" }
  return { _tag: "Schema", schema: isJson(format["json_schema"]) ? format["json_schema"]["schema"] : format["schema"] }
}

/** A model that takes no schema follows one that it is told: JSON at the end of an instruction that names a JSON schema. */
const toldSchema = ({ messages }: Json): Form | undefined => {
  for (const { role, content } of objectsOf(messages)) {
    const schemaNote = role === "system" && typeof content === "string" ? /JSON schema:\n/u.exec(content) : null
    if (schemaNote === null) continue
    try {
      return {
        _tag: "Schema",
        schema: JSON.parse(schemaNote.input.slice(schemaNote.index + schemaNote[0].length)) as unknown
      }
    } catch {
      // It said something else.
    }
  }
  return undefined
}
