/** The question in a request of either vendor's shape, and its count of tokens. Pure. */

export interface Asked {
  readonly model: string
  readonly isStreamed: boolean
  /** The last user message. */
  readonly message: string
  readonly inputTokens: number
  readonly outputTokensMax: number
  readonly includesUsage: boolean
}

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((part: unknown) => (isJson(part) && typeof part["text"] === "string" ? part["text"] : "")).join("")
}

/** Words count as tokens here. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  text.split(/(?<=\S)(?=\s)/u).filter((word) => word.trim() !== "")

export const askedOf = (body: unknown): Asked => {
  const request: Json = isJson(body) ? body : {}
  const messages = Array.isArray(request["messages"]) ? request["messages"].filter(isJson) : []
  const texts = messages.map(({ content }) => textOf(content))
  const system = textOf(request["system"])
  const options = isJson(request["stream_options"]) ? request["stream_options"] : {}
  return {
    model: typeof request["model"] === "string" ? request["model"] : "",
    isStreamed: request["stream"] === true,
    message: textOf(messages.findLast(({ role }) => role === "user")?.["content"]),
    inputTokens: [...texts, system].reduce((sum, text) => sum + wordsOf(text).length, 0),
    outputTokensMax: Number(request["max_tokens"] ?? request["max_completion_tokens"] ?? 1_000_000),
    includesUsage: options["include_usage"] === true
  }
}
