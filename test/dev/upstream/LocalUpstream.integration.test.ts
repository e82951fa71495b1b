import Anthropic, { BadRequestError as AnthropicRefusal } from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI, { BadRequestError, NotFoundError } from "openai"
import { startLocalUpstream } from "../../../dev/upstream/LocalUpstream.ts"

const withUpstream = (test: (url: string) => Promise<void>) =>
  Effect.scoped(Effect.flatMap(startLocalUpstream(), ({ url }) => Effect.promise(() => test(url))))

const openAi = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 })
const anthropic = (url: string) => new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 })

const schema = {
  type: "object" as const,
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false
}
const tools = ["read_file", "list_files"].map((name) => ({
  type: "function" as const,
  function: { name, parameters: schema, strict: true }
}))
const claudeTools = ["read_file", "list_files"].map((name) => ({ name, input_schema: schema }))
const order = '!use read_file {"path":"a"}\n!use list_files {"path":"b"}'
const resultOf = (input: string) => `what is in ${(JSON.parse(input) as { path: string }).path}`

const rejected = async <E>(promise: PromiseLike<unknown>) => {
  try {
    await promise
  } catch (error) {
    return error as E
  }
  return assert.fail("it was answered")
}

describe("the official OpenAI client", () => {
  it.live("does a task of two calls at once with each strict model, streamed", () =>
    withUpstream(async (url) => {
      for (const model of ["demo/strict", "demo/reasoner", "demo/echo"]) {
        const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: order }]
        const ask = () => openAi(url).chat.completions.stream({ model, messages, tools }).finalChatCompletion()
        const message = (await ask()).choices[0]?.message
        const calls = message?.tool_calls ?? []
        assert.deepStrictEqual(
          calls.map((call) => (call.type === "function" ? [call.function.name, call.function.arguments] : [])),
          [
            ["read_file", '{"path":"a"}'],
            ["list_files", '{"path":"b"}']
          ]
        )
        const thought = model === "demo/reasoner" ? { reasoning_content: "the words come back" } : {}
        const tool_calls = calls.flatMap((call) =>
          call.type === "function"
            ? [
                {
                  id: call.id,
                  type: call.type,
                  function: { name: call.function.name, arguments: call.function.arguments }
                }
              ]
            : []
        )
        messages.push({ role: "assistant", content: null, tool_calls, ...thought })
        for (const { id, function: call } of tool_calls) {
          messages.push({ role: "tool", tool_call_id: id, content: resultOf(call.arguments) })
        }
        assert.strictEqual((await ask()).choices[0]?.message.content, "what is in a\nwhat is in b")
      }
    })
  )

  it.live("sends an answer back as it came", () =>
    withUpstream(async (url) => {
      for (const model of ["demo/strict", "demo/reasoner"]) {
        const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: "!calls 1" }]
        const ask = async () =>
          (await openAi(url).chat.completions.create({ model, messages, tools })).choices[0]?.message
        const called = await ask()
        if (called === undefined) return assert.fail("nothing was answered")
        messages.push(called, { role: "tool", tool_call_id: called.tool_calls?.[0]?.id ?? "", content: "a bird" })
        const told = await ask()
        if (told === undefined) return assert.fail("nothing was answered")
        messages.push(told, { role: "user", content: "thanks" })
        assert.deepStrictEqual([told.content, (await ask())?.content], ["a bird", "thanks"])
      }
    })
  )

  it.live("gets a forced tool, and an answer by a schema", () =>
    withUpstream(async (url) => {
      const messages = [{ role: "user" as const, content: "hello" }]
      for (const model of ["demo/strict", "demo/reasoner", "demo/echo"]) {
        const client = openAi(url).chat.completions
        const called = await client.create({ model, messages, tools, tool_choice: "required" })
        const [call] = called.choices[0]?.message.tool_calls ?? []
        assert.deepStrictEqual(call?.type === "function" ? call.function : undefined, {
          name: "read_file",
          arguments: '{"path":""}'
        })
        const response_format = { type: "json_schema" as const, json_schema: { name: "file", schema, strict: true } }
        const formed = await client.parse({ model, messages, response_format })
        assert.deepStrictEqual(formed.choices[0]?.message.parsed, { path: "" })
      }
    })
  )

  it.live("reads past comments between the chunks", () =>
    withUpstream(async (url) => {
      const messages = [{ role: "user" as const, content: "!keepalive one two" }]
      const stream = openAi(url).chat.completions.stream({ model: "demo/strict", messages })
      assert.strictEqual((await stream.finalChatCompletion()).choices[0]?.message.content, "!keepalive one two")
    })
  )

  it.live("raises what is refused, and knows no model of the other dialect", () =>
    withUpstream(async (url) => {
      const messages = [{ role: "user" as const, content: "hello" }]
      const client = openAi(url).chat.completions
      const unknown = { model: "demo/strict", messages, top_k: 1 }
      const error = await rejected<BadRequestError>(client.create(unknown))
      assert.instanceOf(error, BadRequestError)
      assert.deepInclude(error, {
        status: 400,
        code: "unknown_parameter",
        param: "top_k",
        type: "invalid_request_error"
      })
      assert.deepStrictEqual(error.error, {
        message: "Unknown parameter: 'top_k'.",
        type: "invalid_request_error",
        param: "top_k",
        code: "unknown_parameter"
      })
      assert.instanceOf(await rejected(client.create({ model: "demo/strict-claude", messages })), NotFoundError)
    })
  )
})

describe("the official Anthropic client", () => {
  it.live("does a task of two calls at once, and gives the thought back with its signature", () =>
    withUpstream(async (url) => {
      for (const model of ["demo/strict-claude", "demo/echo"]) {
        const messages: Array<Anthropic.MessageParam> = [{ role: "user", content: order }]
        const thinking = { type: "enabled" as const, budget_tokens: 1_024 }
        const ask = () =>
          anthropic(url)
            .messages.stream({ model, max_tokens: 2_000, messages, thinking, tools: claudeTools })
            .finalMessage()
        const first = await ask()
        const kinds = first.content.map(({ type }) => type)
        const thinks = model === "demo/strict-claude" ? (["thinking"] as const) : []
        assert.deepStrictEqual(kinds, [...thinks, "tool_use", "tool_use"])
        messages.push(
          { role: "assistant", content: first.content },
          {
            role: "user",
            content: first.content.flatMap((block) =>
              block.type === "tool_use"
                ? [
                    {
                      type: "tool_result" as const,
                      tool_use_id: block.id,
                      content: resultOf(JSON.stringify(block.input))
                    }
                  ]
                : []
            )
          }
        )
        const last = (await ask()).content.at(-1)
        assert.strictEqual(last?.type === "text" ? last.text : "", "what is in a\nwhat is in b")
      }
    })
  )

  it.live("gets a hidden thought that it can give back", () =>
    withUpstream(async (url) => {
      const asked = { model: "demo/strict-claude", max_tokens: 64 }
      const messages = [{ role: "user" as const, content: "!redacted" }]
      const client = anthropic(url).messages
      for (const { content } of [
        await client.create({ ...asked, messages }),
        await client.stream({ ...asked, messages }).finalMessage()
      ]) {
        assert.strictEqual(content[0]?.type, "redacted_thinking")
        const back = [
          ...messages,
          { role: "assistant" as const, content },
          { role: "user" as const, content: "thanks" }
        ]
        const next = await client.create({ ...asked, messages: back })
        assert.deepInclude(next.content[0], { type: "text", text: "thanks" })
      }
    })
  )

  it.live("gets a forced tool, an answer by a schema, and a count", () =>
    withUpstream(async (url) => {
      const client = anthropic(url).messages
      const messages = [{ role: "user" as const, content: "one two" }]
      for (const model of ["demo/strict-claude", "demo/echo"]) {
        const asked = { model, max_tokens: 64, messages }
        const called = await client.create({
          ...asked,
          tools: claudeTools,
          tool_choice: { type: "tool", name: "list_files" }
        })
        assert.deepInclude(called.content[0], { type: "tool_use", name: "list_files", input: { path: "" } })
        const formed = await client.create({ ...asked, output_config: { format: { type: "json_schema", schema } } })
        assert.deepInclude(formed.content[0], { type: "text", text: '{"path":""}' })
        assert.strictEqual((await client.countTokens({ model, messages })).input_tokens, 2)
      }
    })
  )

  it.live("raises what is refused", () =>
    withUpstream(async (url) => {
      const messages = [{ role: "user" as const, content: "hello" }]
      const unknown = { model: "demo/strict-claude", max_tokens: 64, messages, seed: 1 }
      const error = await rejected<AnthropicRefusal>(anthropic(url).messages.create(unknown))
      assert.instanceOf(error, AnthropicRefusal)
      assert.deepNestedInclude(error.error as object, {
        type: "error",
        error: { type: "invalid_request_error", message: "seed: Extra inputs are not permitted" }
      })
    })
  )
})

describe("the answers of the local upstream", () => {
  it.live("have ids of their own, also after more calls than it remembers", () =>
    withUpstream(async (url) => {
      const body = JSON.stringify({ model: "demo/echo", messages: [{ role: "user", content: "hello" }] })
      const headers = { "content-type": "application/json" }
      const ids = new Set<string>()
      for (let call = 0; call < 1_003; call += 1) {
        const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })
        ids.add(((await answer.json()) as { readonly id: string }).id)
      }
      assert.strictEqual(ids.size, 1_003)
    })
  )
})
