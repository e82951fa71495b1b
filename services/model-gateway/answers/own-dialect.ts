/**
 * Answers for callers of the provider's own dialect: unchanged, with every key, except for the model's name, anything
 * that names a provider behind a router, and calls that a client could not tell apart. Pure but for its place in the
 * stream.
 */
import { Result } from "effect"
import { isRecord, type JsonObject, numberAt, recordAt, recordsAt, without } from "../translate/json.ts"
import type { AnswerFrame, AnswerTranslator } from "./AnswerEvents.ts"
import { type CallDelta, callDeltas } from "./call-deltas.ts"

type Events = ReadonlyArray<JsonObject>

const routing = ["provider", "provider_name", "x_groq", "service_tier"]

export const ownChunks = ({ model, includesUsage, nowSeconds }: AnswerFrame): AnswerTranslator => {
  let latest: JsonObject = {}
  let failure: string | undefined
  const choices = new Map<number, ReturnType<typeof choiceCalls>>()
  const callsOf = (choice: JsonObject) => {
    const index = numberAt(choice, "index") ?? 0
    const known = choices.get(index)
    if (known !== undefined) return known
    const calls = choiceCalls(`${String(latest["id"] ?? nowSeconds)}_${index}`)
    choices.set(index, calls)
    return calls
  }
  const withCalls = (choice: JsonObject): JsonObject => {
    const calls = callsOf(choice)
    const made = calls.next(choice)
    failure ??= calls.fault()
    return made
  }
  return {
    push: (chunk) => {
      latest = chunk
      const isUsage = recordsAt(chunk, "choices").length === 0 && isRecord(chunk["usage"])
      if (isUsage && !includesUsage) return []
      const kept = includesUsage ? without(chunk, ...routing) : without(chunk, ...routing, "usage")
      const given = chunk["choices"]
      return [{ ...kept, ...(Array.isArray(given) ? { choices: given.filter(isRecord).map(withCalls) } : {}), model }]
    },
    end: () => [],
    cut: () => {
      const { id, object, created } = latest
      return [{ id, object, created, model, choices: [...choices].flatMap(([index, calls]) => calls.cut(index)) }]
    },
    failure: () => failure
  }
}

/** The calls of one choice, of which there may be several. */
const choiceCalls = (answerId: string) => {
  const calls = callDeltas(() => answerId)
  let isOver = false
  let missing: string | undefined
  return {
    next: (choice: JsonObject): JsonObject => {
      const isLast = typeof choice["finish_reason"] === "string"
      const delta = recordAt(choice, "delta")
      const raw = recordsAt(delta, "tool_calls")
      if (raw.length === 0 && !isLast) return choice
      isOver ||= isLast
      const events = raw.flatMap((call) => written(calls.push(call), call))
      const rest = isLast ? calls.rest().flatMap((call) => written(call, {})) : []
      if (isLast) missing ??= calls.faultAtEnd()
      if (raw.length === 0 && rest.length === 0) return choice
      return { ...choice, delta: { ...delta, tool_calls: [...events, ...rest] } }
    },
    cut: (index: number): Events => {
      if (isOver) return []
      const rest = calls.rest().flatMap((call) => written(call, {}))
      const delta = rest.length === 0 ? {} : { tool_calls: rest }
      return [{ index, delta, logprobs: null, finish_reason: "length" }]
    },
    fault: () => missing ?? calls.fault()
  }
}

const written = (delta: CallDelta | undefined, raw: JsonObject): Events => {
  if (delta === undefined) return []
  const { nth, opened, text } = delta
  const rest = without(raw, "index", "id", "type", "function")
  if (isRecord(raw["custom"])) {
    const custom = { ...raw["custom"], ...(opened === undefined ? {} : { name: opened.name }), input: text }
    return [{ ...rest, index: nth, ...(opened === undefined ? {} : { id: opened.id, type: "custom" }), custom }]
  }
  if (opened === undefined) return [{ ...rest, index: nth, function: { arguments: text } }]
  const declared = { ...recordAt(raw, "function"), name: opened.name, arguments: text }
  return [{ ...rest, index: nth, id: opened.id, type: "function", function: declared }]
}

/** Fails with why the provider's answer makes no sense. */
export const ownCompletion = (
  answer: JsonObject,
  { model, nowSeconds }: AnswerFrame
): Result.Result<JsonObject, string> => {
  const kept = { ...without(answer, ...routing), model }
  if (!Array.isArray(answer["choices"])) return Result.succeed(kept)
  const answerId = String(answer["id"] ?? nowSeconds)
  const choices = recordsAt(answer, "choices").map((choice, at) => withIds(choice, `${answerId}_${at}`))
  return Result.map(Result.all(choices), (made) => ({ ...kept, choices: made }))
}

/** A call without an id could not be answered. */
const withIds = (choice: JsonObject, answerId: string): Result.Result<JsonObject, string> => {
  const message = recordAt(choice, "message")
  const calls = recordsAt(message, "tool_calls")
  if (calls.length === 0) return Result.succeed(choice)
  const deltas = callDeltas(() => answerId)
  const made = calls.map((call, index) => deltas.push({ ...call, index }))
  const late = new Map(deltas.rest().map((delta) => [delta.nth, delta]))
  const fault = deltas.faultAtEnd()
  if (fault !== undefined) return Result.fail(fault)
  const tool_calls = calls.map((call, nth) => ({ ...call, id: (made[nth] ?? late.get(nth))?.opened?.id }))
  return Result.succeed({ ...choice, message: { ...message, tool_calls } })
}

export const ownEvents = ({ model }: AnswerFrame): AnswerTranslator => {
  const open = new Set<unknown>()
  let usage: JsonObject = {}
  return {
    push: (event) => {
      if (event["type"] === "content_block_start") open.add(event["index"])
      if (event["type"] === "content_block_stop") open.delete(event["index"])
      if (event["type"] !== "message_start") return [event]
      const message = recordAt(event, "message")
      usage = recordAt(message, "usage")
      return [{ ...event, message: { ...message, model } }]
    },
    end: () => [],
    cut: () => [
      ...[...open].map((index) => ({ type: "content_block_stop", index })),
      {
        type: "message_delta",
        delta: { stop_reason: "max_tokens", stop_sequence: null },
        usage: { output_tokens: numberAt(usage, "output_tokens") ?? 0 }
      },
      { type: "message_stop" }
    ],
    failure: () => undefined
  }
}

export const ownMessage = (answer: JsonObject, { model }: AnswerFrame) => Result.succeed({ ...answer, model })
