import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { ApiDialect } from "../../../../services/model-gateway/conversation/Conversation.ts"
import type { Takes } from "../../../../services/model-gateway/conversation/Written.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { sealThought, unsealed } from "../../../../services/model-gateway/translate/sealed-thought.ts"
import { written } from "../../../support/conversations.ts"

const strict: Takes = { parameters: "openai", thoughts: "none" }
const claude = { to: "anthropic" } as const
const openai = { to: "openai", takes: strict } as const
const reasoner = { to: "openai" } as const

const got = (dialect: ApiDialect, request: JsonObject, to: Parameters<typeof written>[2]) =>
  Result.getOrThrow(written(dialect, request, to))
const bodyOf = (...of: Parameters<typeof got>) => got(...of).body
const messagesOf = (...of: Parameters<typeof got>) => bodyOf(...of)["messages"]
const refusedParam = (dialect: ApiDialect, request: JsonObject, to: Parameters<typeof written>[2]) => {
  const made = written(dialect, request, to)
  return Result.isFailure(made) ? made.failure.param : "written"
}

const chatCall = [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }]
  }
]
const pdf = { type: "base64", media_type: "application/pdf", data: "JVBE" }
const png = { type: "base64", media_type: "image/png", data: "AA==" }
const use = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: { path: "a" } }] }
const hello = { messages: [{ role: "user", content: "hello" }] }

describe("what a tool gave back", () => {
  it("is told as an error where it is one, to every provider", () => {
    const result = { type: "tool_result", tool_use_id: "t1", content: "no such file" }
    const toolOf = (isError: boolean, to: Parameters<typeof written>[2]) =>
      (
        messagesOf(
          "messages",
          { messages: [use, { role: "user", content: [{ ...result, is_error: isError }] }] },
          to
        ) as ReadonlyArray<JsonObject>
      )[1]
    assert.deepInclude(toolOf(true, openai), { role: "tool", content: "Error: no such file" })
    assert.deepInclude(toolOf(false, openai), { role: "tool", content: "no such file" })
    assert.include(JSON.stringify(toolOf(true, claude)), '"is_error":true')
    assert.notInclude(JSON.stringify(toolOf(false, claude)), "is_error")
  })

  it("reaches a provider whose results hold text alone: texts in the result, pictures and files in the turn after it", () => {
    const result = {
      type: "tool_result",
      tool_use_id: "t1",
      content: [
        { type: "text", text: "two files" },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "a note" }, title: "note" },
        {
          type: "search_result",
          title: "Birds",
          source: "https://b.example",
          content: [{ type: "text", text: "sing" }]
        },
        { type: "document", source: pdf, title: "a.pdf" },
        { type: "image", source: png }
      ]
    }
    assert.deepStrictEqual(messagesOf("messages", { messages: [use, { role: "user", content: [result] }] }, openai), [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "t1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }]
      },
      { role: "tool", tool_call_id: "t1", content: "two files\nnote\na note\nBirds\nhttps://b.example\nsing" },
      {
        role: "user",
        content: [
          { type: "text", text: "Result of the tool call t1:" },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBE" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }
        ]
      }
    ])
  })

  it("is written whole in responses' dialect too, and as what it is to Anthropic", () => {
    const request = {
      input: [
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "c1",
          output: [
            { type: "input_text", text: "seen" },
            { type: "input_image", image_url: "data:image/png;base64,AA==" },
            { type: "input_file", filename: "a.pdf", file_data: "JVBE" }
          ]
        }
      ]
    }
    const [, result, shown] = messagesOf("responses", request, openai) as ReadonlyArray<JsonObject>
    assert.deepStrictEqual(result, { role: "tool", tool_call_id: "c1", content: "seen" })
    assert.lengthOf(shown?.["content"] as ReadonlyArray<unknown>, 3)
    const [, turn] = messagesOf("responses", request, claude) as ReadonlyArray<JsonObject>
    assert.deepStrictEqual(turn?.["content"], [
      {
        type: "tool_result",
        tool_use_id: "c1",
        content: [
          { type: "text", text: "seen" },
          { type: "image", source: png },
          { type: "document", source: pdf, title: "a.pdf" }
        ]
      }
    ])
  })

  it("is shown in the turn after it wherever it is nested, and priced as what stands there", () => {
    const found = {
      type: "search_result",
      title: "t",
      source: "s",
      content: [
        { type: "image", source: png },
        { type: "text", text: "x" }
      ]
    }
    const result = { type: "tool_result", tool_use_id: "t1", content: [found] }
    const { body, files } = got("messages", { messages: [use, { role: "user", content: [result] }] }, openai)
    const [, said, shown] = body["messages"] as ReadonlyArray<JsonObject>
    assert.deepInclude(said, { role: "tool", content: "t\ns\nx" })
    assert.deepStrictEqual(((shown ?? {})["content"] as ReadonlyArray<unknown>)[1], {
      type: "image_url",
      image_url: { url: "data:image/png;base64,AA==" }
    })
    assert.lengthOf(files, 1)
    const strange = { type: "zz", words: "kept" }
    const chat = { messages: [...chatCall, { role: "tool", tool_call_id: "c1", content: [strange] }] }
    assert.include(JSON.stringify(bodyOf("chat", chat, openai)), "kept")
    assert.strictEqual(refusedParam("chat", chat, claude), "messages[1].content[0]")
  })

  it("stands before what the user says, for Anthropic refuses it after", () => {
    const request = {
      messages: [
        use,
        {
          role: "user",
          content: [
            { type: "text", text: "so?" },
            { type: "tool_result", tool_use_id: "t1", content: "x" }
          ]
        }
      ]
    }
    const [, turn] = messagesOf("messages", request, claude) as ReadonlyArray<{
      readonly content: ReadonlyArray<JsonObject>
    }>
    assert.deepStrictEqual(
      turn?.content.map(({ type }) => type),
      ["tool_result", "text"]
    )
  })
})

describe("a thought", () => {
  const called = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } }
  const answered = { role: "tool", tool_call_id: "c1", content: "x" }
  const chat = (message: JsonObject) => ({
    reasoning_effort: "medium",
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [called], ...message },
      answered
    ]
  })
  const firstBlock = (body: JsonObject) =>
    (body["messages"] as ReadonlyArray<{ readonly content: ReadonlyArray<JsonObject> }>)[1]?.content[0]

  it("goes back to Claude with its seal, in every dialect", () => {
    const block = { type: "thinking", thinking: "hm", signature: "sig" }
    const details = chat({ reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "sig" }] })
    const messages = {
      thinking: { type: "enabled", budget_tokens: 2_000 },
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [block, ...use.content] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x" }] }
      ]
    }
    const responses = {
      reasoning: { effort: "medium" },
      input: [
        { role: "user", content: "go" },
        {
          type: "reasoning",
          summary: [],
          encrypted_content: sealThought({ _tag: "Signed", text: "hm", signature: "sig" })
        },
        { type: "function_call", call_id: "c1", name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "x" }
      ]
    }
    for (const [dialect, request] of [
      ["chat", details],
      ["messages", messages],
      ["responses", responses]
    ] as const) {
      const body = bodyOf(dialect, request, claude)
      assert.deepStrictEqual(firstBlock(body), block)
      assert.deepInclude(body["thinking"], { type: "enabled" })
    }
  })

  it("that Claude gave only in its sealed form goes back in it", () => {
    const sealed = chat({ reasoning_details: [{ type: "reasoning.encrypted", data: "opaque" }] })
    assert.deepStrictEqual(firstBlock(bodyOf("chat", sealed, claude)), { type: "redacted_thinking", data: "opaque" })
  })

  it("that the caller did not send back is not asked for in that turn, where Claude would refuse it", () => {
    for (const message of [{}, { reasoning_content: "unsealed" }]) {
      const { body, leftOut } = got("chat", chat(message), claude)
      assert.notProperty(body, "thinking")
      assert.deepStrictEqual(leftOut, ["reasoning_effort"])
    }
    assert.property(bodyOf("chat", { ...hello, reasoning_effort: "medium" }, claude), "thinking")
  })

  it("goes back to a reasoner as its `reasoning_content`, in every dialect, and is never missing beside a call", () => {
    const messages = {
      messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "" }, ...use.content] }]
    }
    const responses = {
      input: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
        { type: "function_call", call_id: "c1", name: "read", arguments: "{}" }
      ]
    }
    const assistants = [
      (messagesOf("chat", chat({ reasoning_content: "hm" }), reasoner) as ReadonlyArray<JsonObject>)[1],
      (messagesOf("messages", messages, reasoner) as ReadonlyArray<JsonObject>)[0],
      (messagesOf("responses", responses, reasoner) as ReadonlyArray<JsonObject>)[0]
    ]
    for (const assistant of assistants) assert.deepInclude(assistant, { reasoning_content: "hm" })
    const without = messagesOf("chat", chat({}), reasoner) as ReadonlyArray<JsonObject>
    assert.deepInclude(without[1], { reasoning_content: "" })
  })

  it("that is missing beside a call turns a model's thinking off, where it would refuse the turn", () => {
    const required = { to: "openai", takes: { parameters: "common", thoughts: "required" } } as const
    assert.deepInclude(bodyOf("chat", chat({}), required), { thinking: { type: "disabled" } })
    assert.notProperty(bodyOf("chat", chat({ reasoning_content: "hm" }), required), "thinking")
    const later = { messages: [...chat({}).messages, { role: "user", content: "and now?" }] }
    assert.notProperty(bodyOf("chat", later, required), "thinking")
  })

  it("without a seal is one all the same where its model wants it back, and none where Claude would refuse it", () => {
    const block = { type: "thinking", thinking: "hm", signature: unsealed }
    const messages = { messages: [{ role: "assistant", content: [block, ...use.content] }] }
    assert.include(JSON.stringify(bodyOf("messages", messages, reasoner)), '"reasoning_content":"hm"')
    assert.notInclude(JSON.stringify(bodyOf("messages", messages, claude)), "thinking")
    const plain = sealThought({ _tag: "Plain", text: "hm" })
    const input = [
      { type: "reasoning", summary: [], encrypted_content: plain },
      { type: "function_call", call_id: "c1", name: "read", arguments: "{}" }
    ]
    assert.include(JSON.stringify(bodyOf("responses", { input }, reasoner)), '"reasoning_content":"hm"')
  })

  it("that is named by its id alone is left out, for nobody kept it", () => {
    const input = [
      { role: "user", content: "x" },
      { type: "item_reference", id: "rs_1" }
    ]
    assert.deepStrictEqual(messagesOf("responses", { input }, openai), [{ role: "user", content: "x" }])
  })

  it("is not given to a provider that wants none", () => {
    assert.notInclude(JSON.stringify(bodyOf("chat", chat({ reasoning_content: "hm" }), openai)), "reasoning_content")
  })

  it("leaves its room for the answer, its own temperature and a free choice of tools", () => {
    const effort = { ...hello, reasoning_effort: "high" }
    assert.deepInclude(bodyOf("chat", effort, { ...claude, outputTokens: 3_000 }), {
      thinking: { type: "enabled", budget_tokens: 2_999 }
    })
    assert.notProperty(bodyOf("chat", effort, { ...claude, outputTokens: 1_000 }), "thinking")
    const warm = got("chat", { ...effort, temperature: 0.2 }, claude)
    assert.notProperty(warm.body, "temperature")
    assert.deepStrictEqual(warm.leftOut, ["temperature"])
    const tools = [{ type: "function", function: { name: "read" } }]
    for (const unknown of ["bogus", "constructor"]) {
      assert.notProperty(bodyOf("chat", { ...hello, reasoning_effort: unknown }, claude), "thinking")
    }
    assert.notProperty(bodyOf("chat", { ...effort, tools, tool_choice: "required" }, claude), "thinking")
    const budget = { ...hello, thinking: { type: "enabled", budget_tokens: 60_000, display: "summarized" } }
    assert.deepInclude(bodyOf("messages", budget, { ...claude, outputTokens: 2_000 }), {
      thinking: { type: "enabled", budget_tokens: 1_999, display: "summarized" }
    })
  })
})

describe("a key", () => {
  it.each<readonly [ApiDialect, JsonObject, ReadonlyArray<string>]>([
    [
      "messages",
      { context_management: { edits: [{}] }, diagnostics: { x: 1 }, top_k: 5 },
      ["top_k", "context_management", "diagnostics"]
    ],
    ["responses", { client_metadata: { a: "b" } }, ["client_metadata"]],
    ["chat", { chat_id: "x", min_p: 0.1 }, ["chat_id", "min_p"]],
    [
      "chat",
      { messages: [{ role: "user", content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }] }] },
      ["cache_control"]
    ]
  ])("that OpenAI refuses is left out and named: %s %j", (dialect, keys, leftOut) => {
    const { body, leftOut: left } = got(
      dialect,
      { ...(dialect === "responses" ? { input: "x" } : hello), ...keys },
      openai
    )
    assert.sameMembers([...left], [...leftOut])
    for (const key of leftOut) assert.notInclude(JSON.stringify(body), `"${key}"`)
  })

  it.each([
    { frequency_penalty: 0 },
    { presence_penalty: 0 },
    { logprobs: false },
    { top_logprobs: null },
    { logit_bias: {} },
    { functions: [] },
    { metadata: null },
    { repetition_penalty: 1 }
  ])("by which a caller asks for nothing is neither written to Claude nor named: %j", (nothing) => {
    const { body, leftOut } = got("chat", { ...hello, ...nothing }, claude)
    assert.deepStrictEqual(leftOut, [])
    assert.sameMembers(Object.keys(body), ["messages", "max_tokens"])
  })

  it("whose absence would change the answer is refused by name", () => {
    assert.strictEqual(refusedParam("chat", { ...hello, logit_bias: { 1: 5 } }, claude), "logit_bias")
    assert.strictEqual(refusedParam("chat", { ...hello, frequency_penalty: 0.5 }, claude), "frequency_penalty")
    assert.strictEqual(refusedParam("chat", { ...hello, n: 2 }, claude), "n")
  })

  it("that Claude cannot be given in this way is left out and named", () => {
    const { body, leftOut } = got("chat", { ...hello, stop: ["\n", "END"], seed: 7, temperature: 1.5 }, claude)
    assert.deepInclude(body, { stop_sequences: ["END"], temperature: 1 })
    assert.sameMembers([...leftOut], ["seed", "stop", "temperature"])
  })

  it("for the caller's own user is short enough for every provider, and the same each time", () => {
    const user = "user_" + "x".repeat(145)
    const first = bodyOf("messages", { ...hello, metadata: { user_id: user } }, openai)["user"]
    assert.strictEqual(String(first).length, 64)
    assert.strictEqual(bodyOf("messages", { ...hello, metadata: { user_id: user } }, openai)["user"], first)
    assert.strictEqual(bodyOf("chat", { ...hello, user: "u1" }, openai)["user"], "u1")
  })

  it("that not every server of OpenAI's API knows is kept from one that knows the common ones alone", () => {
    const schema = { type: "object", properties: { a: {} } }
    const tools = [{ type: "function", function: { name: "read" } }]
    const request = {
      ...hello,
      user: "u",
      prompt_cache_key: "k",
      parallel_tool_calls: false,
      tools,
      presence_penalty: 0.5,
      response_format: { type: "json_schema", json_schema: { name: "x", schema } }
    }
    const common = { to: "openai", takes: { parameters: "common", thoughts: "reasoning_content" } } as const
    const { body, leftOut } = got("chat", request, common)
    assert.sameMembers([...leftOut], ["user", "prompt_cache_key", "parallel_tool_calls"])
    assert.deepInclude(body, { response_format: { type: "json_object" }, presence_penalty: 0.5, tools })
    assert.include(JSON.stringify(body["messages"]), JSON.stringify(JSON.stringify(schema)).slice(1, -1))
  })

  it("for the form of an answer is carried in both directions", () => {
    const schema = { type: "object", properties: {}, additionalProperties: false }
    const asked = { ...hello, output_config: { effort: "high", format: { type: "json_schema", schema } } }
    assert.deepInclude(bodyOf("messages", asked, openai), {
      response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
      reasoning_effort: "high"
    })
    const beta = { ...hello, output_format: { type: "json_schema", schema } }
    assert.property(bodyOf("messages", beta, openai), "response_format")
    const chat = { ...hello, response_format: { type: "json_schema", json_schema: { name: "x", schema } } }
    assert.deepInclude(bodyOf("chat", chat, claude), { output_config: { format: { type: "json_schema", schema } } })
    assert.include(
      String(bodyOf("chat", { ...hello, response_format: { type: "json_object" } }, claude)["system"]),
      "JSON"
    )
  })
})

describe("an answer that is to be gone on with", () => {
  it("ends without white space, which Claude refuses", () => {
    const request = (content: string) => ({ messages: [...hello.messages, { role: "assistant", content }] })
    const last = (content: string) => (messagesOf("chat", request(content), claude) as ReadonlyArray<JsonObject>).at(-1)
    assert.deepStrictEqual(last("It is \n"), { role: "assistant", content: "It is" })
    assert.deepStrictEqual(last(" \n"), { role: "user", content: "hello" })
    const middle = [...request("It is \n").messages, { role: "user", content: "so?" }]
    assert.include(JSON.stringify(messagesOf("chat", { messages: middle }, claude)), "It is \\n")
  })
})

describe("instructions", () => {
  it("of a developer are the system's", () => {
    const request = {
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "x" }
      ]
    }
    assert.deepInclude((messagesOf("chat", request, openai) as ReadonlyArray<JsonObject>)[0], { role: "system" })
    assert.deepInclude(bodyOf("chat", request, claude), { system: "Be brief." })
    const responses = {
      instructions: "A",
      input: [
        { role: "developer", content: "B" },
        { role: "user", content: "x" }
      ]
    }
    assert.deepInclude(bodyOf("responses", responses, claude), { system: "A\nB" })
  })

  it("keep their marks for the cache, and those of tools", () => {
    const cache_control = { type: "ephemeral" }
    const request = {
      messages: [
        { role: "system", content: [{ type: "text", text: "Long.", cache_control }] },
        { role: "user", content: "x" }
      ],
      tools: [{ type: "function", function: { name: "read" }, cache_control }]
    }
    assert.deepInclude(bodyOf("chat", request, claude), {
      system: [{ type: "text", text: "Long.", cache_control }],
      tools: [{ name: "read", input_schema: { type: "object", properties: {} }, cache_control }]
    })
    const kept = bodyOf("chat", request, reasoner)
    assert.include(JSON.stringify(kept["tools"]), "cache_control")
    assert.include(JSON.stringify(kept["messages"]), "cache_control")
  })
})

describe("an agent's tools", () => {
  const tools = [
    { type: "function", name: "plain", parameters: { type: "object" } },
    {
      type: "namespace",
      name: "mcp",
      description: "x",
      tools: [{ type: "function", name: "list", parameters: { type: "object" } }]
    },
    {
      type: "custom",
      name: "apply_patch",
      description: "Patches.",
      format: { type: "grammar", syntax: "lark", definition: "start: x" }
    },
    { type: "local_shell" },
    { type: "shell" },
    { type: "tool_search", execution: "client", description: "Finds tools.", parameters: { type: "object" } }
  ]
  const names = ["plain", "mcp__list", "apply_patch", "local_shell", "shell", "tool_search"]

  it("are functions for every provider, a group's under both names", () => {
    const chat = bodyOf("responses", { input: "x", tools }, openai)["tools"] as ReadonlyArray<{
      readonly function: JsonObject
    }>
    assert.deepStrictEqual(
      chat.map((tool) => tool.function["name"]),
      names
    )
    assert.include(String(chat[2]?.function["description"]), "start: x")
    assert.deepInclude(chat[2]?.function["parameters"], { required: ["input"] })
    const messages = bodyOf("responses", { input: "x", tools }, claude)["tools"] as ReadonlyArray<JsonObject>
    assert.deepStrictEqual(
      messages.map(({ name }) => name),
      names
    )
  })

  it("keep their history, in one turn of the assistant's", () => {
    const input = [
      { role: "user", content: "go" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "I patch." }] },
      { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: "*** Begin" },
      { type: "local_shell_call", call_id: "c2", status: "completed", action: { type: "exec", command: ["ls"] } },
      { type: "function_call", call_id: "c3", namespace: "mcp", name: "list", arguments: "{}" },
      { type: "web_search_call", status: "completed", action: { type: "search", query: "x" } },
      { type: "custom_tool_call_output", call_id: "c1", output: "done" },
      { type: "local_shell_call_output", call_id: "c2", output: "a b" },
      { type: "function_call_output", call_id: "c3", output: "none" }
    ]
    const call = (id: string, name: string, given: string) => ({
      id,
      type: "function",
      function: { name, arguments: given }
    })
    assert.deepStrictEqual(messagesOf("responses", { input, tools }, openai), [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "I patch.",
        tool_calls: [
          call("c1", "apply_patch", '{"input":"*** Begin"}'),
          call("c2", "local_shell", '{"command":["ls"]}'),
          call("c3", "mcp__list", "{}")
        ]
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
      { role: "tool", tool_call_id: "c2", content: "a b" },
      { role: "tool", tool_call_id: "c3", content: "none" }
    ])
  })

  it("that were found by more searches than anybody makes are refused", () => {
    const search = { type: "tool_search_output", call_id: "c", execution: "client", tools: [] }
    const request = { input: Array.from({ length: 129 }, () => search) }
    assert.strictEqual(refusedParam("responses", request, openai), "input")
  })

  it("that were found by a search are declared from then on", () => {
    const found = { type: "namespace", name: "crm", tools: [{ type: "function", name: "find", parameters: {} }] }
    const input = [
      { type: "tool_search_call", call_id: "c1", execution: "client", arguments: { query: "crm" } },
      { type: "tool_search_output", call_id: "c1", execution: "client", status: "completed", tools: [found] }
    ]
    const declared = JSON.stringify(bodyOf("responses", { input, tools }, openai)["tools"])
    assert.include(declared, '"crm__find"')
  })

  it("among which some are allowed are these alone", () => {
    const declared = (name: string) => ({ type: "function", function: { name } })
    const choice = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [declared("b")] } }
    const body = bodyOf("chat", { ...hello, tools: [declared("a"), declared("b")], tool_choice: choice }, openai)
    assert.deepInclude(body, { tools: [declared("b")], tool_choice: "required" })
  })

  it("have names and ids that every provider takes, the same for a call and its result", () => {
    const name = "mcp__a.server__" + "x".repeat(80)
    const request = {
      tools: [{ name, input_schema: { type: "object" } }],
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "functions.look:0", name, input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "functions.look:0", content: "x" }] }
      ]
    }
    const body = bodyOf("messages", request, openai)
    const [tool] = body["tools"] as ReadonlyArray<{ readonly function: { readonly name: string } }>
    const [call, result] = body["messages"] as ReadonlyArray<JsonObject>
    const [made] = (call ?? {})["tool_calls"] as ReadonlyArray<{
      readonly id: string
      readonly function: { readonly name: string }
    }>
    assert.match(tool?.function.name ?? "", /^[\w-]{1,64}$/u)
    assert.strictEqual(made?.function.name, tool?.function.name)
    assert.match(made?.id ?? "", /^[\w-]{1,40}$/u)
    assert.strictEqual(result?.["tool_call_id"], made?.id)
  })

  it("of chat that take any text keep their history as such", () => {
    const call = { id: "c1", type: "custom", custom: { name: "patch", input: '*** "Begin"' } }
    const request = {
      tools: [{ type: "custom", custom: { name: "patch" } }],
      messages: [
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: "done" }
      ]
    }
    const [made] = messagesOf("chat", request, openai) as ReadonlyArray<JsonObject>
    assert.deepStrictEqual(made?.["tool_calls"], [call])
  })

  it("of chat's first version are today's, and a result belongs to the last call", () => {
    const request = {
      functions: [{ name: "look", parameters: { type: "object" } }],
      function_call: { name: "look" },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: null, function_call: { name: "look", arguments: "{}" } },
        { role: "function", name: "look", content: "a bird" }
      ]
    }
    assert.deepInclude(bodyOf("chat", request, openai), {
      tool_choice: { type: "function", function: { name: "look" } },
      messages: [
        { role: "user", content: "x" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "call_1", content: "a bird" }
      ]
    })
  })
})

describe("a file that calls itself another", () => {
  const data = "A".repeat(9_000)
  it("is a picture where it says so, and a sound only where it is one", () => {
    const part = { type: "file", file: { filename: "a.pdf", file_data: `data:image/png;base64,${data}` } }
    const user = (content: JsonObject) => ({ messages: [{ role: "user", content: [content] }] })
    const { body, files } = got("chat", user(part), openai)
    assert.include(JSON.stringify(body), '"image_url"')
    assert.deepInclude(files[0], { as: "image" })
    const document = { type: "document", source: { type: "base64", media_type: "image/png", data } }
    assert.include(JSON.stringify(bodyOf("messages", user(document), claude)), '"type":"image"')
    const sound = { type: "input_audio", input_audio: { data: `data:image/png;base64,${data}`, format: "mp3" } }
    assert.strictEqual(refusedParam("chat", user(sound), openai), "messages[0].content[0].input_audio.data")
  })
})

describe("what no provider but the dialect's own can be given", () => {
  it("is refused by its place", () => {
    const video = {
      messages: [{ role: "user", content: [{ type: "video_url", video_url: { url: "data:video/mp4;base64,AA==" } }] }]
    }
    assert.strictEqual(refusedParam("chat", video, claude), "messages[0].content[0]")
    assert.strictEqual(refusedParam("chat", video, openai), "written")
    const block = {
      messages: [{ role: "assistant", content: [{ type: "server_tool_use", id: "s", name: "web_search", input: {} }] }]
    }
    assert.strictEqual(refusedParam("messages", block, openai), "messages[0].content[0]")
    assert.strictEqual(refusedParam("messages", block, claude), "written")
    assert.strictEqual(refusedParam("responses", { input: [{ type: "item_reference", id: "x" }] }, openai), "input[0]")
    assert.strictEqual(
      refusedParam("responses", { input: [{ type: "compaction", encrypted_content: "x" }] }, openai),
      "input[0]"
    )
  })

  it("is refused where it is a part that stands where none may", () => {
    const result = { type: "tool_result", tool_use_id: "t1", content: "x" }
    const misplaced = { messages: [...hello.messages, { role: "assistant", content: [...use.content, result] }] }
    assert.strictEqual(refusedParam("messages", misplaced, openai), "messages")
    const nested = { messages: [use, { role: "user", content: [{ ...result, content: [result] }] }] }
    assert.strictEqual(refusedParam("messages", nested, openai), "messages")
  })

  it("is a refusal of the assistant's nowhere: it is said in words", () => {
    const refused = {
      messages: [
        { role: "assistant", content: null, refusal: "I will not." },
        { role: "user", content: "ok" }
      ]
    }
    assert.include(JSON.stringify(bodyOf("chat", refused, claude)), "I will not.")
    assert.include(JSON.stringify(bodyOf("chat", refused, openai)), "I will not.")
    const input = { input: [{ role: "assistant", content: [{ type: "refusal", refusal: "I will not." }] }] }
    assert.include(JSON.stringify(bodyOf("responses", input, openai)), "I will not.")
  })
})
