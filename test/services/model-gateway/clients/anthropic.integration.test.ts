import Anthropic, { APIError as AnthropicError, BadRequestError as AnthropicBadRequest } from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inputTokensOf } from "#payments"
import { promptSize } from "../../../../services/model-gateway/conversation/prompt-size.ts"
import { ask, money, type TestGateway, withGateway } from "../../../support/gateway.ts"
import { free, refusal, tool } from "./official-clients.ts"

const anthropic = ({ url }: TestGateway) => new Anthropic({ baseURL: `${url}/api`, apiKey: "none", maxRetries: 0 })

describe("the official Anthropic client", () => {
  const question = { max_tokens: 100, messages: [{ role: "user" as const, content: "one two three" }] }

  it.live("chats with a free model of either kind of provider, streamed and not", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = anthropic(gateway)
        for (const model of free) {
          const whole = await client.messages.create({ model, system: "Repeat.", ...question })
          assert.deepStrictEqual(whole.content[0]?.type === "text" ? whole.content[0].text : "", "one two three")
          assert.strictEqual(whole.stop_reason, "end_turn")
          assert.strictEqual(whole.usage.output_tokens, 3)
          assert.strictEqual(whole.model, model)

          const stream = client.messages.stream({ model, ...question })
          const kinds: Array<string> = []
          stream.on("streamEvent", ({ type }) => kinds.push(type))
          const final = await stream.finalMessage()
          assert.strictEqual(await stream.finalText(), "one two three")
          assert.strictEqual(final.usage.output_tokens, 3)
          assert.deepStrictEqual([kinds[0], kinds.at(-1)], ["message_start", "message_stop"])

          const cut = await client.messages.create({ model, ...question, max_tokens: 2 })
          assert.strictEqual(cut.stop_reason, "max_tokens")
        }
      })
    )
  )

  it.live("receives a tool call, and returns the tool's result", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = anthropic(gateway)
        const tools = [{ name: tool.name, description: tool.description, input_schema: tool.schema }]
        for (const model of free) {
          const messages: Array<Anthropic.MessageParam> = [{ role: "user", content: "!tool look_up" }]
          const first = await client.messages.create({ model, max_tokens: 50, messages, tools })
          const use = first.content.find(({ type }) => type === "tool_use")
          if (use?.type !== "tool_use") return assert.fail("no tool was used")
          assert.deepStrictEqual([use.input, first.stop_reason], [{ word: "starling" }, "tool_use"])

          const streamed = await client.messages.stream({ model, max_tokens: 50, messages, tools }).finalMessage()
          const [block] = streamed.content
          assert.deepStrictEqual(block?.type === "tool_use" ? block.input : undefined, { word: "starling" })

          const second = await client.messages.create({
            model,
            max_tokens: 50,
            tools,
            messages: [
              ...messages,
              { role: "assistant", content: [{ type: "tool_use", id: use.id, name: use.name, input: use.input }] },
              {
                role: "user",
                content: [
                  { type: "tool_result", tool_use_id: use.id, content: "a bird" },
                  { type: "text", text: "thanks" }
                ]
              }
            ]
          })
          assert.deepStrictEqual(second.content[0]?.type === "text" ? second.content[0].text : "", "thanks")
        }
      })
    )
  )

  it.live("lists the models, page by page, and finds one by its id", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = anthropic(gateway)
        const ids: Array<string> = []
        for await (const { id, type, display_name, created_at } of client.models.list()) {
          assert.strictEqual(type, "model")
          assert.isNotEmpty(display_name)
          assert.isFalse(Number.isNaN(Date.parse(created_at)))
          ids.push(id)
        }
        assert.includeMembers(ids, [...free])
        const [one = ""] = free
        assert.strictEqual((await client.models.retrieve(one)).id, one)
      })
    )
  )

  it.live(
    "counts tokens: a provider of Anthropic's kind exactly, any other as its quotes do, and neither is paid",
    () =>
      withGateway((gateway) =>
        Effect.gen(function* () {
          const { upstream, payments } = gateway
          const client = anthropic(gateway)
          const { messages } = question
          const count = (model: string) =>
            Effect.promise(() =>
              client.messages.countTokens({ model, system: "Repeat this.", messages }).withResponse()
            )
          const exact = yield* count("claude/echo")
          assert.deepStrictEqual(exact.data, { input_tokens: 5 })
          assert.strictEqual(exact.response.headers.get("x-token-count"), "provider")
          assert.deepInclude(upstream.calls.at(-1)?.body, { model: "echo-1", messages })
          assert.strictEqual(upstream.calls.at(-1)?.path, "/v1/messages/count_tokens")

          const asked = upstream.calls.length
          const estimate = yield* count("demo/echo")
          const written = [{ role: "system", content: "Repeat this." }, ...messages]
          const prompt = promptSize({ body: { messages: written, max_tokens: 8_192 }, files: [] }, "echo-1")
          assert.deepStrictEqual(estimate.data, { input_tokens: inputTokensOf(prompt) })
          assert.strictEqual(estimate.response.headers.get("x-token-count"), "estimate")
          assert.strictEqual(upstream.calls.length, asked)
          assert.deepStrictEqual(payments.steps, [])
        })
      )
  )

  it.live("counts tokens by the estimate while the provider fails, and hears what the provider refuses", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const client = anthropic(gateway)
        const counting = (content: string, model = "claude/echo") =>
          client.messages.countTokens({ model, messages: [{ role: "user", content }] })
        const failing = yield* Effect.promise(() => counting("!overloaded").withResponse())
        assert.strictEqual(failing.response.headers.get("x-token-count"), "estimate")
        const refused = yield* refusal<AnthropicError>(counting("!context-length"))
        assert.instanceOf(refused, AnthropicBadRequest)
        assert.strictEqual(refused.type, "invalid_request_error")
        const picture = yield* refusal<AnthropicError>(counting("hello", "demo/picture"))
        assert.strictEqual(picture.status, 400)
        assert.include(picture.message, "Unknown model: demo/picture")
      })
    )
  )

  it.live("pays for a count whose model has a price for it, and nothing where its provider does not answer", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const { payments } = gateway
          const client = anthropic(gateway)
          const counting = (content: string, headers: Readonly<Record<string, string>> = money) =>
            client.messages.countTokens({ model: "claude/counted", messages: [{ role: "user", content }] }, { headers })
          const unpaid = yield* refusal<AnthropicError>(counting("one two three", {}))
          assert.strictEqual(unpaid.status, 402)
          assert.isString(unpaid.headers?.get("payment-required"))

          // Beyond what an address may count for free.
          for (const _ of [1, 2]) {
            const { data, response } = yield* Effect.promise(() => counting("one two three").withResponse())
            assert.deepStrictEqual(data, { input_tokens: 3 })
            assert.strictEqual(response.headers.get("x-token-count"), "provider")
            assert.strictEqual(response.headers.get("payment-response"), "receipt")
          }
          assert.deepStrictEqual(payments.steps.splice(0), ["pay", "settle", "pay", "settle"])
          const [call] = payments.calls
          assert.deepInclude(
            { ...call },
            { model: "claude/counted", outputTokens: 0, count: 1, kind: "whole", path: "/api/v1/messages/count_tokens" }
          )
          assert.strictEqual(call?.prices.flatMicroUsd, 50)

          const failing = yield* refusal<AnthropicError>(counting("!overloaded"))
          assert.strictEqual(failing.status, 503)
          const uncounted = yield* refusal<AnthropicError>(counting("!no-usage"))
          assert.strictEqual(uncounted.status, 500)
          const refused = yield* refusal<AnthropicError>(counting("!context-length"))
          assert.instanceOf(refused, AnthropicBadRequest)
          assert.deepStrictEqual(payments.steps.splice(0), ["pay", "release", "pay", "release", "pay", "release"])

          // One that is free, and one that nobody can read, are limited all the same.
          const free = () => client.messages.countTokens({ model: "claude/echo", messages: question.messages })
          yield* Effect.promise(free)
          assert.strictEqual((yield* refusal<AnthropicError>(free())).status, 429)
          assert.strictEqual((yield* ask(gateway, "/v1/messages/count_tokens", "{")).status, 429)
          assert.deepStrictEqual(payments.steps, [])
        }),
      { settings: { TokenCountsPerMinute: 1 } }
    )
  )

  it.live("refuses an address that counts too often, with the time to wait", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const client = anthropic(gateway)
          const counting = () => client.messages.countTokens({ model: "demo/free", messages: question.messages })
          yield* Effect.promise(counting)
          const limited = yield* refusal<AnthropicError>(counting())
          assert.deepStrictEqual([limited.status, limited.type], [429, "rate_limit_error"])
          assert.match(limited.headers?.get("retry-after") ?? "", /^\d+$/u)
        }),
      { settings: { TokenCountsPerMinute: 1 } }
    )
  )

  it.live("raises errors with their status and type, even in the middle of a stream", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const client = anthropic(gateway)
        const ask = (content: string, model = "demo/free") =>
          client.messages.create({ model, max_tokens: 50, messages: [{ role: "user", content }] })
        const rejected = yield* refusal<AnthropicError>(ask("!context-length"))
        assert.instanceOf(rejected, AnthropicBadRequest)
        assert.strictEqual(rejected.type, "invalid_request_error")
        assert.isString(rejected.requestID)
        const limited = yield* refusal<AnthropicError>(ask("!overloaded"))
        assert.strictEqual(limited.status, 429)
        const unpaid = yield* refusal<AnthropicError>(ask("hello", "claude/echo"))
        assert.strictEqual(unpaid.status, 402)
        for (const model of free) {
          const stream = client.messages.stream({
            model,
            max_tokens: 50,
            messages: [{ role: "user", content: "!break 4" }]
          })
          const broken = yield* refusal<AnthropicError>(stream.finalMessage())
          assert.instanceOf(broken, AnthropicError)
        }
      })
    )
  )
})
