/** Anthropic's words for what does not fit its keys, and the pages of its documentation. Pure. */
import { type Refusal, refusal, type Source } from "./refusal.ts"
import type { Fault, Wanted } from "./shape.ts"

const page = (name: string, path: string): Source => ({
  page: `Anthropic: ${name}`,
  url: `https://platform.claude.com/docs/en/${path}`
})

export const messagesReference = page("Create a message", "api/messages/create")
export const versioning = page("Versions", "api/versioning")
export const toolCalls = page("Handle tool calls", "agents-and-tools/tool-use/handle-tool-calls")
export const defineTools = page("Define tools", "agents-and-tools/tool-use/define-tools")
export const extendedThinking = page("Extended thinking", "build-with-claude/extended-thinking")
export const promptCaching = page("Prompt caching", "build-with-claude/prompt-caching")
export const vision = page("Images and vision", "build-with-claude/vision")
export const pdfs = page("PDF support", "build-with-claude/pdf-support")
export const structuredOutputs = page("Structured outputs", "build-with-claude/structured-outputs")
export const effort = page("Effort", "build-with-claude/effort")

const wanted: Readonly<Record<Wanted, string>> = {
  text: "string",
  number: "number",
  integer: "integer",
  flag: "boolean",
  object: "dictionary",
  list: "list",
  "text or list": "list",
  "text or object": "dictionary"
}

const quoted = (names: ReadonlyArray<string>) => names.map((name) => `'${name}'`).join(", ")

export const anthropicRefusal = ({ path, what }: Fault): Refusal => {
  const at = path.join(".")
  switch (what._tag) {
    case "Unknown":
      return refusal(`${at}: Extra inputs are not permitted`)
    case "Missing":
      return refusal(`${at}: Field required`)
    case "Kind":
      return refusal(
        `${at}: Input tag '${what.found}' found using '${what.by}' does not match any of the expected tags: ${quoted(what.known)}`
      )
    case "Type":
      return refusal(`${at}: Input should be a valid ${wanted[what.wanted]}`)
  }
}

/** As in "'a', 'b' or 'c'". */
export const oneOf = (names: ReadonlyArray<string>) =>
  names.length < 2 ? quoted(names) : `${quoted(names.slice(0, -1))} or '${names.at(-1)}'`
