/** OpenAI's words for what does not fit its keys, and the pages of its documentation. Pure. */
import { type Refusal, refusal, type Source } from "./refusal.ts"
import type { Fault, Step, Wanted } from "./shape.ts"

export const chatReference: Source = {
  page: "OpenAI: Create chat completion",
  url: "https://platform.openai.com/docs/api-reference/chat/create"
}
export const functionCalling: Source = {
  page: "OpenAI: Function calling",
  url: "https://platform.openai.com/docs/guides/function-calling"
}
export const structuredOutputs: Source = {
  page: "OpenAI: Structured model outputs",
  url: "https://platform.openai.com/docs/guides/structured-outputs"
}
export const reasoningModels: Source = {
  page: "OpenAI: Reasoning models",
  url: "https://platform.openai.com/docs/guides/reasoning"
}

export const pathOf = (path: ReadonlyArray<Step>) =>
  path.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
    ""
  )

const wanted: Readonly<Record<Wanted, string>> = {
  text: "a string",
  number: "a decimal",
  integer: "an integer",
  flag: "a boolean",
  object: "an object",
  list: "an array",
  "text or list": "one of a string or array of objects",
  "text or object": "one of a string or object"
}

const typeOf = (value: unknown) => {
  if (Array.isArray(value)) return "an array"
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal number"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

const listed = (names: ReadonlyArray<string>) => {
  const quoted = names.map((name) => `'${name}'`)
  if (quoted.length < 3) return quoted.join(" and ")
  return `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`
}

export const openAiRefusal = ({ path, what }: Fault): Refusal => {
  const at = pathOf(path)
  switch (what._tag) {
    case "Unknown":
      return refusal(`Unknown parameter: '${at}'.`, at, "unknown_parameter")
    case "Missing":
      return refusal(`Missing required parameter: '${at}'.`, at, "missing_required_parameter")
    case "Kind":
      return refusal(
        `Invalid value: '${what.found}'. Supported values are: ${listed(what.known)}.`,
        `${at}.${what.by}`,
        "invalid_value"
      )
    case "Type":
      return refusal(
        `Invalid type for '${at}': expected ${wanted[what.wanted]}, but got ${typeOf(what.found)} instead.`,
        at,
        "invalid_type"
      )
  }
}

export const tooLong = (path: string, value: string, most: number): Refusal | undefined =>
  value.length <= most
    ? undefined
    : refusal(
        `Invalid '${path}': string too long. Expected a string with maximum length ${most}, but got a string with length ${value.length} instead.`,
        path,
        "string_above_max_length"
      )
