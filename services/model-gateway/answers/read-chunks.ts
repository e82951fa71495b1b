/**
 * Answers of OpenAI-like providers: chunks, or a complete completion, which is read as a single chunk. If there are
 * several choices, the first is read. Pure but for its place in the stream.
 */
import { isRecord, type JsonObject, recordAt, recordsAt, textAt } from "../translate/json.ts"
import type { AnswerEvents, AnswerReader, EndReason, OpenedPart } from "./AnswerEvents.ts"
import { type CallDelta, callDeltas } from "./call-deltas.ts"
import { openAiUsage } from "../translate/usage.ts"

const reasons: Readonly<Record<string, EndReason>> = {
  __proto__: null as never,
  stop: "stop",
  length: "length",
  tool_calls: "calls",
  function_call: "calls",
  content_filter: "filtered"
}

/** `fallbackId`: for an answer without an id. */
export const chunkReader = (fallbackId: string): AnswerReader => {
  let id: string | undefined
  let isBegun = false
  let reason: EndReason = "stop"
  const calls = callDeltas(() => id ?? fallbackId)
  const parts = openParts()

  const begin = (given: string | undefined): AnswerEvents => {
    if (isBegun) return []
    isBegun = true
    id = given
    return [{ _tag: "Begun", id }]
  }
  const called = (raw: JsonObject): AnswerEvents => {
    const delta = calls.push(raw)
    const fault = calls.fault()
    if (fault !== undefined) return [{ _tag: "Failed", reason: fault }]
    return delta === undefined ? [] : parts.call(delta)
  }
  const ended = (why: EndReason): AnswerEvents => {
    const rest = calls.rest().flatMap(parts.call)
    const isAsking = why === "stop" && parts.hasCalls()
    return [...begin(undefined), ...rest, ...parts.close(why), { _tag: "Ended", reason: isAsking ? "calls" : why }]
  }
  return {
    push: (chunk) => {
      const [choice] = recordsAt(chunk, "choices")
      const begun = begin(textAt(chunk, "id"))
      const used: AnswerEvents = isRecord(chunk["usage"]) ? [{ _tag: "Used", usage: openAiUsage(chunk["usage"]) }] : []
      if (choice === undefined) return [...begun, ...used]
      const given = textAt(choice, "finish_reason")
      if (given !== undefined) reason = reasons[given] ?? "stop"
      const delta = recordAt(choice, "delta")
      const said = saidIn(delta).flatMap(parts.say)
      return [...begun, ...used, ...said, ...callsIn(delta).flatMap(called)]
    },
    end: () => {
      const events = ended(reason)
      const fault = calls.faultAtEnd()
      return fault === undefined ? events : [{ _tag: "Failed", reason: fault }]
    },
    cut: () => ended("length")
  }
}

export const readCompletion = (answer: JsonObject, fallbackId: string): AnswerEvents => {
  const reader = chunkReader(fallbackId)
  const [{ message, ...choice } = {}] = recordsAt(answer, "choices")
  const delta = isRecord(message) ? { ...message, tool_calls: numbered(recordsAt(message, "tool_calls")) } : {}
  return [...reader.push({ ...answer, choices: [{ ...choice, delta }] }), ...reader.end()]
}

const numbered = (calls: ReadonlyArray<JsonObject>) => calls.map((call, index) => ({ ...call, index }))

/** The open parts. Text, thoughts and refusals follow one another; calls stay open beside them. */
const openParts = () => {
  const calls = new Map<number, { readonly index: number; isEmpty: boolean }>()
  let prose: { readonly index: number; readonly tag: OpenedPart["_tag"] } | undefined
  let count = 0
  let latest = -1

  const closeProse = (isCut = false): AnswerEvents => {
    if (prose === undefined) return []
    const { index } = prose
    prose = undefined
    return [{ _tag: "Closed", index, isCut: isCut && index === latest }]
  }
  const open = (part: OpenedPart): AnswerEvents => {
    latest = count
    return [...closeProse(), { _tag: "Opened", index: count++, part }]
  }
  const say = (said: Said): AnswerEvents => {
    if (said._tag === "Encrypted") {
      const opened = open(said)
      return [...opened, { _tag: "Closed", index: latest, isCut: false }]
    }
    const tag = said._tag === "Signature" ? "Reasoning" : said._tag
    const opened = prose?.tag === tag ? [] : open({ _tag: tag })
    if (opened.length > 0) prose = { index: latest, tag }
    const index = prose?.index ?? latest
    latest = index
    if (said._tag !== "Signature") return [...opened, { _tag: "Added", index, text: said.text }]
    // Whatever follows the seal is another thought.
    return [...opened, { _tag: "Sealed", index, signature: said.text }, ...closeProse()]
  }
  const call = ({ nth, opened, text }: CallDelta): AnswerEvents => {
    const events = opened === undefined ? [] : [...open({ _tag: "ToolCall", ...opened })]
    if (opened !== undefined) calls.set(nth, { index: latest, isEmpty: true })
    const known = calls.get(nth)
    if (known === undefined || text === "") return events
    known.isEmpty = false
    latest = known.index
    return [...events, { _tag: "Added", index: latest, text }]
  }
  const close = (reason: EndReason): AnswerEvents => {
    const isCut = reason === "length" || reason === "filtered"
    const closed = [...calls.values()].flatMap(({ index, isEmpty }): AnswerEvents => {
      // Clients parse the arguments, and an empty text contains none.
      const none: AnswerEvents = isEmpty && !isCut ? [{ _tag: "Added", index, text: "{}" }] : []
      return [...none, { _tag: "Closed", index, isCut: isCut && index === latest }]
    })
    return [...closed, ...closeProse(isCut)]
  }
  return { say, call, close, hasCalls: () => calls.size > 0 }
}

type Said =
  | { readonly _tag: "Text" | "Reasoning" | "Refusal" | "Signature"; readonly text: string }
  | { readonly _tag: "Encrypted"; readonly data: string }

const saidIn = (delta: JsonObject): ReadonlyArray<Said> => {
  const details = recordsAt(delta, "reasoning_details")
  // The same thoughts, repeated in a single text.
  const plain = details.some((detail) => thoughtIn(detail) !== "")
    ? ""
    : textAt(delta, "reasoning_content") || textAt(delta, "reasoning")
  return [
    ...some("Reasoning", plain),
    ...details.flatMap((detail) => [...some("Reasoning", thoughtIn(detail)), ...sealIn(detail)]),
    ...contentIn(delta["content"]),
    ...some("Refusal", textAt(delta, "refusal"))
  ]
}

const some = (tag: "Text" | "Reasoning" | "Refusal" | "Signature", text: string | undefined): ReadonlyArray<Said> =>
  text === undefined || text === "" ? [] : [{ _tag: tag, text }]

const thoughtIn = (detail: JsonObject) => textAt(detail, "text") ?? textAt(detail, "summary") ?? ""

const sealIn = (detail: JsonObject): ReadonlyArray<Said> => {
  const data = detail["type"] === "reasoning.encrypted" ? textAt(detail, "data") : undefined
  return data === undefined ? some("Signature", textAt(detail, "signature")) : [{ _tag: "Encrypted", data }]
}

/** A text, or parts, in which some providers include their thoughts. */
const contentIn = (content: unknown): ReadonlyArray<Said> => {
  if (typeof content === "string") return some("Text", content)
  const parts = Array.isArray(content) ? content.filter(isRecord) : []
  return parts.flatMap((part) =>
    part["type"] === "thinking"
      ? some("Reasoning", recordsAt(part, "thinking").map(thoughtIn).join("") || textAt(part, "thinking"))
      : [...some("Text", textAt(part, "text")), ...some("Refusal", textAt(part, "refusal"))]
  )
}

/** The older form of a call has neither an index nor an id. */
const callsIn = (delta: JsonObject): ReadonlyArray<JsonObject> => {
  const { function_call: older } = delta
  const calls = recordsAt(delta, "tool_calls")
  return isRecord(older) ? [...calls, { index: -1, function: older }] : calls
}
