/**
 * Answers of Anthropic's API: events, or a complete message, which is read as all its events at once. Blocks that only
 * callers of the same dialect understand, such as those of tools that the provider runs, are skipped. Pure but for its
 * place in the stream.
 */
import { isRecord, type JsonObject, numberAt, recordAt, recordsAt, textAt } from "../translate/json.ts"
import type { AnswerEvents, AnswerReader, EndReason, OpenedPart } from "./AnswerEvents.ts"
import { anthropicUsage } from "../translate/usage.ts"

const reasons: Readonly<Record<string, EndReason>> = {
  __proto__: null as never,
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "calls",
  refusal: "filtered",
  pause_turn: "paused"
}

export const eventReader = (): AnswerReader => {
  const blocks = openBlocks()
  let isBegun = false
  let isEnded = false
  let reason: EndReason = "stop"
  let usage: JsonObject = {}

  const used = (more: JsonObject): AnswerEvents => {
    if (Object.keys(more).length === 0) return []
    usage = { ...usage, ...known(more) }
    return [{ _tag: "Used", usage: anthropicUsage(usage) }]
  }
  const begin = (message: JsonObject): AnswerEvents => {
    if (isBegun) return []
    isBegun = true
    return [{ _tag: "Begun", id: textAt(message, "id") }, ...used(recordAt(message, "usage"))]
  }
  const end = (why: EndReason): AnswerEvents => {
    if (isEnded) return []
    isEnded = true
    return [...begin({}), ...blocks.closeAll(why === "length" || why === "filtered"), { _tag: "Ended", reason: why }]
  }
  return {
    push: (event) => {
      const index = numberAt(event, "index") ?? 0
      switch (event["type"]) {
        case "message_start":
          return begin(recordAt(event, "message"))
        case "content_block_start":
          return [...begin({}), ...blocks.open(index, recordAt(event, "content_block"))]
        case "content_block_delta":
          return blocks.add(index, recordAt(event, "delta"))
        case "content_block_stop":
          return blocks.stop(index)
        case "message_delta":
          reason = reasons[textAt(recordAt(event, "delta"), "stop_reason") ?? ""] ?? reason
          return used(recordAt(event, "usage"))
        case "message_stop":
          return end(reason)
        default:
          return []
      }
    },
    end: () => end(reason),
    cut: () => end("length")
  }
}

export const readMessage = (message: JsonObject): AnswerEvents => {
  const reader = eventReader()
  const blocks = recordsAt(message, "content").flatMap((block, index) => [
    { type: "content_block_start", index, content_block: block },
    { type: "content_block_stop", index }
  ])
  const delta = { stop_reason: message["stop_reason"] }
  return [
    { type: "message_start", message },
    ...blocks,
    { type: "message_delta", delta },
    { type: "message_stop" }
  ].flatMap(reader.push)
}

/** A later event contains null for anything it does not report. */
const known = (usage: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))

interface Block {
  readonly part: OpenedPart
  isEmpty: boolean
}

const openBlocks = () => {
  const blocks = new Map<number, Block>()
  // The event after a block's end shows whether the block was cut.
  let stopped: number | undefined

  const close = (index: number, isCut: boolean): AnswerEvents => {
    const block = blocks.get(index)
    blocks.delete(index)
    if (block === undefined) return []
    // Clients parse the arguments, and an empty text contains none.
    const isWithout = block.part._tag === "ToolCall" && block.isEmpty && !isCut
    const none: AnswerEvents = isWithout ? [{ _tag: "Added", index, text: "{}" }] : []
    return [...none, { _tag: "Closed", index, isCut }]
  }
  const settle = (isCut: boolean): AnswerEvents => {
    const index = stopped
    stopped = undefined
    return index === undefined ? [] : close(index, isCut)
  }
  const added = (index: number, text: string): AnswerEvents => {
    const block = blocks.get(index)
    if (block === undefined || text === "") return []
    block.isEmpty = false
    return [{ _tag: "Added", index, text }]
  }
  const sealed = (index: number, signature: string): AnswerEvents =>
    signature === "" || !blocks.has(index) ? [] : [{ _tag: "Sealed", index, signature }]

  return {
    open: (index: number, value: JsonObject): AnswerEvents => {
      const settled = settle(false)
      const part = partOf(value)
      if (part === undefined) return settled
      if (part._tag === "ToolCall" && part.name === "") return [{ _tag: "Failed", reason: "a call without a name" }]
      blocks.set(index, { part, isEmpty: true })
      return [
        ...settled,
        { _tag: "Opened", index, part },
        ...added(index, startOf(value)),
        ...sealed(index, textAt(value, "signature") ?? "")
      ]
    },
    add: (index: number, delta: JsonObject): AnswerEvents => {
      if (delta["type"] === "signature_delta") return sealed(index, textAt(delta, "signature") ?? "")
      const text = textAt(delta, "text") ?? textAt(delta, "thinking") ?? textAt(delta, "partial_json") ?? ""
      return [...settle(false), ...added(index, text)]
    },
    stop: (index: number): AnswerEvents => {
      const settled = settle(false)
      stopped = index
      return settled
    },
    closeAll: (isCut: boolean): AnswerEvents => {
      const isLast = (index: number) => isCut && index === last
      const last = stopped ?? [...blocks.keys()].at(-1)
      return [...blocks.keys()].flatMap((index) => close(index, isLast(index)))
    }
  }
}

const partOf = (block: JsonObject): OpenedPart | undefined => {
  switch (block["type"]) {
    case "text":
      return { _tag: "Text" }
    case "thinking":
      return { _tag: "Reasoning" }
    case "redacted_thinking":
      return { _tag: "Encrypted", data: textAt(block, "data") ?? "" }
    case "tool_use":
      return { _tag: "ToolCall", id: textAt(block, "id") ?? "", name: textAt(block, "name") ?? "" }
    default:
      return undefined
  }
}

/** A block's content from its start: in a complete message, everything. */
const startOf = (block: JsonObject): string => {
  const { input } = block
  if (isRecord(input)) return Object.keys(input).length === 0 ? "" : JSON.stringify(input)
  return textAt(block, "text") ?? textAt(block, "thinking") ?? ""
}
