/** The object that responses are: its head, its items, and how it ended. Whole answers and streams share it. Pure. */
import type { JsonObject } from "./json.ts"
import { asResponsesUsage, type Usage } from "./stop-reasons.ts"

export interface FunctionCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

export interface ResponseParts {
  readonly id: string
  readonly model: string
  readonly createdSeconds: number
  /** What was asked; parts of it are told back. */
  readonly request: JsonObject
  readonly thought: string
  readonly text: string | undefined
  readonly calls: ReadonlyArray<FunctionCall>
  /** In chat's words. */
  readonly reason: string | undefined
  readonly usage: Usage | undefined
}

type Status = "in_progress" | "completed" | "incomplete"

export const responseHead = (
  { id, model, createdSeconds, request }: Pick<ResponseParts, "id" | "model" | "createdSeconds" | "request">,
  status: Status,
  output: ReadonlyArray<JsonObject>
): JsonObject => ({
  id: `resp_${id}`,
  object: "response",
  created_at: createdSeconds,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: request["instructions"] ?? null,
  max_output_tokens: request["max_output_tokens"] ?? null,
  metadata: request["metadata"] ?? {},
  model,
  output,
  parallel_tool_calls: request["parallel_tool_calls"] ?? true,
  previous_response_id: null,
  reasoning: request["reasoning"] ?? { effort: null, summary: null },
  store: false,
  temperature: request["temperature"] ?? null,
  text: request["text"] ?? { format: { type: "text" } },
  tool_choice: request["tool_choice"] ?? "auto",
  tools: request["tools"] ?? [],
  top_p: request["top_p"] ?? null,
  truncation: "disabled",
  usage: null,
  user: request["user"] ?? null
})

export const reasoningItem = (id: string, thought: string): JsonObject => ({
  id: `rs_${id}`,
  type: "reasoning",
  summary: thought === "" ? [] : [{ type: "summary_text", text: thought }]
})

export const textPart = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] })

export const messageItem = (id: string, text: string | undefined, status: Status): JsonObject => ({
  id: `msg_${id}`,
  type: "message",
  status,
  role: "assistant",
  content: text === undefined ? [] : [textPart(text)]
})

export const callItem = (id: string, at: number, call: FunctionCall, status: Status): JsonObject => ({
  id: `fc_${id}_${at}`,
  type: "function_call",
  status,
  call_id: call.id,
  name: call.name,
  arguments: call.input
})

/** What is said of a response that has ended, beside its head. */
export const endingOf = (reason: string | undefined, usage: Usage | undefined) => {
  const cut = reason === "length" ? "max_output_tokens" : reason === "content_filter" ? "content_filter" : undefined
  return {
    status: cut === undefined ? ("completed" as const) : ("incomplete" as const),
    incomplete_details: cut === undefined ? null : { reason: cut },
    usage: usage === undefined ? null : asResponsesUsage(usage)
  }
}

export const responseOf = (parts: ResponseParts): JsonObject => {
  const ending = endingOf(parts.reason, parts.usage)
  const output = [
    ...(parts.thought === "" ? [] : [reasoningItem(parts.id, parts.thought)]),
    ...(parts.text === undefined ? [] : [messageItem(parts.id, parts.text, ending.status)]),
    ...parts.calls.map((call, at) => callItem(parts.id, at, call, "completed"))
  ]
  return { ...responseHead(parts, ending.status, output), ...ending }
}
