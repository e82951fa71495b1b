import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../../../dev/upstream/json.ts"
import { judges } from "../../../../dev/upstream/strict/judges.ts"

const user = { role: "user", content: "hello" }
const chat = (more: Json = {}) => ({ model: "demo/reasoner", messages: [user], ...more })
const said = (...messages: ReadonlyArray<Json>) => chat({ messages: [user, ...messages] })
const tool_calls = [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }]
const result = { role: "tool", tool_call_id: "a", content: "a bird" }
const calling = (more: Json = {}) => ({ role: "assistant", content: "", tool_calls, ...more })

const thoughts = "The `reasoning_content` in the thinking mode must be passed back to the API."
const failed = "Failed to deserialize the JSON body into the target type:"

const rows: ReadonlyArray<readonly [what: string, passes: Json, refused: Json, message: string]> = [
  [
    "calls without their thought",
    said(calling({ reasoning_content: "so" }), result),
    said(calling(), result),
    thoughts
  ],
  [
    "calls without their thought, unless it is told not to think",
    { ...said(calling(), result), thinking: { type: "disabled" } },
    { ...said(calling(), result), thinking: { type: "enabled" } },
    thoughts
  ],
  [
    "calls with an empty thought",
    said(calling({ reasoning_content: "so" }), result),
    said(calling({ reasoning_content: "" }), result),
    thoughts
  ],
  [
    "the role developer",
    said({ role: "system", content: "a" }),
    said({ role: "developer", content: "a" }),
    `${failed} messages[1].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``
  ],
  [
    "pictures",
    said({ role: "user", content: [{ type: "text", text: "a" }] }),
    said({ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] }),
    `${failed} messages[1].content[0]: unknown variant \`image_url\`, expected \`text\``
  ],
  [
    "max_tokens",
    chat({ max_completion_tokens: 9 }),
    chat({ max_tokens: 9 }),
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
  ],
  ["logprobs", chat({ logprobs: false }), chat({ logprobs: true }), "This model does not support logprobs"],
  ["top_logprobs", chat({ top_logprobs: 0 }), chat({ top_logprobs: 2 }), "This model does not support top_logprobs"],
  ["keys that it does not know", chat({ top_p: 1 }), chat({ top_k: 1 }), "Unknown parameter: 'top_k'."]
]

describe("a model that always thinks", () => {
  it.each(rows)("refuses %s, and not their neighbour", (_what, passes, refused, message) => {
    assert.isUndefined(judges.reasoner.refusalOf(passes))
    assert.strictEqual(judges.reasoner.refusalOf(refused)?.message, message)
  })

  it("wants no thought back from before the user's last message", () => {
    assert.isUndefined(judges.reasoner.refusalOf(said(calling(), result, user)))
  })

  it("ignores how it is to sample, at any value", () => {
    const sampling = { temperature: 9, top_p: 9, presence_penalty: 9, frequency_penalty: -9 }
    assert.isUndefined(judges.reasoner.refusalOf(chat(sampling)))
  })

  it("names a public page for each rule", () => {
    for (const { refuses, source } of judges.reasoner.rules) assert.match(source.url, /^https:\/\//u, refuses)
  })
})
