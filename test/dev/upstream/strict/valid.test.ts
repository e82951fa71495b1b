import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Json } from "../../../../dev/upstream/json.ts"
import { judges } from "../../../../dev/upstream/strict/judges.ts"
import { pathOf } from "../../../../dev/upstream/strict/openai-words.ts"
import { signatureOf } from "../../../../dev/upstream/strict/signatures.ts"

const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))
const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Words = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(64))

const Request = Schema.Struct({
  /** How many calls the assistant makes in each turn. */
  turns: Schema.Array(whole(0, 3)).check(Schema.isMaxLength(4)),
  words: Words,
  inParts: Schema.Boolean,
  hasThoughts: Schema.Boolean,
  isStreamed: Schema.Boolean,
  choice: Schema.Literals(["auto", "none", "forced", "named"]),
  temperature: between(0, 1),
  penalty: between(-2, 2),
  tokens: whole(2_000, 100_000),
  stop: Schema.Array(Words).check(Schema.isMaxLength(4))
})
type Request = Schema.Schema.Type<typeof Request>

const schema = {
  type: "object",
  properties: { word: { type: "string" } },
  required: ["word"],
  additionalProperties: false
}
const idsOf = (turn: number, count: number) => Array.from({ length: count }, (_, at) => `call_${turn}_${at}`)

const openAi = ({ turns, words, inParts, choice, isStreamed, ...rest }: Request, hasThoughts: boolean): Json => {
  const content = inParts ? [{ type: "text", text: words }] : words
  const messages = turns.flatMap((count, turn): ReadonlyArray<Json> => {
    const tool_calls = idsOf(turn, count).map((id) => ({
      id,
      type: "function",
      function: { name: "look", arguments: "{}" }
    }))
    return [
      { role: "user", content },
      {
        role: "assistant",
        content: words,
        ...(count === 0 ? {} : { tool_calls }),
        ...(hasThoughts ? { reasoning_content: words } : {})
      },
      ...tool_calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content }))
    ]
  })
  return {
    model: "m",
    messages: [{ role: "system", content }, ...messages, ...(turns.at(-1) === 0 ? [{ role: "user", content }] : [])],
    tools: [{ type: "function", function: { name: "look", parameters: schema, strict: true } }],
    tool_choice:
      choice === "named" ? { type: "function", function: { name: "look" } } : choice === "forced" ? "required" : choice,
    temperature: rest.temperature,
    presence_penalty: rest.penalty,
    max_completion_tokens: rest.tokens,
    stop: rest.stop,
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {})
  }
}

const anthropic = ({ turns, words, inParts, choice, isStreamed, hasThoughts, ...rest }: Request): Json => {
  const said = `a${words}b`
  const content = inParts ? [{ type: "text", text: said }] : said
  const thought = hasThoughts ? [{ type: "thinking", thinking: said, signature: signatureOf(said) }] : []
  const messages = turns.flatMap((count, turn): ReadonlyArray<Json> => {
    const ids = idsOf(turn, count)
    const uses = ids.map((id) => ({ type: "tool_use", id, name: "look", input: { word: said } }))
    const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content }))
    return [
      { role: "assistant", content: [...thought, { type: "text", text: said }, ...uses] },
      { role: "user", content: [...results, { type: "text", text: said }] }
    ]
  })
  const kinds = {
    auto: { type: "auto" },
    none: { type: "none" },
    forced: { type: "any" },
    named: { type: "tool", name: "look" }
  }
  return {
    model: "m",
    messages: [{ role: "user", content }, ...messages],
    system: content,
    tools: [{ name: "look", input_schema: schema }],
    max_tokens: rest.tokens,
    stop_sequences: rest.stop.map((word) => `a${word}`),
    stream: isStreamed,
    ...(hasThoughts
      ? { thinking: { type: "enabled", budget_tokens: 1_024 } }
      : { temperature: rest.temperature, tool_choice: kinds[choice] })
  }
}

/** The request with one more key at one of its objects, and the path of that key. */
const withKeyAt = (request: Json, place: number) => {
  const messages = request["messages"] as ReadonlyArray<Json>
  const [tool, ...tools] = request["tools"] as ReadonlyArray<Json>
  const at = place % (messages.length + 2)
  if (at === messages.length) return { request: { ...request, odd: 1 }, path: ["odd"] }
  if (at > messages.length)
    return { request: { ...request, tools: [{ ...tool, odd: 1 }, ...tools] }, path: ["tools", 0, "odd"] }
  return {
    request: { ...request, messages: messages.with(at, { ...messages[at], odd: 1 }) },
    path: ["messages", at, "odd"]
  }
}

describe("a random request with one key that its dialect does not know", () => {
  it.prop("is refused by the name of that key, in OpenAI's dialect", [Request, whole(0, 100)], ([given, place]) => {
    const { request, path } = withKeyAt(openAi(given, false), place)
    assert.strictEqual(judges.strict.refusalOf(request)?.message, `Unknown parameter: '${pathOf(path)}'.`)
  })

  it.prop("is refused by the name of that key, in Anthropic's", [Request, whole(0, 100)], ([given, place]) => {
    const { request, path } = withKeyAt(anthropic(given), place)
    const named = path[0] === "tools" ? "tools.0.custom.odd" : path.join(".")
    assert.strictEqual(judges["strict-claude"].refusalOf(request)?.message, `${named}: Extra inputs are not permitted`)
  })
})

describe("a random request that keeps the rules", () => {
  it.prop("is taken by a model with OpenAI's", [Request], ([request]) => {
    assert.isUndefined(judges.strict.refusalOf(openAi(request, false)))
  })

  it.prop("is taken by one that always thinks", [Request], ([request]) => {
    assert.isUndefined(judges.reasoner.refusalOf(openAi(request, true)))
  })

  it.prop("is taken by one with Anthropic's", [Request], ([request]) => {
    const headers = { "anthropic-version": "2023-06-01" }
    assert.isUndefined(judges["strict-claude"].refusalOf(anthropic(request), headers))
  })
})
