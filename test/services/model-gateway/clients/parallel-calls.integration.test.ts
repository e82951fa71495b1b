import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI from "openai"
import { type TestGateway, withGateway } from "../../../support/gateway.ts"
import { free } from "./official-clients.ts"

const names = ["read_file", "list_files", "look_up"] as const
// Each has to be given a text of its own name, by which its arguments are known again.
const schemaOf = (name: string) => ({
  type: "object" as const,
  properties: { [`of_${name}`]: { type: "string" as const } },
  required: [`of_${name}`]
})

interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

const parsed = (text: string) => JSON.parse(text) as unknown

const byChat = async ({ url }: TestGateway, model: string, content: string): Promise<ReadonlyArray<Call>> => {
  const client = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: "none", maxRetries: 0 })
  const tools = names.map((name) => ({ type: "function" as const, function: { name, parameters: schemaOf(name) } }))
  const runner = client.chat.completions.stream({ model, messages: [{ role: "user", content }], tools })
  const { choices } = await runner.finalChatCompletion()
  return (choices[0]?.message.tool_calls ?? []).flatMap((call) =>
    call.type === "function" ? [{ id: call.id, name: call.function.name, input: parsed(call.function.arguments) }] : []
  )
}

const byResponses = async ({ url }: TestGateway, model: string, input: string): Promise<ReadonlyArray<Call>> => {
  const client = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: "none", maxRetries: 0 })
  const tools = names.map((name) => ({
    type: "function" as const,
    name,
    parameters: schemaOf(name),
    strict: false
  }))
  const { output } = await client.responses.stream({ model, input, tools }).finalResponse()
  return output.flatMap((item) =>
    item.type === "function_call" ? [{ id: item.call_id, name: item.name, input: parsed(item.arguments) }] : []
  )
}

const byMessages = async ({ url }: TestGateway, model: string, content: string): Promise<ReadonlyArray<Call>> => {
  const client = new Anthropic({ baseURL: `${url}/api`, apiKey: "none", maxRetries: 0 })
  const tools = names.map((name) => ({ name, input_schema: schemaOf(name) }))
  const runner = client.messages.stream({ model, max_tokens: 500, messages: [{ role: "user", content }], tools })
  const message = await runner.finalMessage()
  return message.content.flatMap((block) =>
    block.type === "tool_use" ? [{ id: block.id, name: block.name, input: block.input }] : []
  )
}

describe("several calls in one answer", () => {
  it.live.each(["!calls 3", "!interleaved 3", "!unindexed 3"])("reach the official clients apart, by %s", (order) =>
    withGateway((gateway) =>
      Effect.promise(async () => {
        for (const model of free) {
          for (const read of [byChat, byResponses, byMessages]) {
            const calls = await read(gateway, model, order)
            assert.deepStrictEqual(
              calls.map(({ name }) => name),
              [...names],
              `${model} ${read.name}`
            )
            assert.strictEqual(new Set(calls.map(({ id }) => id)).size, names.length)
            for (const { name, input } of calls) assert.hasAllKeys(input, [`of_${name}`])
          }
        }
      })
    )
  )
})
