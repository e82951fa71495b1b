import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI, { APIError, BadRequestError, RateLimitError } from "openai"
import { type TestGateway, withGateway } from "../../../support/gateway.ts"
import { free, refusal, tool } from "./official-clients.ts"

const openAi = ({ url }: TestGateway) => new OpenAI({ baseURL: `${url}/api/v1`, apiKey: "none", maxRetries: 0 })

describe("the official OpenAI client", () => {
  it.live("chats with a free model of either kind of provider, streamed and not", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = openAi(gateway)
        for (const model of free) {
          const messages = [{ role: "user" as const, content: "one two three" }]
          const whole = await client.chat.completions.create({ model, messages })
          assert.strictEqual(whole.choices[0]?.message.content, "one two three")
          assert.strictEqual(whole.choices[0]?.finish_reason, "stop")
          assert.strictEqual(whole.usage?.total_tokens, 6)
          assert.strictEqual(whole.model, model)

          let text = ""
          let usage = 0
          const options = { include_usage: true }
          const stream = await client.chat.completions.create({
            model,
            messages,
            stream: true,
            stream_options: options
          })
          for await (const chunk of stream) {
            text += chunk.choices[0]?.delta.content ?? ""
            usage += chunk.usage?.completion_tokens ?? 0
          }
          assert.deepStrictEqual([text, usage], ["one two three", 3])
        }
      })
    )
  )

  it.live("receives a tool call, and returns the tool's result", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = openAi(gateway)
        const tools = [
          {
            type: "function" as const,
            function: { name: tool.name, description: tool.description, parameters: tool.schema }
          }
        ]
        for (const model of free) {
          const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: "!tool look_up" }]
          const first = await client.chat.completions.create({ model, messages, tools })
          const [call] = first.choices[0]?.message.tool_calls ?? []
          if (call?.type !== "function") return assert.fail("no tool was called")
          assert.strictEqual(first.choices[0]?.finish_reason, "tool_calls")
          assert.deepStrictEqual(JSON.parse(call.function.arguments), { word: "starling" })

          const runner = client.chat.completions.stream({ model, messages, tools })
          const streamed = (await runner.finalChatCompletion()).choices[0]?.message.tool_calls?.[0]
          assert.deepStrictEqual(streamed?.type === "function" ? JSON.parse(streamed.function.arguments) : undefined, {
            word: "starling"
          })
          const second = await client.chat.completions.create({
            model,
            tools,
            messages: [
              ...messages,
              { role: "assistant", content: null, tool_calls: [call] },
              { role: "tool", tool_call_id: call.id, content: "a bird" },
              { role: "user", content: "thanks" }
            ]
          })
          assert.strictEqual(second.choices[0]?.message.content, "thanks")
        }
      })
    )
  )

  it.live("gets responses, streamed and not", () =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        const client = openAi(gateway)
        for (const model of free) {
          const whole = await client.responses.create({ model, input: "one two three", instructions: "Repeat." })
          assert.strictEqual(whole.output_text, "one two three")
          assert.strictEqual(whole.status, "completed")

          const kinds: Array<string> = []
          const numbers: Array<number> = []
          let text = ""
          for await (const event of await client.responses.create({ model, input: "one two three", stream: true })) {
            kinds.push(event.type)
            numbers.push(event.sequence_number)
            if (event.type === "response.output_text.delta") text += event.delta
            if (event.type === "response.completed")
              assert.strictEqual(event.response.output_text ?? "one two three", "one two three")
          }
          assert.strictEqual(text, "one two three")
          assert.deepStrictEqual([kinds[0], kinds.at(-1)], ["response.created", "response.completed"])
          assert.deepStrictEqual(
            numbers,
            numbers.map((_, at) => at)
          )

          const runner = client.responses.stream({ model, input: "!tool look_up" })
          const final = await runner.finalResponse()
          const [item] = final.output
          assert.strictEqual(item?.type === "function_call" ? item.arguments : "", '{"word":"starling"}')
        }
      })
    )
  )

  it.live("lists the models, gets no image unpaid, and raises errors with their status and code", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const client = openAi(gateway)
        const listed = yield* Effect.promise(() => client.models.list())
        assert.includeMembers(
          listed.data.map(({ id }) => id),
          ["demo/echo", "demo/free", "demo/picture"]
        )
        const one = yield* Effect.promise(() => client.models.retrieve("demo/free"))
        assert.strictEqual(one.id, "demo/free")

        const ask = (content: string, more = {}) =>
          client.chat.completions.create({ model: "demo/free", messages: [{ role: "user", content }], ...more })
        const rejected = yield* refusal<BadRequestError>(ask("!reject seed"))
        assert.instanceOf(rejected, BadRequestError)
        assert.deepStrictEqual([rejected.status, rejected.code, rejected.param], [400, "INVALID_PARAMETER", "seed"])
        const limited = yield* refusal<RateLimitError>(ask("!overloaded"))
        assert.instanceOf(limited, RateLimitError)
        const unpaid = yield* refusal<APIError>(client.images.generate({ model: "demo/picture", prompt: "x" }))
        assert.strictEqual(unpaid.status, 402)

        const broken = yield* refusal<APIError>(
          (async () => {
            const stream = await client.chat.completions.create({
              model: "demo/free",
              messages: [{ role: "user", content: "!drop 3" }],
              stream: true
            })
            for await (const chunk of stream) assert.isDefined(chunk.id)
          })()
        )
        assert.instanceOf(broken, APIError)
      })
    )
  )
})
