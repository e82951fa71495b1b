// Vercel's AI SDK, in each dialect that it has a provider for.
import { generateText, stepCountIs, streamText, tool } from "ai"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { z } from "zod"

const [, , baseURL, dialect, model, prompt] = process.argv
const openai = createOpenAI({ baseURL, apiKey: "none" })
const makers = {
  responses: openai.responses,
  chat: openai.chat,
  messages: createAnthropic({ baseURL, apiKey: "none" }),
  compatible: createOpenAICompatible({ name: "starling", baseURL, apiKey: "none" })
}
const tools = {
  read: tool({
    description: "Reads.",
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }) => `content of ${path}`
  }),
  look: tool({ description: "Looks.", inputSchema: z.object({ at: z.string() }), execute: ({ at }) => `seen ${at}` })
}
const asked = { model: makers[dialect](model), tools, stopWhen: stepCountIs(5), prompt, maxRetries: 0 }
const whole = await generateText(asked)
const failures = []
const stream = streamText({ ...asked, onError: ({ error }) => void failures.push(String(error)) })
let text = ""
for await (const piece of stream.textStream) text += piece
console.log(JSON.stringify({ whole: whole.text, streamed: text, failures }))
