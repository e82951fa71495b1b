import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { AnswerPlan } from "../../../../dev/upstream/answer-plan.ts"
import { messageAnswer, messageEvents } from "../../../../dev/upstream/anthropic-shapes.ts"
import { chatAnswer, chatChunks } from "../../../../dev/upstream/openai-shapes.ts"
import {
  type AnswerShape,
  streamTranslator,
  wholeAnswer
} from "../../../../services/model-gateway/answers/translation.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"

const shapeOf = (dialect: AnswerShape["dialect"]): AnswerShape => ({
  dialect,
  model: "demo/x",
  request: {},
  includesUsage: true,
  inputTokens: 5,
  nowSeconds: 1
})

/** All that a provider would send, put through. */
const streamed = (dialect: AnswerShape["dialect"], kind: "openai" | "anthropic", plan: AnswerPlan) => {
  const translator = streamTranslator(shapeOf(dialect), kind)
  const events = kind === "openai" ? chatChunks(plan, true) : messageEvents(plan)
  return [...events.flatMap((event) => translator.push(event as JsonObject)), ...translator.end()]
}

const whole = (dialect: AnswerShape["dialect"], kind: "openai" | "anthropic", plan: AnswerPlan) =>
  Result.getOrThrow(
    wholeAnswer(shapeOf(dialect), kind, (kind === "openai" ? chatAnswer(plan) : messageAnswer(plan)) as JsonObject)
  )

interface Loose {
  readonly [key: string]: Loose & string & number & ReadonlyArray<Loose>
}

/** A message from its events, as Anthropic's client puts it together. */
const messageOf = (events: ReadonlyArray<JsonObject>) => {
  const blocks: Array<Record<string, unknown>> = []
  let reason: unknown
  let usage: unknown
  for (const event of events as unknown as ReadonlyArray<Loose>) {
    if (event["type"] === "content_block_start") {
      assert.strictEqual(event["index"], blocks.length)
      blocks.push({ ...(event["content_block"] as unknown as object), json: "" })
    }
    const block = blocks[event["index"] ?? -1]
    const delta = event["delta"] as unknown as Loose
    if (event["type"] === "content_block_delta" && block !== undefined) {
      for (const key of ["text", "thinking", "signature"])
        if (key in delta) block[key] = `${String(block[key])}${String(delta[key])}`
      if ("partial_json" in delta) block["json"] = `${String(block["json"])}${String(delta["partial_json"])}`
    }
    if (event["type"] === "message_delta") [reason, usage] = [delta["stop_reason"], event["usage"]]
  }
  const content = blocks.map(({ json, ...block }) =>
    json === "" ? block : { ...block, input: JSON.parse(String(json)) as unknown }
  )
  return { content, reason, usage }
}

/** A message from its chunks, as OpenAI's client puts it together. */
const completionOf = (chunks: ReadonlyArray<JsonObject>) => {
  let [text, thought, input, reason, usage] = ["", "", "", undefined as unknown, undefined as unknown]
  let name: unknown
  for (const chunk of chunks as unknown as ReadonlyArray<Loose>) {
    const [choice] = chunk["choices"] as unknown as ReadonlyArray<Loose>
    const delta = (choice?.["delta"] ?? {}) as Loose
    text += delta["content"] ?? ""
    thought += delta["reasoning_content"] ?? ""
    const call = delta["tool_calls"]?.[0]?.["function"]
    name = call?.["name"] ?? name
    input += call?.["arguments"] ?? ""
    reason = choice?.["finish_reason"] ?? reason
    usage = chunk["usage"] ?? usage
  }
  return { text, thought, input, name, reason, usage }
}

const Plan = Schema.Struct({
  pieces: Schema.Array(Schema.String.check(Schema.isMinLength(1))).check(Schema.isBetweenLength(1, 8)),
  thought: Schema.String,
  usesTool: Schema.Boolean,
  input: Schema.Record(Schema.String, Schema.String),
  reason: Schema.Literals(["stop", "length", "content_filter"]),
  inputTokens: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_999 })),
  outputTokens: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_999 }))
})

/**
 * Once V8 has read a key that is a backslash, `JSON.parse` takes other keys that are one escape for the same one
 * (nodejs/node#63785). With a letter before, and no backslash, no key is one that it might have read.
 */
const withoutBackslash = (input: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(input).map(([key, value]) => [`k${key.replaceAll("\\", "")}`, value]))

const planOf = ({ usesTool, input, ...plan }: Schema.Schema.Type<typeof Plan>): AnswerPlan => ({
  ...plan,
  id: "7",
  model: "echo-1",
  pieces: usesTool ? [] : plan.pieces,
  tools: usesTool ? [{ id: "call_7", name: "look", input: JSON.stringify(withoutBackslash(input)) }] : [],
  hidesThought: false,
  deltas: "in turn",
  reason: usesTool ? "tool_calls" : plan.reason,
  showsUsage: true
})

describe("a streamed answer", () => {
  it.prop("equals the whole one in Anthropic's format, from any provider", [Plan], ([given]) => {
    const plan = planOf(given)
    for (const kind of ["openai", "anthropic"] as const) {
      const events = streamed("messages", kind, plan)
      assert.deepStrictEqual([events[0]?.["type"], events.at(-1)?.["type"]], ["message_start", "message_stop"])
      const message = whole("messages", kind, plan) as unknown as Loose
      const put = messageOf(events)
      assert.deepStrictEqual(put.content, message["content"] as never)
      assert.strictEqual(put.reason, message["stop_reason"])
      assert.strictEqual((put.usage as Loose)["output_tokens"], plan.outputTokens as never)
    }
  })

  it.prop("equals the whole one in OpenAI's format, from any provider", [Plan], ([given]) => {
    const plan = planOf(given)
    for (const kind of ["openai", "anthropic"] as const) {
      const put = completionOf(streamed("chat", kind, plan))
      assert.strictEqual(put.text, plan.pieces.join(""))
      assert.strictEqual(put.thought, plan.thought)
      assert.strictEqual(put.reason, plan.reason)
      for (const { input } of plan.tools) assert.deepStrictEqual(JSON.parse(put.input), JSON.parse(input))
      const expected = { prompt_tokens: plan.inputTokens, completion_tokens: plan.outputTokens }
      assert.deepInclude(put.usage as object, expected)
      assert.deepInclude((whole("chat", kind, plan) as { usage: object }).usage, expected)
    }
  })

  it.prop("ends with the whole one in the responses format, and numbers its events", [Plan], ([given]) => {
    const plan = planOf(given)
    for (const kind of ["openai", "anthropic"] as const) {
      const events = streamed("responses", kind, plan)
      assert.deepStrictEqual(
        events.map((event) => event["sequence_number"]),
        events.map((_, at) => at)
      )
      const last = events.at(-1) as {
        type: string
        response: { output: ReadonlyArray<JsonObject>; status: string; usage: object }
      }
      const expected = whole("responses", kind, plan) as unknown as typeof last.response
      assert.deepStrictEqual(last.response, expected)
      assert.strictEqual(last.type, `response.${expected.status}`)
    }
  })

  it("contains only the caller's name for the model", () => {
    const plan = planOf({
      pieces: ["a"],
      thought: "",
      usesTool: false,
      input: {},
      reason: "stop",
      inputTokens: 1,
      outputTokens: 1
    })
    for (const dialect of ["chat", "messages", "responses"] as const) {
      for (const kind of ["openai", "anthropic"] as const) {
        const all = JSON.stringify([streamed(dialect, kind, plan), whole(dialect, kind, plan)])
        assert.notInclude(all, "echo-1", `${dialect} ${kind}`)
        assert.include(all, "demo/x")
      }
    }
  })
})
