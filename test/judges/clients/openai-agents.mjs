// OpenAI's Agents SDK, by responses and by chat.
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents"
import OpenAI from "openai"
import { z } from "zod"
import { picture, serve } from "./orders.mjs"

setTracingDisabled(true)
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
  }),
  tool({
    name: "draw",
    description: "Draws.",
    parameters: z.object({}),
    execute: () => ({ type: "image", image: `data:image/png;base64,${picture}` })
  })
]

serve(async ({ baseURL, apiKey, dialect, model, prompt, fetch, thinks, leaves }) => {
  const openAIClient = new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0 })
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient, useResponses: dialect === "responses" })
  })
  const modelSettings = thinks
    ? {
        reasoning: { effort: "low", summary: "auto" },
        store: false,
        providerData: { include: ["reasoning.encrypted_content"] }
      }
    : {}
  const agent = new Agent({ name: "judge", instructions: "Be brief.", model, tools, modelSettings })
  if (leaves) {
    const leaving = new AbortController()
    const left = await runner.run(agent, prompt, { stream: true, signal: leaving.signal })
    let heard = ""
    for await (const event of left) {
      if (event.type !== "raw_model_stream_event" || event.data.type !== "output_text_delta") continue
      heard += event.data.delta
      leaving.abort()
    }
    await left.completed.catch(() => undefined)
    const content = [{ type: "output_text", text: heard }]
    const input = [
      { role: "user", content: prompt },
      { role: "assistant", status: "incomplete", content },
      { role: "user", content: "go on" }
    ]
    return [heard, (await runner.run(agent, input)).finalOutput]
  }
  const whole = await runner.run(agent, prompt)
  const streamed = await runner.run(agent, prompt, { stream: true })
  for await (const _event of streamed) {
    // All of them.
  }
  await streamed.completed
  return [whole.finalOutput, streamed.finalOutput]
})
