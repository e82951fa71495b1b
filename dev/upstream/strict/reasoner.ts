/**
 * What a model refuses that always thinks and speaks OpenAI's dialect, as DeepSeek's do: it wants its thoughts back with
 * the calls that came of them, and reads neither pictures nor the role `developer`. It ignores the sampling parameters
 * temperature, top_p and both penalties, as DeepSeek documents. DeepSeek also ignores keys that it does not know, where
 * this one refuses them, so that a key that was sent on by mistake shows. Pure.
 */
import { isJson, type Json, objectsOf } from "../json.ts"
import { openAiRefusal, pathOf, reasoningModels } from "./openai-words.ts"
import { firstOf, type Refusal, refusal, type Rule, type Source } from "./refusal.ts"
import { any, type Fault, flag, integer, keys, kinds, list, number, text, textOrList } from "./shape.ts"

const thinkingMode: Source = {
  page: "DeepSeek: Thinking mode",
  url: "https://api-docs.deepseek.com/guides/thinking_mode"
}
const reasoningModel: Source = {
  page: "DeepSeek: Reasoning model (deepseek-reasoner)",
  url: "https://api-docs.deepseek.com/guides/reasoning_model"
}
/** Its keys, and its words for a role or a part that it does not know. */
export const deepSeekReference: Source = {
  page: "DeepSeek: Create chat completion",
  url: "https://api-docs.deepseek.com/api/create-chat-completion"
}

const texts = textOrList(kinds({ by: "type", of: { text: keys({ type: text, text }, "text") } }))
const call = keys(
  { id: text, type: text, index: integer, function: keys({ name: text, arguments: text }, "name arguments") },
  "id type function"
)

const message = kinds({
  by: "role",
  of: {
    system: keys({ role: text, content: texts, name: text }, "content"),
    user: keys({ role: text, content: texts, name: text }, "content"),
    assistant: keys({
      role: text,
      content: texts,
      name: text,
      prefix: flag,
      reasoning_content: text,
      tool_calls: list(call),
      // Of an answer that is sent back whole.
      refusal: text
    }),
    tool: keys({ role: text, content: texts, tool_call_id: text }, "content tool_call_id")
  }
})

const tool = keys(
  {
    type: text,
    function: keys({ name: text, description: text, parameters: any, strict: flag }, "name")
  },
  "type function"
)

export const reasonerShape = keys(
  {
    messages: list(message),
    model: text,
    thinking: keys({ type: text }, "type"),
    reasoning_effort: text,
    frequency_penalty: number,
    presence_penalty: number,
    temperature: number,
    top_p: number,
    max_tokens: integer,
    max_completion_tokens: integer,
    response_format: any,
    stop: textOrList(text),
    stream: flag,
    stream_options: keys({ include_usage: flag }),
    tools: list(tool),
    tool_choice: any,
    logprobs: flag,
    top_logprobs: integer
  },
  "model messages"
)

export const reasonerRefusal = (fault: Fault): Refusal => {
  const { path, what } = fault
  if (what._tag !== "Kind") return openAiRefusal(fault)
  const known = what.known.map((name) => `\`${name}\``).join(", ")
  const at = what.by === "role" ? `${pathOf(path)}.role` : pathOf(path)
  return refusal(
    `Failed to deserialize the JSON body into the target type: ${at}: unknown variant \`${what.found}\`, expected ${what.known.length > 1 ? "one of " : ""}${known}`,
    null,
    "invalid_request_error"
  )
}

const isNothing = (value: unknown) => value === undefined || value === null || value === false || value === 0

/** Told not to think. */
export const isDisabled = ({ thinking }: Json) => isJson(thinking) && thinking["type"] === "disabled"

/** The messages since the user's last one. */
const lately = ({ messages }: Json) => {
  const all = objectsOf(messages)
  return all.slice(all.findLastIndex(({ role }) => role === "user") + 1)
}

export const reasonerRules: ReadonlyArray<Rule> = [
  {
    // DeepSeek calls it max_tokens; this rule is the one of OpenAI's reasoning models.
    refuses: "max_tokens in place of max_completion_tokens",
    source: reasoningModels,
    check: ({ max_tokens: tokens }) =>
      tokens === undefined || tokens === null
        ? undefined
        : refusal(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter"
          )
  },
  {
    refuses: "logprobs and top_logprobs",
    source: reasoningModel,
    check: (request) =>
      firstOf(["logprobs", "top_logprobs"], (key) =>
        isNothing(request[key])
          ? undefined
          : refusal(`This model does not support ${key}`, null, "invalid_request_error")
      )
  },
  {
    refuses: "calls since the user's last message without the thought that they came of",
    source: thinkingMode,
    // One that is told not to think wants none.
    check: (request) =>
      isDisabled(request)
        ? undefined
        : firstOf(lately(request), ({ tool_calls: calls, reasoning_content: thought }) =>
            objectsOf(calls).length > 0 && (typeof thought !== "string" || thought === "")
              ? refusal(
                  "The `reasoning_content` in the thinking mode must be passed back to the API.",
                  null,
                  "invalid_request_error"
                )
              : undefined
          )
  }
]
