/** A request in the dialect of OpenAI's responses, as a conversation. Pure. */
import { Result } from "effect"
import {
  isRecord,
  type JsonObject,
  numberAt,
  present,
  recordAt,
  recordsAt,
  textAt,
  Untranslatable
} from "../translate/json.ts"
import { sealedThought } from "../translate/sealed-thought.ts"
import type { Conversation, Part, Tool, Turn } from "./Conversation.ts"
import type { FileFinder } from "./files.ts"
import { effortWish } from "./read-chat.ts"
import { partsOf } from "./read-parts.ts"
import { openAiChoice, openAiOutput, responsesTool, responsesTools } from "./read-tools.ts"
import { besides } from "./request-keys.ts"
import { words } from "../translate/provider-keys.ts"

export const responsesReadKeys = [
  ...words("model input instructions stream stream_options tools tool_choice parallel_tool_calls"),
  ...words("text reasoning temperature top_p user n"),
  // Nothing is stored, and nothing is cut off: these request what is done anyway.
  ...words("store background previous_response_id conversation prompt truncation include max_tool_calls")
]

// Each can declare many tools.
const searchesMax = 128

const needsMemory = ["previous_response_id", "conversation", "prompt"] as const
const needsMemoryFlags = ["store", "background"] as const

/** What is refused for every provider; undefined if nothing is. */
export const statelessFault = (request: JsonObject): Untranslatable | undefined => {
  const key =
    needsMemory.find((name) => (request[name] ?? null) !== null) ??
    needsMemoryFlags.find((name) => request[name] === true)
  if (key === undefined) return undefined
  const reason =
    key === "previous_response_id"
      ? "nothing is stored here; leave it out and send the whole conversation as input"
      : "nothing is stored here; leave it out"
  return new Untranslatable({ param: key, reason })
}

export const readResponses = (request: JsonObject, files: FileFinder): Result.Result<Conversation, Untranslatable> => {
  const { input } = request
  const items = recordsAt(request, "input")
  const strange = items.findIndex((item) => !isThoughtOf(item) && itemReaders[typeOf(item)] === undefined)
  if (strange >= 0) return Result.fail(unreadable(items[strange] ?? {}, `input[${strange}]`))
  const searches = items.filter((item) => item["type"] === "tool_search_output")
  if (searches.length > searchesMax) {
    return Result.fail(new Untranslatable({ param: "input", reason: `more than ${searchesMax} searches for tools` }))
  }
  const instructions = textAt(request, "instructions") ?? ""
  const found = searches.flatMap(foundTools)
  const wish = effortWish(textAt(recordAt(request, "reasoning"), "effort"))
  const verbosity = recordAt(request, "text")["verbosity"] ?? undefined
  return Result.succeed({
    dialect: "responses",
    turns: together([
      ...(instructions === "" ? [] : [said("system", instructions)]),
      ...(typeof input === "string" ? [said("user", input)] : []),
      ...items.flatMap((item, at) => itemReaders[typeOf(item)]?.(item, `input[${at}]`, files) ?? [])
    ]),
    ...openAiChoice(request["tool_choice"], distinct([...responsesTools(request), ...found])),
    isSerial: request["parallel_tool_calls"] === false,
    output: openAiOutput(recordAt(recordAt(request, "text"), "format")),
    thinking: wish,
    temperature: numberAt(request, "temperature"),
    topP: numberAt(request, "top_p"),
    topK: undefined,
    stop: [],
    user: textAt(request, "user"),
    isStreamed: request["stream"] === true,
    answers: 1,
    others: present({ ...besides(request, responsesReadKeys), verbosity })
  })
}

const typeOf = (item: JsonObject) => String(item["type"] ?? "message")

/** A thought by its id alone: it is not stored, and the turn continues without it. */
const isThoughtOf = (item: JsonObject) =>
  item["type"] === "item_reference" && textAt(item, "id")?.startsWith("rs_") === true

const said = (role: Turn["role"], text: string): Turn => ({ role, parts: [{ _tag: "Text", text }] })

const unreadable = (item: JsonObject, path: string) => {
  const type = String(item["type"]).slice(0, 64)
  const reason =
    type === "item_reference"
      ? "nothing is stored here; send the item itself"
      : `an item of type ${JSON.stringify(type)} cannot be read here; leave it out`
  return new Untranslatable({ param: path, reason })
}

type ItemReader = (item: JsonObject, path: string, files: FileFinder) => ReadonlyArray<Turn>

const roles: Readonly<Record<string, Turn["role"]>> = { system: "system", developer: "system", assistant: "assistant" }

const assistant = (...parts: ReadonlyArray<Part>): ReadonlyArray<Turn> => [{ role: "assistant", parts }]

/** A tool call, with the input that the tool's declaration here would have. */
const calling =
  (inputOf: (item: JsonObject) => string, nameOf: (item: JsonObject) => string): ItemReader =>
  (item) => {
    const group = textAt(item, "namespace")
    const tool = { name: nameOf(item), ...(group === undefined ? {} : { group }) }
    return assistant({ _tag: "ToolCall", id: callId(item), tool, input: inputOf(item) })
  }

const callId = (item: JsonObject) => textAt(item, "call_id") ?? textAt(item, "id") ?? ""
const namedBy = (item: JsonObject) => textAt(item, "name") ?? ""
const json = (value: unknown) => JSON.stringify(value ?? {})

const result: ItemReader = (item, path, files) => {
  const { output } = item
  const parts = partsOf(isRecord(output) ? json(output) : output, `${path}.output`, files)
  return [{ role: "user", parts: [{ _tag: "ToolResult", id: callId(item), parts, isError: false }] }]
}

/** A shell's output: a list of what each command printed, and how it ended. */
const shellResult: ItemReader = (item, path, files) =>
  result({ ...item, output: shellText(item["output"]) }, path, files)

const shellText = (output: unknown) => (Array.isArray(output) ? json(output) : output)

const reasoning: ItemReader = (item) => {
  const said = [...recordsAt(item, "summary"), ...recordsAt(item, "content")]
  const text = said.map((part) => textAt(part, "text") ?? "").join("\n")
  const sealed = sealedThought(textAt(item, "encrypted_content") ?? "")
  if (sealed?._tag === "Encrypted") return assistant({ _tag: "Reasoning", text: "", encrypted: sealed.data })
  if (sealed?._tag === "Signed") {
    return assistant({ _tag: "Reasoning", text: sealed.text, signature: sealed.signature })
  }
  if (sealed !== undefined) return assistant({ _tag: "Reasoning", text: sealed.text })
  return text === "" ? [] : assistant({ _tag: "Reasoning", text })
}

const message: ItemReader = (item, path, files) => [
  { role: roles[String(item["role"])] ?? "user", parts: partsOf(item["content"], `${path}.content`, files) }
]

const foundTools = (item: JsonObject): ReadonlyArray<Tool> =>
  recordsAt(item, "tools").flatMap((tool, at) => responsesTool(tool, `tools[${at}]`))

// What a provider's own tools did earlier means nothing to another provider.
const nothing: ItemReader = () => []

const itemReaders: Readonly<Record<string, ItemReader | undefined>> = {
  __proto__: null as never,
  message,
  reasoning,
  function_call: calling((item) => textAt(item, "arguments") ?? "", namedBy),
  function_call_output: result,
  custom_tool_call: calling((item) => json({ input: textAt(item, "input") ?? "" }), namedBy),
  custom_tool_call_output: result,
  local_shell_call: calling(
    (item) => json(present({ ...recordAt(item, "action"), type: undefined })),
    () => "local_shell"
  ),
  local_shell_call_output: result,
  shell_call: calling(
    (item) => json(item["action"]),
    () => "shell"
  ),
  shell_call_output: shellResult,
  apply_patch_call: calling(
    (item) => json(item["operation"]),
    () => "apply_patch"
  ),
  apply_patch_call_output: result,
  tool_search_call: (item, path, files) =>
    item["execution"] === "client"
      ? calling(
          (each) => json(each["arguments"]),
          () => "tool_search"
        )(item, path, files)
      : [],
  tool_search_output: (item, path, files) =>
    item["execution"] === "client" ? result({ ...item, output: json({ tools: toolNames(item) }) }, path, files) : [],
  web_search_call: nothing,
  file_search_call: nothing,
  code_interpreter_call: nothing,
  image_generation_call: nothing,
  mcp_list_tools: nothing,
  mcp_call: nothing
}

const toolNames = (item: JsonObject) =>
  foundTools(item).map((tool) => (tool._tag === "Callers" ? tool.name : tool.type))

/** A tool that was found again is declared once. */
const distinct = (tools: ReadonlyArray<Tool>): ReadonlyArray<Tool> => {
  const seen = new Set<string>()
  return tools.filter((tool) => {
    if (tool._tag !== "Callers") return true
    const key = JSON.stringify([tool.group, tool.name])
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  })
}

/** An assistant's consecutive texts, thoughts and calls are one turn. */
const together = (turns: ReadonlyArray<Turn>): ReadonlyArray<Turn> => {
  const joined: Array<Turn> = []
  let open: Array<Part> | undefined
  for (const turn of turns) {
    if (turn.role !== "assistant") open = undefined
    else if (open !== undefined) {
      open.push(...turn.parts)
      continue
    } else open = [...turn.parts]
    joined.push(open === undefined ? turn : { role: "assistant", parts: open })
  }
  return joined
}
