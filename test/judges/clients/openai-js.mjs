// OpenAI's client in JavaScript, by chat and by responses, with the loop of an agent around it.
import OpenAI from "openai"
import { picture, serve } from "./orders.mjs"

const object = (properties) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false
})
const declared = [
  { name: "read", description: "Reads.", parameters: object({ path: { type: "string" } }) },
  { name: "look", description: "Looks.", parameters: object({ at: { type: "string" } }) },
  { name: "draw", description: "Draws.", parameters: object({}) }
]
const image = `data:image/png;base64,${picture}`
const resultOf = (name, text) => {
  const input = JSON.parse(text)
  return { read: `content of ${input.path}`, look: `seen ${input.at}` }[name]
}

const byChat = async (openai, { model, prompt, thinks }, stream) => {
  const messages = [{ role: "user", content: prompt }]
  const tools = declared.map((each) => ({ type: "function", function: each }))
  const asked = { model, messages, tools, ...(thinks ? { reasoning_effort: "low" } : {}) }
  for (;;) {
    const answer = stream
      ? await openai.chat.completions.stream(asked).finalChatCompletion()
      : await openai.chat.completions.create(asked)
    const { message } = answer.choices[0]
    if (message.tool_calls === undefined || message.tool_calls.length === 0) return message.content
    messages.push(message)
    for (const { id, function: called } of message.tool_calls) {
      const content = resultOf(called.name, called.arguments) ?? [{ type: "image_url", image_url: { url: image } }]
      messages.push({ role: "tool", tool_call_id: id, content })
    }
  }
}

const byResponses = async (openai, { model, prompt, thinks }, stream) => {
  const input = [{ role: "user", content: prompt }]
  const tools = declared.map((each) => ({ type: "function", strict: true, ...each }))
  const thinking = { reasoning: { effort: "low" }, store: false, include: ["reasoning.encrypted_content"] }
  const asked = { model, input, tools, ...(thinks ? thinking : {}) }
  for (;;) {
    const answer = stream ? await openai.responses.stream(asked).finalResponse() : await openai.responses.create(asked)
    const calls = answer.output.filter(({ type }) => type === "function_call")
    if (calls.length === 0) return answer.output_text
    input.push(...answer.output)
    for (const { call_id, name, arguments: text } of calls) {
      const output = resultOf(name, text) ?? [{ type: "input_image", detail: "auto", image_url: image }]
      input.push({ type: "function_call_output", call_id, output })
    }
  }
}

const leaveChat = async (openai, { model, prompt }) => {
  const stream = await openai.chat.completions.create({
    model,
    messages: [{ role: "user", content: prompt }],
    stream: true
  })
  for await (const { choices } of stream) if (choices[0]?.delta.content) return choices[0].delta.content
  return ""
}

const leaveResponses = async (openai, { model, prompt }) => {
  for await (const event of await openai.responses.create({ model, input: prompt, stream: true })) {
    if (event.type === "response.output_text.delta") return event.delta
  }
  return ""
}

const goOn = async (openai, { dialect, model, prompt }, heard) => {
  const turns = [
    { role: "user", content: prompt },
    { role: "assistant", content: heard },
    { role: "user", content: "go on" }
  ]
  return dialect === "chat"
    ? (await openai.chat.completions.create({ model, messages: turns })).choices[0].message.content
    : (await openai.responses.create({ model, input: turns })).output_text
}

serve(async (order) => {
  const { baseURL, apiKey, fetch, dialect, leaves } = order
  const openai = new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0 })
  if (leaves) {
    const heard = await (dialect === "chat" ? leaveChat : leaveResponses)(openai, order)
    return [heard, await goOn(openai, order, heard)]
  }
  const ask = dialect === "chat" ? byChat : byResponses
  return [await ask(openai, order, false), await ask(openai, order, true)]
})
