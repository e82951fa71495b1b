/**
 * What Anthropic's messages refuse, in their words: keys that they do not know, and requests that break a rule of the
 * table. The keys are those of the reference, which the official client has as types. Pure.
 */
import { isJson, type Json, jsonOf, objectsOf, textAt } from "../json.ts"
import { messageRules } from "./anthropic-messages.ts"
import { thinkingRules } from "./anthropic-thinking.ts"
import {
  defineTools,
  effort,
  messagesReference,
  oneOf,
  promptCaching,
  structuredOutputs,
  versioning
} from "./anthropic-words.ts"
import { firstOf, type Headers, refusal, type Rule } from "./refusal.ts"
import { any, anyKeys, flag, integer, keys, kinds, list, number, type Shape, text, textOrList } from "./shape.ts"

type Kinds = Readonly<Record<string, Shape>>

const tagged = (of: Kinds, otherwise?: string) =>
  kinds({ by: "type", of, isInPath: true, ...(otherwise === undefined ? {} : { otherwise }) })

const cacheControl = tagged({ ephemeral: keys({ type: text, ttl: text }) })
const cached = { type: text, cache_control: cacheControl }

const textBlock = keys({ ...cached, text, citations: any }, "text")
const base64 = keys({ type: text, media_type: text, data: text }, "media_type data")
const url = keys({ type: text, url: text }, "url")
const file = keys({ type: text, file_id: text }, "file_id")
const imageSource = tagged({ base64, url, file })
const documentSource = tagged({
  base64,
  text: base64,
  content: keys({ type: text, content: any }, "content"),
  url,
  file
})
const citations = keys({ enabled: flag })

const imageBlock = keys({ ...cached, source: imageSource, transformations: any }, "source")
const documentBlock = keys({ ...cached, source: documentSource, citations, context: text, title: text }, "source")
const searchBlock = keys(
  { ...cached, content: list(textBlock), source: text, title: text, citations },
  "content source title"
)

const resultParts = tagged({
  text: textBlock,
  image: imageBlock,
  search_result: searchBlock,
  document: documentBlock,
  tool_reference: keys({ ...cached, tool_name: text }, "tool_name"),
  browser_state: any
})

const block = tagged({
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: searchBlock,
  thinking: keys({ type: text, thinking: text, signature: text }, "thinking signature"),
  redacted_thinking: keys({ type: text, data: text }, "data"),
  tool_use: keys({ ...cached, id: text, name: text, input: anyKeys, caller: any, toolset_name: text }, "id name input"),
  tool_result: keys(
    { ...cached, tool_use_id: text, content: textOrList(resultParts), is_error: flag, toolset_name: text },
    "tool_use_id"
  ),
  server_tool_use: any,
  web_search_tool_result: any,
  web_fetch_tool_result: any,
  code_execution_tool_result: any,
  bash_code_execution_tool_result: any,
  text_editor_code_execution_tool_result: any,
  tool_search_tool_result: any,
  container_upload: any
})

const toolOptions = { ...cached, allowed_callers: any, defer_loading: flag, strict: flag }

/** Tools that the provider runs itself, or whose schema it has: their own settings are not looked at. */
const hosted: Kinds = Object.fromEntries(
  [
    "bash_20250124 text_editor_20250124 text_editor_20250429 text_editor_20250728 memory_20250818",
    "web_search_20250305 web_search_20260209 web_search_20260318",
    "web_fetch_20250910 web_fetch_20260209 web_fetch_20260309 web_fetch_20260318",
    "code_execution_20250522 code_execution_20250825 code_execution_20260120 code_execution_20260521",
    "tool_search_tool_regex tool_search_tool_regex_20251119 tool_search_tool_bm25 tool_search_tool_bm25_20251119",
    "browser_toolset_20260801 computer_toolset_20260801"
  ].flatMap((types) => types.split(" ").map((type) => [type, any]))
)

const tool = tagged(
  {
    custom: keys(
      {
        ...toolOptions,
        name: text,
        description: text,
        input_schema: anyKeys,
        eager_input_streaming: flag,
        input_examples: list(any)
      },
      "name input_schema"
    ),
    ...hosted
  },
  "custom"
)

const parallel = { type: text, disable_parallel_tool_use: flag }

const prompt: Kinds = {
  model: text,
  messages: list(keys({ role: text, content: textOrList(block) }, "role content")),
  system: textOrList(textBlock),
  tools: list(tool),
  tool_choice: tagged({
    auto: keys(parallel),
    any: keys(parallel),
    tool: keys({ ...parallel, name: text }, "name"),
    none: keys({ type: text })
  }),
  thinking: tagged({
    enabled: keys({ type: text, budget_tokens: integer, display: text }, "budget_tokens"),
    disabled: keys({ type: text }),
    adaptive: keys({ type: text, display: text }),
    between_tools: keys({ type: text })
  }),
  output_config: keys({ effort: text, format: keys({ type: text, schema: anyKeys }, "type schema") }),
  cache_control: cacheControl,
  speed: text,
  user_profile_id: text,
  workspace_id: text
}

export const messagesShape = keys(
  {
    ...prompt,
    max_tokens: integer,
    container: any,
    diagnostics: any,
    inference_geo: text,
    metadata: keys({ user_id: text }),
    service_tier: text,
    stop_sequences: list(text),
    stream: flag,
    temperature: number,
    top_k: integer,
    top_p: number
  },
  "model messages max_tokens"
)

export const countShape = keys(prompt, "model messages")

/** Keys that the `anthropic-beta` header turns on, by the name of the beta without its date. */
const betaKeys: Readonly<Record<string, string>> = {
  context_management: "context-management",
  output_format: "structured-outputs",
  mcp_servers: "mcp-client"
}

/** The request without the keys of the betas that its header names. */
export const withoutBetas = (request: Json, headers: Headers): Json => {
  const betas = String(headers["anthropic-beta"] ?? "")
  const isOn = (key: string) => Object.hasOwn(betaKeys, key) && betas.includes(betaKeys[key] ?? key)
  return Object.fromEntries(Object.entries(request).filter(([key]) => !isOn(key)))
}

const range = (key: string, least: number, most: number): Rule => ({
  refuses: `${key} below ${least} or above ${most}`,
  source: messagesReference,
  check: (request) => {
    const value = request[key]
    return typeof value !== "number" || (value >= least && value <= most)
      ? undefined
      : refusal(`${key}: range: ${least}..${most}`)
  }
})

const sampling: ReadonlyArray<Rule> = [
  range("temperature", 0, 1),
  range("top_p", 0, 1),
  {
    refuses: "temperature beside top_p",
    source: messagesReference,
    check: ({ temperature, top_p: topP }) =>
      typeof temperature === "number" && typeof topP === "number"
        ? refusal("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
        : undefined
  },
  {
    refuses: "max_tokens below 1",
    source: messagesReference,
    check: ({ max_tokens: tokens }) =>
      typeof tokens === "number" && tokens < 1 ? refusal("max_tokens: must be greater than or equal to 1") : undefined
  },
  {
    refuses: "stop sequences that are white space",
    source: messagesReference,
    check: ({ stop_sequences: stop }) =>
      Array.isArray(stop) && stop.some((word) => String(word).trim() === "")
        ? refusal("stop_sequences: each stop sequence must contain non-whitespace")
        : undefined
  },
  {
    refuses: "a user_id of more than 256 characters",
    source: messagesReference,
    check: ({ metadata }) =>
      textAt(jsonOf(metadata), "user_id").length > 256
        ? refusal("metadata.user_id: String should have at most 256 characters")
        : undefined
  }
]

const toolName = /^[a-zA-Z0-9_-]{1,128}$/u
const kindOf = (tool: Json) => (typeof tool["type"] === "string" ? tool["type"] : "custom")
const namesOf = (request: Json) => objectsOf(request["tools"]).map((tool) => textAt(tool, "name"))

const tools: ReadonlyArray<Rule> = [
  {
    refuses: "a name of a tool outside of ^[a-zA-Z0-9_-]{1,128}$",
    source: defineTools,
    check: ({ tools }) =>
      firstOf(objectsOf(tools), (tool, index) =>
        kindOf(tool) !== "custom" || toolName.test(textAt(tool, "name"))
          ? undefined
          : refusal(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
      )
  },
  {
    refuses: "two tools of one name",
    source: defineTools,
    check: (request) => {
      const names = namesOf(request)
      return new Set(names).size === names.length ? undefined : refusal("tools: Tool names must be unique.")
    }
  },
  {
    refuses: "an input_schema that is not of the type object",
    source: defineTools,
    check: ({ tools }) =>
      firstOf(objectsOf(tools), (tool, index) => {
        const { type } = jsonOf(tool["input_schema"])
        const path = `tools.${index}.custom.input_schema.type`
        if (kindOf(tool) !== "custom" || type === "object") return undefined
        return refusal(type === undefined ? `${path}: Field required` : `${path}: Input should be 'object'`)
      })
  },
  {
    refuses: "tool_choice without tools",
    source: defineTools,
    check: (request) =>
      isJson(request["tool_choice"]) && namesOf(request).length === 0
        ? refusal("tool_choice may only be specified while providing tools")
        : undefined
  },
  {
    refuses: "the choice of a tool that is not declared",
    source: defineTools,
    check: (request) => {
      const { type, name } = jsonOf(request["tool_choice"])
      return type !== "tool" || namesOf(request).includes(String(name))
        ? undefined
        : refusal(`Tool '${String(name)}' not found in provided tools`)
    }
  }
]

const marksIn = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + marksIn(each), 0)
  if (!isJson(value)) return 0
  return (isJson(value["cache_control"]) ? 1 : 0) + marksIn(value["content"])
}

const efforts = ["low", "medium", "high", "xhigh", "max"]

/** The first object schema that may have more keys than it names. */
const isOpen = (schema: unknown): boolean => {
  if (Array.isArray(schema)) return schema.some(isOpen)
  if (!isJson(schema)) return false
  if (schema["type"] === "object" && schema["additionalProperties"] !== false) return true
  return [...Object.values(jsonOf(schema["properties"])), schema["items"], schema["anyOf"], schema["allOf"]]
    .concat(Object.values(jsonOf(schema["$defs"])))
    .some(isOpen)
}

const output: ReadonlyArray<Rule> = [
  {
    refuses: "more than four cache_control marks",
    source: promptCaching,
    check: ({ tools, system, messages }) => {
      const count = marksIn(tools) + marksIn(system) + marksIn(messages)
      return count <= 4
        ? undefined
        : refusal(`A maximum of 4 blocks with cache_control may be provided. Found ${count}.`)
    }
  },
  {
    refuses: "an effort that is not known",
    source: effort,
    check: ({ output_config: config }) => {
      const { effort: asked } = jsonOf(config)
      return typeof asked !== "string" || efforts.includes(asked)
        ? undefined
        : refusal(`output_config.effort: Input should be ${oneOf(efforts)}`)
    }
  },
  {
    refuses: "a format of another type than json_schema",
    source: structuredOutputs,
    check: ({ output_config: config }) => {
      const { format } = jsonOf(config)
      return !isJson(format) || format["type"] === "json_schema"
        ? undefined
        : refusal("output_config.format.type: Input should be 'json_schema'")
    }
  },
  {
    refuses: "a schema of an answer that allows more keys than it names",
    source: structuredOutputs,
    check: ({ output_config: config }) =>
      isOpen(jsonOf(jsonOf(config)["format"])["schema"])
        ? refusal(
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
          )
        : undefined
  }
]

const version: Rule = {
  refuses: "a request without the header anthropic-version",
  source: versioning,
  check: (_, headers) =>
    headers["anthropic-version"] === undefined ? refusal("anthropic-version: header is required") : undefined
}

export const anthropicRules: ReadonlyArray<Rule> = [
  version,
  ...messageRules,
  ...sampling,
  ...tools,
  ...thinkingRules,
  ...output
]
