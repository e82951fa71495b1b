import Anthropic, { APIError as AnthropicError, BadRequestError as AnthropicBadRequest } from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type TestGateway, withGateway } from "../../../support/gateway.ts"
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
