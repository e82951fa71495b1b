import { assert, describe, it } from "@effect/vitest"
import { planOf } from "../../../dev/upstream/answer-plan.ts"
import { askedOf } from "../../../dev/upstream/conversation.ts"
import type { Json } from "../../../dev/upstream/json.ts"
import { chatAnswer, chatChunks } from "../../../dev/upstream/openai-shapes.ts"
import { orderOf } from "../../../dev/upstream/orders.ts"

const word = { type: "object", properties: { word: { type: "string", minLength: 2 } }, required: ["word"] }
const chatTool = (name: string) => ({ type: "function", function: { name, parameters: word } })
const tools = [chatTool("look"), chatTool("see")]
const user = (content: unknown) => ({ role: "user", content })
const calling = (...ids: ReadonlyArray<string>) => ({
  role: "assistant",
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "look", arguments: "{}" } }))
})
const result = (id: string, content: unknown) => ({ role: "tool", tool_call_id: id, content })

const plan = (request: Json) => {
  const asked = askedOf(request)
  return planOf(asked, orderOf(asked.message), 1)
}
const text = (request: Json) => plan(request).pieces.join("")
const calls = (request: Json) => plan(request).tools.map(({ name, input }) => [name, JSON.parse(input) as unknown])
const forced = (tool_choice: unknown, more: Json = {}) => ({ messages: [user("hello")], tools, tool_choice, ...more })

describe("a tool that has to be called", () => {
  const claude = [{ name: "look", input_schema: word }]
  it.each([
    ["the first one, for OpenAI's required", forced("required"), "look"],
    ["the named one", forced({ type: "function", function: { name: "see" } }), "see"],
    [
      "the first one of those allowed",
      forced({ type: "allowed_tools", allowed_tools: { mode: "required", tools: [chatTool("see")] } }),
      "see"
    ],
    ["the first one, for Anthropic's any", forced({ type: "any" }, { tools: claude }), "look"],
    ["the named one of Anthropic's shape", forced({ type: "tool", name: "look" }, { tools: claude }), "look"]
  ])("is called with the least that its schema allows: %s", (_what, request, name) => {
    assert.deepStrictEqual(calls(request), [[name, { word: "xx" }]])
  })

  it("is the one that the user names, where any may be called", () => {
    const messages = [user('!use see {"word":"gate"}')]
    assert.deepStrictEqual(calls(forced("required", { messages })), [["see", { word: "gate" }]])
  })

  it("takes any text where it is a custom one", () => {
    const custom = { type: "custom", custom: { name: "patch" } }
    const request = { messages: [user("!use patch *** Begin")], tools: [custom], tool_choice: custom }
    const tool = { id: "call_1", name: "patch", input: "*** Begin", isCustom: true as const }
    assert.deepStrictEqual(plan(request).tools, [tool])
    const [choice] = chatAnswer(plan(request)).choices
    assert.deepStrictEqual(choice?.message.tool_calls, [
      { id: "call_1", type: "custom", custom: { name: "patch", input: "*** Begin" } }
    ])
  })

  it("is none where none may be called", () => {
    assert.deepStrictEqual(calls({ messages: [user("!calls 2")], tools, tool_choice: "none" }), [])
  })
})

describe("a form that was asked for", () => {
  const schema = { type: "object", properties: { count: { type: "integer", minimum: 3 } }, required: ["count"] }
  it.each([
    ["OpenAI's schema", { response_format: { type: "json_schema", json_schema: { name: "a", schema } } }, { count: 3 }],
    ["Anthropic's schema", { output_config: { format: { type: "json_schema", schema } } }, { count: 3 }],
    ["any JSON", { response_format: { type: "json_object" } }, { text: "hello" }]
  ])("is the answer's: %s", (_what, more, value) => {
    assert.deepStrictEqual(JSON.parse(text({ messages: [user("hello")], ...more })), value)
  })

  it("is one that was told, where any JSON is asked for", () => {
    const told = { role: "system", content: `Answer by this JSON schema:\n${JSON.stringify(schema)}` }
    const any = { response_format: { type: "json_object" } }
    assert.deepStrictEqual(JSON.parse(text({ messages: [told, user("hello")], ...any })), { count: 3 })
    const other = { role: "system", content: "Answer by this JSON schema:\nnone" }
    assert.deepStrictEqual(JSON.parse(text({ messages: [other, user("hello")], ...any })), { text: "hello" })
  })
})

describe("an order to call tools", () => {
  it("calls as many as it says, with the least that their schemas allow", () => {
    const least = { word: "xx" }
    assert.deepStrictEqual(calls({ messages: [user("!calls 3")], tools }), [
      ["look", least],
      ["see", least],
      ["look", least]
    ])
  })

  it("calls one where the request wants no two at once", () => {
    assert.lengthOf(calls({ messages: [user("!calls 2")], tools, parallel_tool_calls: false }), 1)
    const choice = { type: "auto", disable_parallel_tool_use: true }
    assert.lengthOf(calls({ messages: [user("!calls 2")], tools, tool_choice: choice }), 1)
  })

  it("is carried out once, and then its results are told", () => {
    for (const order of ["!calls 2", "!tool look", "!interleaved", "!unindexed"]) {
      const messages = [
        user(order),
        calling("a", "b"),
        result("a", "a bird"),
        result("b", [{ type: "text", text: "a gate" }])
      ]
      assert.deepStrictEqual([calls({ messages, tools }), text({ messages, tools })], [[], "a bird\na gate"])
    }
  })

  it("tells of a result without anything in it, too", () => {
    assert.strictEqual(text({ messages: [user("!tool look"), calling("a"), result("a", "")] }), "[nothing]")
  })

  it("calls those named in any line of what an agent was told, step by step", () => {
    const task = 'My task:\n  !use look {"word":"gate"}\n!use see\n!then\n!use shell {"command":"date"}\nBe quick.'
    const first = [
      user([
        { type: "text", text: "a note" },
        { type: "text", text: task }
      ])
    ]
    assert.deepStrictEqual(calls({ messages: first, tools }), [
      ["look", { word: "gate" }],
      ["see", { word: "xx" }]
    ])
    const second = [...first, calling("a", "b"), result("a", "1"), result("b", "2")]
    assert.deepStrictEqual(calls({ messages: second, tools }), [["shell", { command: "date" }]])
    const third = [...second, calling("c"), result("c", "Monday")]
    assert.deepStrictEqual([calls({ messages: third, tools }), text({ messages: third, tools })], [[], "Monday"])
  })

  it("calls none of a request without tools, as one for a summary is", () => {
    assert.deepStrictEqual(calls({ messages: [user("Sum it up:\n!use look {}")] }), [])
  })

  it("is none of an agent's notes beside results in Anthropic's shape", () => {
    const asked = [
      user([
        { type: "text", text: "<note>" },
        { type: "text", text: "!use look {}" }
      ]),
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "look", input: {} }] }
    ]
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
    const content = [{ type: "text", text: "a bird" }, picture]
    const answer = user([
      { type: "tool_result", tool_use_id: "a", content },
      { type: "text", text: "<note>" }
    ])
    assert.strictEqual(text({ messages: [...asked, answer] }), "a bird\n[image]")
    const said = user([
      { type: "tool_result", tool_use_id: "a", content },
      { type: "text", text: "thanks" }
    ])
    assert.strictEqual(text({ messages: [...asked, said] }), "thanks")
  })

  it("continues after results whose picture, or a note on them, comes in a message of its own", () => {
    const picture = user([{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }])
    const messages = [user("!use look {}"), calling("a"), result("a", "see below"), picture]
    assert.strictEqual(text({ messages, tools }), "see below")
    assert.strictEqual(text({ messages: [...messages, user("<note>none</note>")], tools }), "see below")
  })
})

describe("the deltas of two calls", () => {
  const deltas = (order: string) => {
    const chunks = chatChunks(plan({ messages: [user(order)], tools }), false) as ReadonlyArray<{
      readonly choices: ReadonlyArray<{
        readonly delta: { readonly tool_calls?: ReadonlyArray<{ readonly index?: number }> }
      }>
    }>
    return chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
  }

  it("come call by call, turn and turn about, or without a place", () => {
    const places = (order: string) => deltas(order).map(({ index }) => index)
    assert.deepStrictEqual(places("!calls 2"), [0, 0, 0, 1, 1, 1])
    assert.deepStrictEqual(places("!interleaved"), [0, 1, 0, 1, 0, 1])
    assert.deepStrictEqual(places("!unindexed"), [undefined, undefined, undefined, undefined, undefined, undefined])
  })
})
