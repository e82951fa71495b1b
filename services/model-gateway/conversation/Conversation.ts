/**
 * A caller's complete request to a model, independent of any dialect: readers build it from a request, writers write it
 * for a provider. Types only.
 */
import type { JsonObject } from "../translate/json.ts"

export type ApiDialect = "chat" | "messages" | "responses"

export interface Conversation {
  readonly dialect: ApiDialect
  readonly turns: ReadonlyArray<Turn>
  readonly tools: ReadonlyArray<Tool>
  readonly choice: ToolChoice | undefined
  /** At most one tool call in an answer. */
  readonly isSerial: boolean
  readonly output: OutputForm | undefined
  readonly thinking: ThinkingWish | undefined
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly topK: number | undefined
  readonly stop: ReadonlyArray<string>
  /** The caller's end user. */
  readonly user: string | undefined
  readonly isStreamed: boolean
  /** The chat key with which the caller limits the answer, if it uses the newer one. */
  readonly limitKey?: "max_completion_tokens"
  /** Several answers to one question; only chat supports more than one. */
  readonly answers: number
  /** The request's other keys: a provider receives those in its table. */
  readonly others: JsonObject
}

/** Turns of one role can follow each other. */
export interface Turn {
  readonly role: "system" | "user" | "assistant"
  readonly parts: ReadonlyArray<Part>
  /** The speaker's name, if the dialect has one. */
  readonly name?: string
}

interface Marked {
  /** The prompt up to here is worth caching: `cache_control`, as its dialect writes it. */
  readonly cache?: JsonObject
}

export interface TextPart extends Marked {
  readonly _tag: "Text"
  readonly text: string
  readonly citations?: unknown
}

export interface ImagePart extends Marked {
  readonly _tag: "Image"
  readonly file: FileRef
  /** The level of detail at which it is read. */
  readonly detail?: string
}

export interface DocumentPart extends Marked {
  readonly _tag: "Document"
  readonly source: FileRef | PlainText | { readonly _tag: "Parts"; readonly parts: ReadonlyArray<Part> }
  readonly title?: string
  readonly context?: string
  readonly citations?: unknown
}

export interface PlainText {
  readonly _tag: "Plain"
  readonly text: string
}

export interface AudioPart extends Marked {
  readonly _tag: "Audio"
  readonly file: FileData
  readonly format: string
  /** Without the head that names its type. */
  readonly isBare: boolean
}

/** What the caller itself found. */
export interface SearchResultPart extends Marked {
  readonly _tag: "SearchResult"
  readonly title: string
  readonly source: string
  readonly parts: ReadonlyArray<Part>
  readonly citations?: unknown
}

export interface ToolCallPart extends Marked {
  readonly _tag: "ToolCall"
  readonly id: string
  readonly tool: ToolName
  /** JSON as the model wrote it, or its value, as the dialect carries it. */
  readonly input: string | JsonObject
  /** In chat's own terms the tool takes any text, which is contained in the JSON here. */
  readonly isCustom?: true
}

export interface ToolResultPart extends Marked {
  readonly _tag: "ToolResult"
  readonly id: string
  readonly parts: ReadonlyArray<Part>
  readonly isError: boolean
}

/** A model's thought. Each provider requires its own form of it back, or none. */
export interface ReasoningPart {
  readonly _tag: "Reasoning"
  readonly text: string
  /** Its provider's seal on the text. */
  readonly signature?: string
  /** The complete thought, readable only by its provider. */
  readonly encrypted?: string
}

export interface RefusalPart {
  readonly _tag: "Refusal"
  readonly text: string
}

/** A part that only a provider of the same dialect understands, as sent. */
export interface OwnPart {
  readonly _tag: "Own"
  readonly value: JsonObject
  /** The page in the result of a provider's own tool that fetches pages. */
  readonly page?: DocumentPart
  readonly path: string
}

export type Part =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | SearchResultPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | OwnPart

export type FileKind = "image" | "document"

export interface FileData {
  readonly _tag: "Data"
  readonly mediaType: string
  readonly base64: string
}

/** Fetched after the payment: providers receive no addresses. */
export interface WebFile {
  readonly _tag: "Web"
  readonly kind: FileKind
  readonly url: string
}

export type FileRef = FileData | WebFile

/** A tool's name, and the group in which it is declared, if any. */
export interface ToolName {
  readonly name: string
  readonly group?: string
}

/** How a caller declares a tool that it runs itself and whose calls it wants back. */
export type ToolForm = "function" | "custom" | "local_shell" | "shell" | "apply_patch" | "tool_search"

export interface CallersTool extends Marked, ToolName {
  readonly _tag: "Callers"
  readonly form: ToolForm
  readonly description?: string
  /** JSON schema of its input; none for a custom tool, whose input is any text. */
  readonly schema?: unknown
  readonly strict?: unknown
  /** The declaration as sent, for a provider of the same dialect. */
  readonly value: JsonObject
}

/** Runs at the provider, and costs extra there; or is defined by one provider and run by the caller. */
export interface ProvidersTool {
  readonly _tag: "Providers"
  /** Without its version. */
  readonly type: string
  readonly value: JsonObject
  readonly path: string
}

export type Tool = CallersTool | ProvidersTool

export type ToolChoice =
  | { readonly _tag: "Auto" | "None" | "Any" }
  | { readonly _tag: "Named"; readonly tool: ToolName }
  | { readonly _tag: "Own"; readonly value: JsonObject }

export type OutputForm =
  | { readonly _tag: "Json" }
  | {
      readonly _tag: "Schema"
      readonly name?: string
      readonly description?: string
      readonly schema: unknown
      readonly strict?: unknown
    }

/** By effort in words or by tokens, as the caller states it. `Own`: another form, as sent. */
export type ThinkingWish =
  | { readonly _tag: "Off" }
  | { readonly _tag: "Effort"; readonly effort: string }
  | { readonly _tag: "Budget"; readonly tokens: number; readonly value: JsonObject }
  | { readonly _tag: "Adaptive"; readonly effort: string | undefined; readonly value: JsonObject }
