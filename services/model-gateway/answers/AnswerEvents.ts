/**
 * A model's answer as it grows, independent of any dialect: parts by index, each opened once, added to, and closed.
 * Readers build it from a provider's stream, renderers write it as a caller's. Parts can grow alternately. Types only.
 */
import type { JsonObject } from "../translate/json.ts"
import type { Usage } from "../translate/usage.ts"

/** Why a model stopped; `paused` asks its caller to send the answer back for more. */
export type EndReason = "stop" | "length" | "calls" | "filtered" | "paused"

export type OpenedPart =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Refusal" }
  | { readonly _tag: "Reasoning" }
  /** The complete thought in a form that only its provider reads. */
  | { readonly _tag: "Encrypted"; readonly data: string }
  | { readonly _tag: "ToolCall"; readonly id: string; readonly name: string }

export type AnswerEvent =
  | { readonly _tag: "Begun"; readonly id: string | undefined }
  | { readonly _tag: "Opened"; readonly index: number; readonly part: OpenedPart }
  /** More of a text, a thought, a refusal, or the arguments of a call. */
  | { readonly _tag: "Added"; readonly index: number; readonly text: string }
  /** The provider's seal on a thought. */
  | { readonly _tag: "Sealed"; readonly index: number; readonly signature: string }
  /** `isCut`: the answer ended within this part. */
  | { readonly _tag: "Closed"; readonly index: number; readonly isCut: boolean }
  | { readonly _tag: "Used"; readonly usage: Usage }
  | { readonly _tag: "Ended"; readonly reason: EndReason }
  /** The provider's answer makes no sense from here on. */
  | { readonly _tag: "Failed"; readonly reason: string }

export type AnswerEvents = ReadonlyArray<AnswerEvent>

/** Reads one answer of a provider, event by event. It remembers its place in the stream. */
export interface AnswerReader {
  readonly push: (event: JsonObject) => AnswerEvents
  /** Called when the provider has sent everything. */
  readonly end: () => AnswerEvents
  /** Ends the answer early, as if it had reached its maximum length. */
  readonly cut: () => AnswerEvents
}

/** How the caller declared a tool, and therefore how the responses dialect writes a call of it. */
export type CallForm =
  | { readonly _tag: "Function"; readonly name: string; readonly namespace?: string }
  /** Takes any text, which the model wrote under this key of its arguments. */
  | { readonly _tag: "Custom"; readonly name: string; readonly key: string }
  /** A tool that the dialect identifies by its type alone. */
  | { readonly _tag: "Client"; readonly name: ClientTool }

export type ClientTool = "local_shell" | "shell" | "apply_patch" | "tool_search"

/** By the tool's name at the provider. */
export type CallForms = (name: string) => CallForm

/** What a caller's dialect includes besides the answer itself. */
export interface AnswerFrame {
  /** The caller's name for the model. */
  readonly model: string
  readonly nowSeconds: number
  /** Chat sends usage in a stream only on request. */
  readonly includesUsage: boolean
  /** The estimate, for dialects that report the input before the provider does. */
  readonly inputTokens: number
  /** As the caller sent it; the responses dialect repeats parts of it. */
  readonly request: JsonObject
  readonly calls: CallForms
}

/** What a caller receives for each event of its provider's stream. */
export interface AnswerTranslator {
  readonly push: (event: JsonObject) => ReadonlyArray<JsonObject>
  /** Called when the provider has sent everything. */
  readonly end: () => ReadonlyArray<JsonObject>
  /** Ends the answer early, as if it had reached its maximum length. */
  readonly cut: () => ReadonlyArray<JsonObject>
  /** Why the provider's answer makes no sense; nothing made since then may be sent. */
  readonly failure: () => string | undefined
}
