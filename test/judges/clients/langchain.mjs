// LangChain's agent, by OpenAI's client in both of its dialects and by Anthropic's.
import { createAgent, tool } from "langchain"
import { AIMessage, HumanMessage } from "@langchain/core/messages"
import { ChatAnthropic } from "@langchain/anthropic"
import { ChatOpenAI } from "@langchain/openai"
import { z } from "zod"
import { picture, serve } from "./orders.mjs"

const openai = ({ model, apiKey, baseURL, fetch }, more) =>
  new ChatOpenAI({
    model,
    apiKey,
    maxRetries: 0,
    configuration: { baseURL, fetch },
    ...more
  })
// By name, for it keeps `reasoning` to itself where it does not know the model.
const thinking = {
  zdrEnabled: true,
  modelKwargs: { reasoning: { effort: "low" }, include: ["reasoning.encrypted_content"] }
}
const makers = {
  chat: (order) => openai(order, order.thinks ? { modelKwargs: { reasoning_effort: "low" } } : {}),
  responses: (order) => openai(order, { useResponsesApi: true, ...(order.thinks ? thinking : {}) }),
  messages: ({ model, apiKey, baseURL, fetch, thinks }) =>
    new ChatAnthropic({
      model,
      apiKey,
      maxRetries: 0,
      anthropicApiUrl: baseURL.replace(/\/v1$/u, ""),
      clientOptions: { fetch },
      maxTokens: 2_048,
      ...(thinks ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {})
    })
}
const pictures = {
  chat: [{ type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }],
  responses: [{ type: "input_image", detail: "auto", image_url: `data:image/png;base64,${picture}` }],
  messages: [{ type: "image", source: { type: "base64", media_type: "image/png", data: picture } }]
}
const toolsFor = (dialect) => [
  tool(({ path }) => `content of ${path}`, {
    name: "read",
    description: "Reads.",
    schema: z.object({ path: z.string() })
  }),
  tool(({ at }) => `seen ${at}`, { name: "look", description: "Looks.", schema: z.object({ at: z.string() }) }),
  tool(() => pictures[dialect], { name: "draw", description: "Draws.", schema: z.object({}) })
]
const textOf = ({ content }) => (typeof content === "string" ? content : content.map(({ text = "" }) => text).join(""))

serve(async (order) => {
  const model = makers[order.dialect](order)
  if (order.leaves) {
    const leaving = new AbortController()
    let heard = ""
    try {
      for await (const chunk of await model.stream(order.prompt, { signal: leaving.signal })) {
        heard += chunk.text
        if (heard !== "") leaving.abort()
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error
    }
    return [
      heard,
      (await model.invoke([new HumanMessage(order.prompt), new AIMessage(heard), new HumanMessage("go on")])).text
    ]
  }
  const agent = createAgent({ model, tools: toolsFor(order.dialect) })
  const asked = { messages: [{ role: "user", content: order.prompt }] }
  const last = ({ messages }) => textOf(messages.at(-1))
  const whole = last(await agent.invoke(asked))
  let streamed = ""
  // By their tokens a model is asked for a stream.
  for await (const [mode, state] of await agent.stream(asked, { streamMode: ["values", "messages"] })) {
    if (mode === "values") streamed = last(state)
  }
  return [whole, streamed]
})
