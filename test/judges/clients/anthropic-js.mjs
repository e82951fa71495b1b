// Anthropic's client in JavaScript, with the loop of an agent around it.
import Anthropic from "@anthropic-ai/sdk"
import { picture, serve } from "./orders.mjs"

const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) })
const tools = [
  { name: "read", description: "Reads.", input_schema: object({ path: { type: "string" } }) },
  { name: "look", description: "Looks.", input_schema: object({ at: { type: "string" } }) },
  { name: "draw", description: "Draws.", input_schema: object({}) }
]
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: picture } }
const resultOf = (name, { path, at }) => ({ read: `content of ${path}`, look: `seen ${at}` })[name] ?? [image]

const textOf = ({ content }) => content.map(({ text = "" }) => text).join("")

const ask = async (anthropic, { model, prompt, thinks }, stream) => {
  const messages = [{ role: "user", content: prompt }]
  const thinking = thinks ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {}
  const asked = { model, messages, tools, max_tokens: 2_048, ...thinking }
  for (;;) {
    const answer = stream
      ? await anthropic.messages.stream(asked).finalMessage()
      : await anthropic.messages.create(asked)
    const calls = answer.content.filter(({ type }) => type === "tool_use")
    if (calls.length === 0) return textOf(answer)
    messages.push({ role: "assistant", content: answer.content })
    const content = calls.map(({ id, name, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: resultOf(name, input)
    }))
    messages.push({ role: "user", content })
  }
}

const leave = async (anthropic, { model, prompt }) => {
  const messages = [{ role: "user", content: prompt }]
  for await (const event of await anthropic.messages.create({ model, messages, max_tokens: 2_048, stream: true })) {
    if (event.type === "content_block_delta" && event.delta.text) return event.delta.text
  }
  return ""
}

serve(async (order) => {
  const { baseURL, apiKey, fetch, model, prompt, leaves } = order
  const anthropic = new Anthropic({ baseURL: baseURL.replace(/\/v1$/u, ""), apiKey, fetch, maxRetries: 0 })
  if (leaves) {
    const heard = await leave(anthropic, order)
    const messages = [
      { role: "user", content: prompt },
      { role: "assistant", content: heard.trim() },
      { role: "user", content: "go on" }
    ]
    return [heard, textOf(await anthropic.messages.create({ model, messages, max_tokens: 2_048 }))]
  }
  return [await ask(anthropic, order, false), await ask(anthropic, order, true)]
})
