/** The items of a response; each is one part of an answer. Pure. */
import { isRecord, type JsonObject, present, recordAt, textAt } from "../translate/json.ts"
import { inputOf } from "../translate/tool-input.ts"
import type { CallForms, ClientTool, OpenedPart } from "./AnswerEvents.ts"
import type { GatheredPart } from "./GatheredAnswer.ts"
import { sealThought } from "../translate/sealed-thought.ts"

export type ItemStatus = "in_progress" | "completed" | "incomplete"

type OpenedCall = Extract<OpenedPart, { readonly _tag: "ToolCall" }>

/** `place`: the response's id and the item's index. */
export const itemOf = (part: GatheredPart, place: string, calls: CallForms, status?: ItemStatus): JsonObject => {
  const { opened, text } = part
  const now = status ?? (part.isCut ? "incomplete" : "completed")
  switch (opened._tag) {
    case "Text":
    case "Refusal": {
      const content = now === "in_progress" ? [] : [contentPart(opened._tag, text)]
      return { id: itemId(opened, place, calls), type: "message", status: now, role: "assistant", content }
    }
    case "Reasoning":
    case "Encrypted":
      return present({
        id: itemId(opened, place, calls),
        type: "reasoning",
        summary: text === "" ? [] : [summaryPart(text)],
        encrypted_content: sealOf(part)
      })
    case "ToolCall":
      return { id: itemId(opened, place, calls), ...callItem(opened, text, calls), call_id: opened.id, status: now }
  }
}

const idPrefixes = { Text: "msg", Refusal: "msg", Reasoning: "rs", Encrypted: "rs" } as const
const callPrefixes = { Function: "fc", Custom: "ctc", Client: "cl" } as const

export const itemId = (opened: OpenedPart, place: string, calls: CallForms): string => {
  const prefix = opened._tag === "ToolCall" ? callPrefixes[calls(opened.name)._tag] : idPrefixes[opened._tag]
  return `${prefix}_${place}`
}

export const contentPart = (tag: "Text" | "Refusal", text: string): JsonObject =>
  tag === "Refusal" ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [], logprobs: [] }

export const summaryPart = (text: string): JsonObject => ({ type: "summary_text", text })

const sealOf = ({ opened, text, signature }: GatheredPart): string | undefined => {
  if (opened._tag === "Encrypted") return sealThought(opened)
  if (signature !== undefined) return sealThought({ _tag: "Signed", text, signature })
  return text === "" ? undefined : sealThought({ _tag: "Plain", text })
}

const callItem = ({ name }: OpenedCall, text: string, calls: CallForms): JsonObject => {
  const form = calls(name)
  switch (form._tag) {
    case "Function":
      return present({ type: "function_call", name: form.name, namespace: form.namespace, arguments: text })
    case "Custom":
      return { type: "custom_tool_call", name: form.name, input: customInput(text, form.key) }
    case "Client":
      return { type: `${form.name}_call`, ...clientItems[form.name](recordOf(text)) }
  }
}

/** The content of such a call's item, by the input that its tool was declared with. */
const clientItems: Readonly<Record<ClientTool, (input: JsonObject) => JsonObject>> = {
  local_shell: (input) => ({ action: shellAction(input) }),
  shell: ({ commands, timeout_ms = null, max_output_length = null }) => ({
    action: { commands: Array.isArray(commands) ? commands : [], timeout_ms, max_output_length }
  }),
  apply_patch: ({ type, path, diff }) => ({ operation: present({ type, path, diff }) }),
  tool_search: (input) => ({ execution: "client", arguments: input })
}

/** What the model wrote for a tool that takes any text; all of it if it did not use the tool's key. */
export const customInput = (text: string, key: string): string => {
  const input = textAt(recordOf(text), key)
  return input ?? text
}

const recordOf = (text: string): JsonObject => {
  const parsed = inputOf(text)
  return isRecord(parsed) ? parsed : {}
}

const shellAction = ({ command, ...more }: JsonObject): JsonObject => {
  const isCommand = Array.isArray(command) && command.every((word) => typeof word === "string")
  return {
    type: "exec",
    env: recordAt(more, "env"),
    ...present({ timeout_ms: more["timeout_ms"], user: more["user"], working_directory: more["working_directory"] }),
    command: isCommand ? command : typeof command === "string" ? ["bash", "-lc", command] : []
  }
}
