/**
 * What a live connection is asked to do and what it reports, independent of any dialect; and how a dialect translates
 * both.
 */
import type { Result } from "effect"
import type { OtherMark, WordMark } from "#speech/contract"
import type { WireError } from "#http"
import type { Order } from "../speaking/plan.ts"
import type { ContextEvent, LiveContext } from "./LiveContext.ts"

export interface ContextOrder extends Omit<Order, "turns"> {
  readonly voiceId: string
  readonly maxWaitMs: number
  readonly ssml?: boolean | undefined
}

export type LiveCommand =
  | { readonly _tag: "Start"; readonly contextId: string; readonly order: ContextOrder }
  | { readonly _tag: "Text"; readonly contextId: string; readonly text: string }
  | { readonly _tag: "Flush"; readonly contextId: string; readonly flushId?: string | undefined }
  | { readonly _tag: "Cancel"; readonly contextId: string; readonly playedMs?: number | undefined }
  | { readonly _tag: "End"; readonly contextId: string }
  | { readonly _tag: "KeepAlive" }
  /** Answers without a context. */
  | { readonly _tag: "Reply"; readonly message: object }
  | { readonly _tag: "Close" }

/** Whether a context is open decides what some vendor messages mean. */
export type IsOpen = (contextId: string) => boolean

export type LiveEvent =
  | { readonly _tag: "Started" }
  | { readonly _tag: "Cancelled"; readonly marks: ReadonlyArray<WordMark>; readonly others: ReadonlyArray<OtherMark> }
  | ContextEvent

export interface LiveDialect {
  /** The commands of a message, or the refusal with every fault. */
  readonly read: (message: unknown, isOpen: IsOpen) => Result.Result<ReadonlyArray<LiveCommand>, WireError>
  /** Messages that report the event; each is sent as JSON. */
  readonly write: (context: LiveContext, event: LiveEvent) => ReadonlyArray<object>
  /** A message was rejected. */
  readonly refuse: (error: WireError, contextId: string | undefined) => object
  /** The connection has one context, and closes when that one is over. */
  readonly isOfOneContext?: boolean
}
