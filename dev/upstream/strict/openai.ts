/**
 * What OpenAI's chat completions refuse, in their words: keys that they do not know, and requests that break a rule of
 * the table. The keys are those of the reference, which the official client has as types. Pure.
 */
import { isJson, type Json, jsonOf, objectsOf, textAt } from "../json.ts"
import { chatMessageRules } from "./openai-messages.ts"
import { schemaRules } from "./openai-schemas.ts"
import { chatReference, functionCalling, tooLong } from "./openai-words.ts"
import { firstOf, type Refusal, refusal, type Rule } from "./refusal.ts"
import { any, flag, integer, keys, kinds, list, number, type Shape, text, textOrList } from "./shape.ts"

const breakpoint = { prompt_cache_breakpoint: any }
const textPart = keys({ type: text, text, ...breakpoint }, "text")
const refusalPart = keys({ type: text, refusal: text }, "refusal")
const imagePart = keys({ type: text, image_url: keys({ url: text, detail: text }, "url"), ...breakpoint }, "image_url")
const audioPart = keys({ type: text, input_audio: keys({ data: text, format: text }, "data format") }, "input_audio")
const filePart = keys({ type: text, file: keys({ file_data: text, file_id: text, filename: text }) }, "file")

const parts = (of: Readonly<Record<string, Shape>>) => textOrList(kinds({ by: "type", of }))
/** Pictures in messages other than the user's are refused by a rule, in words of their own. */
const texts = parts({ text: textPart, image_url: imagePart })

const calls = list(
  kinds({
    by: "type",
    of: {
      function: keys(
        { id: text, type: text, function: keys({ name: text, arguments: text }, "name arguments") },
        "id function"
      ),
      custom: keys({ id: text, type: text, custom: keys({ name: text, input: text }, "name input") }, "id custom")
    }
  })
)

const instructions = keys({ role: text, content: texts, name: text }, "content")

const message = kinds({
  by: "role",
  of: {
    system: instructions,
    assistant: keys({
      role: text,
      content: parts({ text: textPart, refusal: refusalPart, image_url: imagePart }),
      name: text,
      refusal: text,
      audio: keys({ id: text }, "id"),
      tool_calls: calls,
      // Of an answer that is sent back whole.
      annotations: any,
      function_call: keys({ name: text, arguments: text }, "name arguments")
    }),
    user: keys(
      {
        role: text,
        content: parts({ text: textPart, image_url: imagePart, input_audio: audioPart, file: filePart }),
        name: text
      },
      "content"
    ),
    function: keys({ role: text, name: text, content: text }, "name"),
    tool: keys({ role: text, content: texts, tool_call_id: text }, "content tool_call_id"),
    developer: instructions
  }
})

const definition = keys({ name: text, description: text, parameters: any, strict: flag }, "name")
const customTool = keys({ name: text, description: text, format: any }, "name")

const tool = kinds({
  by: "type",
  of: {
    function: keys({ type: text, function: definition }, "function"),
    custom: keys({ type: text, custom: customTool }, "custom")
  }
})

const toolChoice = kinds({
  by: "type",
  orText: true,
  of: {
    function: keys({ type: text, function: keys({ name: text }, "name") }, "function"),
    custom: keys({ type: text, custom: keys({ name: text }, "name") }, "custom"),
    allowed_tools: keys(
      { type: text, allowed_tools: keys({ mode: text, tools: list(any) }, "mode tools") },
      "allowed_tools"
    )
  }
})

const jsonSchema = keys({ name: text, description: text, schema: any, strict: flag }, "name")

const responseFormat = kinds({
  by: "type",
  of: {
    text: keys({ type: text }),
    json_object: keys({ type: text }),
    json_schema: keys({ type: text, json_schema: jsonSchema }, "json_schema")
  }
})

export const chatShape = keys(
  {
    messages: list(message),
    model: text,
    audio: keys({ format: text, voice: any }, "format voice"),
    frequency_penalty: number,
    function_call: any,
    functions: list(keys({ name: text, description: text, parameters: any }, "name")),
    logit_bias: any,
    logprobs: flag,
    max_completion_tokens: integer,
    max_tokens: integer,
    metadata: any,
    modalities: list(text),
    moderation: any,
    n: integer,
    parallel_tool_calls: flag,
    prediction: keys({ type: text, content: texts }, "type content"),
    presence_penalty: number,
    prompt_cache_key: text,
    prompt_cache_options: any,
    prompt_cache_retention: text,
    reasoning_effort: text,
    response_format: responseFormat,
    safety_identifier: text,
    seed: integer,
    service_tier: text,
    stop: textOrList(text),
    store: flag,
    stream: flag,
    stream_options: keys({ include_obfuscation: flag, include_usage: flag }),
    temperature: number,
    tool_choice: toolChoice,
    tools: list(tool),
    top_logprobs: integer,
    top_p: number,
    user: text,
    verbosity: text,
    web_search_options: any
  },
  "model messages"
)

const range = (key: string, kind: "decimal" | "integer", least: number, most = Infinity): Rule => ({
  refuses: `${key} below ${least} or above ${most}`,
  source: chatReference,
  check: (request) => {
    const value = request[key]
    if (typeof value !== "number") return undefined
    const words = (is: string, wanted: string) =>
      `Invalid '${key}': ${kind} ${is} value. Expected a value ${wanted}, but got ${value} instead.`
    if (value < least) return refusal(words("below minimum", `>= ${least}`), key, `${kind}_below_min_value`)
    if (value > most) return refusal(words("above maximum", `<= ${most}`), key, `${kind}_above_max_value`)
    return undefined
  }
})

const longest = (key: string, most: number): Rule => ({
  refuses: `${key} of more than ${most} characters`,
  source: chatReference,
  check: (request) => tooLong(key, textAt(request, key), most)
})

const hasTools = (request: Json) => Array.isArray(request["tools"])

const onlyWithTools = (key: string): Rule => ({
  refuses: `${key} without tools`,
  source: functionCalling,
  check: (request) =>
    request[key] === undefined || request[key] === null || hasTools(request)
      ? undefined
      : refusal(`Invalid value for '${key}': '${key}' is only allowed when 'tools' are specified.`, key)
})

const limits: ReadonlyArray<Rule> = [
  range("temperature", "decimal", 0, 2),
  range("top_p", "decimal", 0, 1),
  range("presence_penalty", "decimal", -2, 2),
  range("frequency_penalty", "decimal", -2, 2),
  range("n", "integer", 1, 8),
  range("top_logprobs", "integer", 0, 20),
  range("max_tokens", "integer", 1),
  range("max_completion_tokens", "integer", 1),
  longest("user", 64),
  longest("safety_identifier", 64),
  longest("prompt_cache_key", 64)
]

const metadataFault = (metadata: Json): Refusal | undefined => {
  const count = Object.keys(metadata).length
  if (count > 16) {
    return refusal(
      `Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with ${count} properties instead.`,
      "metadata",
      "object_above_max_properties"
    )
  }
  return firstOf(Object.entries(metadata), ([key, value]) => {
    const path = `metadata.${key}`
    if (typeof value === "string") return tooLong(path, value, 512)
    return refusal(`Invalid type for '${path}': expected a string, but got another type instead.`, path, "invalid_type")
  })
}

const combinations: ReadonlyArray<Rule> = [
  {
    refuses: "max_tokens beside max_completion_tokens",
    source: chatReference,
    check: ({ max_tokens: old, max_completion_tokens: tokens }) =>
      typeof old === "number" && typeof tokens === "number"
        ? refusal(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            null,
            "invalid_parameter_combination"
          )
        : undefined
  },
  {
    refuses: "more than four stop words",
    source: chatReference,
    check: ({ stop }) =>
      Array.isArray(stop) && stop.length > 4
        ? refusal(
            `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stop.length} instead.`,
            "stop",
            "array_above_max_length"
          )
        : undefined
  },
  {
    refuses: "top_logprobs without logprobs",
    source: chatReference,
    check: ({ logprobs, top_logprobs: top }) =>
      typeof top === "number" && logprobs !== true
        ? refusal(
            "Invalid value for 'top_logprobs': 'top_logprobs' is only allowed when 'logprobs' is enabled.",
            "top_logprobs"
          )
        : undefined
  },
  {
    refuses: "stream_options without a stream",
    source: chatReference,
    check: ({ stream, stream_options: options }) =>
      isJson(options) && stream !== true
        ? refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
        : undefined
  },
  {
    refuses: "metadata of more than 16 pairs, or a value of more than 512 characters",
    source: chatReference,
    check: ({ metadata }) => (isJson(metadata) ? metadataFault(metadata) : undefined)
  }
]

const toolName = /^[a-zA-Z0-9_-]+$/u

const nameOf = (tool: Json) => textAt(jsonOf(tool["function"] ?? tool["custom"]), "name")

const nameFault = (tool: Json, index: number): Refusal | undefined => {
  const path = `tools[${index}].${isJson(tool["custom"]) ? "custom" : "function"}.name`
  const name = nameOf(tool)
  if (toolName.test(name)) return tooLong(path, name, 64)
  return refusal(
    `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    path,
    "invalid_value"
  )
}

const tools: ReadonlyArray<Rule> = [
  {
    refuses: "an empty list of tools",
    source: functionCalling,
    check: ({ tools }) =>
      Array.isArray(tools) && tools.length === 0
        ? refusal(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "tools",
            "empty_array"
          )
        : undefined
  },
  {
    refuses: "a name of a tool outside of ^[a-zA-Z0-9_-]{1,64}$",
    source: functionCalling,
    check: ({ tools }) => firstOf(objectsOf(tools), nameFault)
  },
  onlyWithTools("tool_choice"),
  onlyWithTools("parallel_tool_calls"),
  {
    refuses: "a choice other than none, auto and required",
    source: functionCalling,
    check: ({ tool_choice: choice }) =>
      typeof choice !== "string" || ["none", "auto", "required"].includes(choice)
        ? undefined
        : refusal(
            `Invalid value: '${choice}'. Supported values are: 'none', 'auto', and 'required'.`,
            "tool_choice",
            "invalid_value"
          )
  },
  {
    // The chat's own words are not public; these are what the Responses API says.
    refuses: "the choice of a tool that is not declared",
    source: functionCalling,
    check: ({ tools, tool_choice: choice }) => {
      const chosen = isJson(choice) ? nameOf(choice) : ""
      return chosen === "" || objectsOf(tools).some((tool) => nameOf(tool) === chosen)
        ? undefined
        : refusal(`Tool choice '${chosen}' not found in 'tools' parameter.`, "tool_choice")
    }
  }
]

export const chatRules: ReadonlyArray<Rule> = [
  ...limits,
  ...combinations,
  ...tools,
  ...chatMessageRules,
  ...schemaRules
]
