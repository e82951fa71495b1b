// Vercel's AI SDK, in each dialect that it has a provider for.
import { generateText, isStepCount, stepCountIs, streamText, tool } from "ai"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { z } from "zod"
import { picture, serve } from "./orders.mjs"

const makers = {
  responses: (at) => createOpenAI(at).responses,
  chat: (at) => createOpenAI(at).chat,
  messages: (at) => createAnthropic(at),
  compatible: (at) => createOpenAICompatible({ name: "starling", ...at })
}
const tools = {
  read: tool({
    description: "Reads.",
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }) => `content of ${path}`
  }),
  look: tool({ description: "Looks.", inputSchema: z.object({ at: z.string() }), execute: ({ at }) => `seen ${at}` }),
  draw: tool({
    description: "Draws.",
    inputSchema: z.object({}),
    execute: () => picture,
    toModelOutput: () => ({
      type: "content",
      value: [{ type: "file", mediaType: "image/png", data: { type: "data", data: picture } }]
    })
  })
}
const thinking = {
  openai: { reasoningEffort: "low", reasoningSummary: "auto", store: false, forceReasoning: true },
  anthropic: { thinking: { type: "enabled", budgetTokens: 1_024 } },
  starling: { reasoningEffort: "low" }
}

const ended = (steps) => (isStepCount ?? stepCountIs)(steps)

serve(async ({ baseURL, apiKey, dialect, model, prompt, fetch, thinks, leaves }) => {
  const asked = {
    model: makers[dialect]({ baseURL, apiKey, fetch })(model),
    tools,
    stopWhen: ended(5),
    maxRetries: 0,
    ...(thinks ? { providerOptions: thinking } : {})
  }
  if (leaves) {
    const leaving = new AbortController()
    const heard = await streamed({ ...asked, prompt, abortSignal: leaving.signal }, () => leaving.abort())
    const { text } = await generateText({
      ...asked,
      messages: [
        { role: "user", content: prompt },
        { role: "assistant", content: heard },
        { role: "user", content: "go on" }
      ]
    })
    return [heard, text]
  }
  return [(await generateText({ ...asked, prompt })).text, await streamed({ ...asked, prompt })]
})

const streamed = async (asked, onText = () => undefined) => {
  const failures = []
  const stream = streamText({ ...asked, onError: ({ error }) => void failures.push(error) })
  let text = ""
  for await (const piece of stream.textStream) {
    text += piece
    onText()
  }
  if (failures.length > 0) throw failures[0]
  return text
}
