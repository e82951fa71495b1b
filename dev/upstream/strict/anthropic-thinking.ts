/** What Anthropic refuses of and beside extended thinking. Pure. */
import { type Json, jsonOf, objectsOf, textAt } from "../json.ts"
import { turnsOf } from "./anthropic-messages.ts"
import { extendedThinking } from "./anthropic-words.ts"
import { firstOf, type Refusal, refusal, type Rule } from "./refusal.ts"
import { isRedacted, signatureOf } from "./signatures.ts"

const consult = `Please consult our documentation at ${extendedThinking.url}`
const thinkingOf = (request: Json) => jsonOf(request["thinking"])

/** By a budget, or as much as the model likes. */
const isThinking = (request: Json) => ["enabled", "adaptive"].includes(textAt(thinkingOf(request), "type"))

const whileThinking = (refuses: string, isWrong: (request: Json) => boolean, words: string): Rule => ({
  refuses: `${refuses} beside thinking`,
  source: extendedThinking,
  check: (request) => (isThinking(request) && isWrong(request) ? refusal(words) : undefined)
})

const thoughtFault = (block: Json, path: string): Refusal | undefined => {
  const { type } = block
  if (type === "thinking" && textAt(block, "signature") !== signatureOf(textAt(block, "thinking"))) {
    return refusal(`${path}: Invalid \`signature\` in \`thinking\` block`)
  }
  if (type === "redacted_thinking" && !isRedacted(textAt(block, "data"))) {
    return refusal(`${path}: Invalid \`data\` in \`redacted_thinking\` block`)
  }
  return undefined
}

const startFault = (request: Json): Refusal | undefined => {
  const last = turnsOf(request).findLast(({ role }) => role === "assistant")
  const kinds = (last?.blocks ?? []).map((block) => textAt(block, "type"))
  const [first = ""] = kinds
  if (!kinds.includes("tool_use") || first === "thinking" || first === "redacted_thinking") return undefined
  return refusal(
    `messages.${last?.index ?? 0}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. ` +
      "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). " +
      `We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. ${consult}`
  )
}

export const thinkingRules: ReadonlyArray<Rule> = [
  {
    refuses: "a budget of less than 1024 tokens",
    source: extendedThinking,
    check: (request) => {
      const { budget_tokens: budget } = thinkingOf(request)
      return typeof budget === "number" && budget < 1_024
        ? refusal("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        : undefined
    }
  },
  {
    refuses: "a budget that max_tokens does not exceed",
    source: extendedThinking,
    check: (request) => {
      const { budget_tokens: budget } = thinkingOf(request)
      return typeof budget === "number" && Number(request["max_tokens"]) <= budget
        ? refusal(`\`max_tokens\` must be greater than \`thinking.budget_tokens\`. ${consult}`)
        : undefined
    }
  },
  whileThinking(
    "a temperature other than 1",
    ({ temperature }) => typeof temperature === "number" && temperature !== 1,
    `\`temperature\` may only be set to 1 when thinking is enabled. ${consult}`
  ),
  whileThinking(
    "top_k",
    ({ top_k: topK }) => typeof topK === "number",
    `\`top_k\` must be unset when thinking is enabled. ${consult}`
  ),
  whileThinking(
    "top_p below 0.95",
    ({ top_p: topP }) => typeof topP === "number" && topP < 0.95,
    `\`top_p\` must be greater than or equal to 0.95 or unset when thinking is enabled. ${consult}`
  ),
  whileThinking(
    "a forced tool",
    ({ tool_choice: choice }) => ["any", "tool"].includes(textAt(jsonOf(choice), "type")),
    "Thinking may not be enabled when tool_choice forces tool use."
  ),
  {
    refuses: "a last turn with calls that does not begin with the thought that they came of",
    source: extendedThinking,
    // With adaptive thinking no turn has to begin with one.
    check: (request) => (thinkingOf(request)["type"] === "enabled" ? startFault(request) : undefined)
  },
  {
    refuses: "a thought with another signature than it came with",
    source: extendedThinking,
    check: ({ messages }) =>
      firstOf(objectsOf(messages), (message, index) =>
        firstOf(objectsOf(message["content"]), (block, at) => thoughtFault(block, `messages.${index}.content.${at}`))
      )
  }
]
