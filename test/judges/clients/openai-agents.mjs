// OpenAI's Agents SDK, by responses and by chat.
import { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } from "@openai/agents"
import OpenAI from "openai"
import { z } from "zod"

const [, , baseURL, dialect, model, prompt] = process.argv
setTracingDisabled(true)
setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 }))
setOpenAIAPI(dialect === "chat" ? "chat_completions" : "responses")
const tools = [
  tool({
    name: "read",
    description: "Reads.",
    parameters: z.object({ path: z.string() }),
    execute: ({ path }) => `content of ${path}`
  }),
  tool({
    name: "look",
    description: "Looks.",
    parameters: z.object({ at: z.string() }),
    execute: ({ at }) => `seen ${at}`
  })
]
const agent = new Agent({ name: "judge", instructions: "Be brief.", model, tools })
const whole = await run(agent, prompt)
const streamed = await run(agent, prompt, { stream: true })
for await (const _event of streamed) {
  // All of them.
}
await streamed.completed
console.log(JSON.stringify({ whole: whole.finalOutput, streamed: streamed.finalOutput, failures: [] }))
