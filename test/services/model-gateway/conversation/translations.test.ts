import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { FileData } from "../../../../services/model-gateway/conversation/Conversation.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { written } from "../../../support/conversations.ts"

const png: FileData = { _tag: "Data", mediaType: "image/png", base64: "QQ==" }
const got = (made: ReturnType<typeof written>) => Result.getOrThrow(made).body
const messagesToChat = (request: JsonObject) =>
  written("messages", request, { to: "openai", outputTokens: 9, takes: { thoughts: "none" }, fetched: () => png })
const chatToMessages = (request: JsonObject) => written("chat", request, { to: "anthropic", outputTokens: 5_000 })
const responsesToChat = (request: JsonObject) =>
  written("responses", request, { to: "openai", outputTokens: 7, takes: { thoughts: "none" }, fetched: () => png })

const schema = { type: "object", properties: { word: { type: "string" } } }

describe("a request in Anthropic's format", () => {
  it("becomes one in OpenAI's, with tools, images and results, without the thinking", () => {
    const made = got(
      messagesToChat({
        model: "m",
        max_tokens: 9,
        system: [
          { type: "text", text: "Be" },
          { type: "text", text: "brief." }
        ],
        stop_sequences: ["END"],
        metadata: { user_id: "u1" },
        thinking: { type: "enabled", budget_tokens: 20_000 },
        top_k: 4,
        tools: [{ name: "look", description: "Looks.", input_schema: schema }],
        tool_choice: { type: "any", disable_parallel_tool_use: true },
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What?" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } },
              { type: "image", source: { type: "url", url: "https://p.example/a.png" } }
            ]
          },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "hm", signature: "s" },
              { type: "text", text: "I look." },
              { type: "tool_use", id: "t1", name: "look", input: { word: "a" } }
            ]
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "a bird" }] },
              { type: "text", text: "So?" }
            ]
          }
        ]
      })
    )
    assert.deepStrictEqual(made, {
      max_tokens: 9,
      top_k: 4,
      stop: ["END"],
      user: "u1",
      reasoning_effort: "high",
      parallel_tool_calls: false,
      tool_choice: "required",
      tools: [{ type: "function", function: { name: "look", description: "Looks.", parameters: schema } }],
      messages: [
        { role: "system", content: "Be\nbrief." },
        {
          role: "user",
          content: [
            { type: "text", text: "What?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
            { type: "image_url", image_url: { url: "data:image/png;base64,QQ==" } }
          ]
        },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "t1", type: "function", function: { name: "look", arguments: '{"word":"a"}' } }]
        },
        { role: "tool", tool_call_id: "t1", content: "a bird" },
        { role: "user", content: "So?" }
      ]
    })
  })

  it("is refused when it asks for a tool that only Anthropic has", () => {
    const made = messagesToChat({ messages: [], tools: [{ type: "web_search_20250305", name: "web_search" }] })
    assert.deepInclude(Result.isFailure(made) ? made.failure : {}, { param: "tools" })
  })
})

describe("a request in OpenAI's format", () => {
  it("becomes one in Anthropic's, with alternating roles", () => {
    const made = got(
      chatToMessages({
        model: "m",
        max_completion_tokens: 5_000,
        stop: "END",
        user: "u1",
        reasoning_effort: "medium",
        temperature: 1,
        response_format: { type: "json_schema", json_schema: { name: "x", schema } },
        tools: [{ type: "function", function: { name: "look", parameters: schema } }],
        tool_choice: { type: "function", function: { name: "look" } },
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "One" },
          {
            role: "user",
            content: [
              { type: "text", text: "Two" },
              { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }
            ]
          },
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: "c1", type: "function", function: { name: "look", arguments: '{"word":"a"}' } },
              { id: "c2", type: "function", function: { name: "look", arguments: "" } }
            ]
          },
          { role: "tool", tool_call_id: "c1", content: "a bird" },
          { role: "tool", tool_call_id: "c2", content: "none" },
          { role: "user", content: "So?" }
        ]
      })
    )
    assert.deepStrictEqual(made, {
      max_tokens: 5_000,
      temperature: 1,
      system: "Be brief.",
      stop_sequences: ["END"],
      metadata: { user_id: "u1" },
      output_config: { format: { type: "json_schema", schema } },
      tools: [{ name: "look", input_schema: schema }],
      tool_choice: { type: "tool", name: "look" },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "One" },
            { type: "text", text: "Two" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }
          ]
        },
        {
          role: "assistant",
          content: [
            { type: "tool_use", id: "c1", name: "look", input: { word: "a" } },
            { type: "tool_use", id: "c2", name: "look", input: {} }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "a bird" }] },
            { type: "tool_result", tool_use_id: "c2", content: [{ type: "text", text: "none" }] },
            { type: "text", text: "So?" }
          ]
        }
      ]
    })
  })

  it("is refused when it asks for several answers", () => {
    assert.isTrue(Result.isFailure(chatToMessages({ messages: [], n: 2 })))
  })
})

describe("a request in the responses format", () => {
  it("becomes one of chat, with calls and their results", () => {
    const made = got(
      responsesToChat({
        model: "m",
        instructions: "Be brief.",
        max_output_tokens: 7,
        store: false,
        text: { format: { type: "json_schema", name: "x", schema } },
        reasoning: { effort: "low" },
        tools: [{ type: "function", name: "look", parameters: schema, strict: true }],
        tool_choice: { type: "function", name: "look" },
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "What?" },
              { type: "input_image", image_url: "https://p.example/a.png", detail: "low" }
            ]
          },
          { type: "reasoning", id: "rs_1", summary: [] },
          { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
          { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
          { type: "function_call", call_id: "c2", name: "look", arguments: "{}" },
          { type: "function_call_output", call_id: "c1", output: "a bird" }
        ]
      })
    )
    const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } })
    assert.deepStrictEqual(made, {
      max_tokens: 7,
      reasoning_effort: "low",
      response_format: { type: "json_schema", json_schema: { name: "x", schema } },
      tools: [{ type: "function", function: { name: "look", parameters: schema, strict: true } }],
      tool_choice: { type: "function", function: { name: "look" } },
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "What?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,QQ==", detail: "low" } }
          ]
        },
        { role: "assistant", content: "I look.", tool_calls: [call("c1"), call("c2")] },
        { role: "tool", tool_call_id: "c1", content: "a bird" }
      ]
    })
  })

  it("is refused when it asks for a feature that chat lacks", () => {
    for (const request of [{ tools: [{ type: "web_search" }] }, { input: [{ type: "item_reference", id: "x" }] }]) {
      assert.isTrue(Result.isFailure(responsesToChat(request)))
    }
  })
})
