// LangChain's agent, by OpenAI's client in both of its dialects and by Anthropic's.
import { createAgent, tool } from "langchain"
import { ChatAnthropic } from "@langchain/anthropic"
import { ChatOpenAI } from "@langchain/openai"
import { z } from "zod"

const [, , baseURL, dialect, model, content] = process.argv
const common = { model, apiKey: "none", maxRetries: 0 }
const openai = { ...common, configuration: { baseURL } }
const makers = {
  chat: () => new ChatOpenAI(openai),
  responses: () => new ChatOpenAI({ ...openai, useResponsesApi: true }),
  messages: () => new ChatAnthropic({ ...common, anthropicApiUrl: baseURL.replace(/\/v1$/u, ""), maxTokens: 900 })
}
const tools = [
  tool(({ path }) => `content of ${path}`, {
    name: "read",
    description: "Reads.",
    schema: z.object({ path: z.string() })
  }),
  tool(({ at }) => `seen ${at}`, { name: "look", description: "Looks.", schema: z.object({ at: z.string() }) })
]
const agent = createAgent({ model: makers[dialect](), tools })
const asked = { messages: [{ role: "user", content }] }
const last = ({ messages }) => JSON.stringify(messages.at(-1)?.content)
const whole = last(await agent.invoke(asked))
let streamed = ""
for await (const state of await agent.stream(asked, { streamMode: "values" })) streamed = last(state)
console.log(JSON.stringify({ whole, streamed, failures: [] }))
