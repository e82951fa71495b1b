/** Streams as providers of both kinds may send them, made of a seed, each with what its model said. */
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { seeded } from "../../../libs/speech/laws.ts"

export interface SaidCall {
  readonly name: string
  /** Undefined where the provider gives none. */
  id: string | undefined
  input: string
}

/** What a client must be able to read of the events given so far. */
export interface Said {
  text: string
  refusal: string
  /** Text and refusal in their order. */
  prose: string
  thought: string
  readonly signatures: Array<string>
  readonly encrypted: Array<string>
  readonly calls: Map<string, SaidCall>
}

export interface Step {
  readonly event: JsonObject
  /** What the event adds. */
  readonly says: ReadonlyArray<(said: Said) => void>
}

export interface RandomStream {
  readonly kind: "openai" | "anthropic"
  readonly steps: ReadonlyArray<Step>
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined
  readonly reason: string
}

export const nothingSaid = (): Said => ({
  text: "",
  refusal: "",
  prose: "",
  thought: "",
  signatures: [],
  encrypted: [],
  calls: new Map()
})

export class Dice {
  readonly #next: () => number
  constructor(seed: number) {
    this.#next = seeded(seed)
  }
  below(bound: number) {
    return Math.floor(this.#next() * bound)
  }
  happens(chance: number) {
    return this.#next() < chance
  }
  of<A>(values: readonly [A, ...ReadonlyArray<A>]): A {
    return values[this.below(values.length)] ?? values[0]
  }
  /** A text in pieces, some of them empty. */
  pieces(text: string): ReadonlyArray<string> {
    const pieces: Array<string> = []
    for (let at = 0; at < text.length;) {
      const end = at + this.below(7)
      pieces.push(text.slice(at, end))
      at = end
    }
    return pieces
  }
  /** Sequences put into one, each in its own order. */
  merged<A>(sequences: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<A> {
    const left = sequences.filter(({ length }) => length > 0).map((values) => [...values])
    const merged: Array<A> = []
    while (left.length > 0) {
      const at = this.below(left.length)
      const [first, ...rest] = left[at] ?? []
      if (first !== undefined) merged.push(first)
      if (rest.length === 0) left.splice(at, 1)
      else left[at] = rest
    }
    return merged
  }
}

const words = ["wing ", "ein Vögel ", "飛ぶ ", "\n", "data: x\n\n", '"', "\\", "🐦 ", "{", "}", "a ", "flock "] as const

const textOf = (dice: Dice, most: number) => Array.from({ length: dice.below(most) + 1 }, () => dice.of(words)).join("")

const inputOf = (dice: Dice) => {
  const input: Record<string, unknown> = {}
  for (let nth = dice.below(4); nth > 0; nth--)
    input[`k${nth}`] = dice.of<unknown>([textOf(dice, 4), nth, null, [{ a: [] }], {}])
  return dice.happens(0.15) ? "" : JSON.stringify(input, null, dice.of([0, 1]))
}

const saysText = (text: string) => (said: Said) => {
  said.text += text
  said.prose += text
}
const saysRefusal = (text: string) => (said: Said) => {
  said.refusal += text
  said.prose += text
}
const thinks = (text: string) => (said: Said) => void (said.thought += text)
const signs = (signature: string) => (said: Said) => void said.signatures.push(signature)
const encrypts = (data: string) => (said: Said) => void said.encrypted.push(data)
const begins = (key: string, name: string, id: string | undefined) => (said: Said) =>
  void said.calls.set(key, { name, id, input: "" })
const names = (key: string, id: string) => (said: Said) => {
  const call = said.calls.get(key)
  if (call !== undefined) call.id = id
}
const argues = (key: string, text: string) => (said: Said) => {
  const call = said.calls.get(key)
  if (call !== undefined) call.input += text
}

interface Delta {
  readonly delta: JsonObject
  readonly says: Step["says"]
}

const thoughtDeltas = (dice: Dice): ReadonlyArray<Delta> => {
  if (dice.happens(0.5)) return []
  const text = textOf(dice, 8)
  const way = dice.of(["reasoning_content", "reasoning", "details", "both", "encrypted"])
  if (way === "encrypted") {
    const detail = { type: "reasoning.encrypted", data: "ZW5j", format: "x", index: 0 }
    return [{ delta: { reasoning_details: [detail] }, says: [encrypts("ZW5j")] }]
  }
  const isDetailed = way === "details" || way === "both"
  const pieces = dice.pieces(text).map((piece): Delta => {
    const detail = { type: "reasoning.text", text: piece, format: "anthropic-claude-v1", index: 0 }
    const plain = way === "both" ? { reasoning: piece } : { [way]: piece }
    return {
      delta: { ...(way === "details" ? {} : plain), ...(isDetailed ? { reasoning_details: [detail] } : {}) },
      says: [thinks(piece)]
    }
  })
  if (!isDetailed || dice.happens(0.3)) return pieces
  const sealed = { type: "reasoning.text", text: null, signature: "c2ln", format: "anthropic-claude-v1", index: 0 }
  return [...pieces, { delta: { reasoning_details: [sealed] }, says: [signs("c2ln")] }]
}

const proseDeltas = (dice: Dice): ReadonlyArray<Delta> => {
  const kind = dice.of(["text", "text", "text", "refusal", "none"])
  if (kind === "none") return []
  return dice
    .pieces(textOf(dice, 10))
    .map((piece) =>
      kind === "text"
        ? { delta: { content: piece }, says: [saysText(piece)] }
        : { delta: { content: null, refusal: piece }, says: [saysRefusal(piece)] }
    )
}

type CallWay = (typeof callWays)[number]

// How providers tell calls apart; only some of them may send them in turns.
const callWays = [
  "index",
  "index with the id each time",
  "index with a new id each time",
  "index, id after the name",
  "index without ids",
  "id alone",
  "neither after the first",
  "the same index"
] as const
const inTurns = new Set<CallWay>(callWays.slice(0, 6))

const callDeltas = (dice: Dice, way: CallWay, nth: number): ReadonlyArray<Delta> => {
  const key = `${nth}`
  const name = `tool_${nth}`
  const id = `call_${nth}_${dice.below(1_000)}`
  const hasIndex = way !== "id alone" && way !== "neither after the first"
  const place = hasIndex ? { index: way === "the same index" ? 0 : nth } : {}
  const firstId = way === "index, id after the name" || way === "index without ids" ? {} : { id }
  const laterId = (at: number) => {
    if (way === "index with a new id each time") return { id: `${id}_${at}` }
    if (way === "index, id after the name") return at === 0 ? { id } : {}
    return way === "index with the id each time" || way === "id alone" ? { id } : {}
  }
  const pieces = dice.pieces(inputOf(dice))
  const first: Delta = {
    delta: { tool_calls: [{ ...place, ...firstId, type: "function", function: { name, arguments: "" } }] },
    says: [begins(key, name, "id" in firstId ? id : undefined)]
  }
  // An id that is late has to come at all.
  const rest = way === "index, id after the name" && pieces.length === 0 ? [""] : pieces
  return [
    first,
    ...rest.map((piece, at): Delta => {
      const call = { ...place, ...laterId(at), function: { arguments: piece } }
      const late = way === "index, id after the name" && at === 0 ? [names(key, id)] : []
      return { delta: { tool_calls: [call] }, says: [...late, argues(key, piece)] }
    })
  ]
}

const olderCall = (dice: Dice): ReadonlyArray<Delta> => [
  { delta: { function_call: { name: "tool_0", arguments: "" } }, says: [begins("0", "tool_0", undefined)] },
  ...dice
    .pieces(inputOf(dice))
    .map((piece) => ({ delta: { function_call: { arguments: piece } }, says: [argues("0", piece)] }))
]

export const openAiStream = (dice: Dice): RandomStream => {
  const way = dice.of(callWays)
  const count = dice.below(4)
  const calls = Array.from({ length: count }, (_, nth) => callDeltas(dice, way, nth))
  const prose = proseDeltas(dice)
  const said = inTurns.has(way)
    ? dice.merged([prose, ...calls])
    : [...prose, ...(count === 1 && dice.happens(0.3) ? olderCall(dice) : calls.flat())]
  const usageWay = dice.of(["last", "each", "with the reason", "never"])
  const usage = { inputTokens: dice.below(999), outputTokens: dice.below(999) }
  const written = { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens, total_tokens: 1 }
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "theirs", provider: "hidden" }
  const reason = dice.of(["stop", "length", "tool_calls", "content_filter"])
  const chunk = (delta: JsonObject, finish: string | null, says: Step["says"] = []): Step => {
    const isTold = usageWay === "each" || (usageWay === "with the reason" && finish !== null)
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish }
    return { event: { ...head, choices: [choice], usage: isTold ? written : null }, says }
  }
  const steps = [...thoughtDeltas(dice), ...said].map(({ delta, says }) => chunk(delta, null, says))
  const empty = Array.from({ length: dice.below(3) }, () => chunk({}, null))
  const last = usageWay === "last" ? [{ event: { ...head, choices: [], usage: written }, says: [] }] : []
  return {
    kind: "openai",
    steps: [
      chunk({ role: "assistant", content: "" }, null),
      ...dice.merged([steps, empty]),
      chunk({}, reason),
      ...last
    ],
    usage: usageWay === "never" ? undefined : usage,
    reason
  }
}

/** A block's start, deltas and end. */
const block = (index: number, start: JsonObject, deltas: ReadonlyArray<Delta>, says: Step["says"] = []) => [
  { event: { type: "content_block_start", index, content_block: start }, says },
  ...deltas.map(({ delta, says: more }) => ({ event: { type: "content_block_delta", index, delta }, says: more })),
  { event: { type: "content_block_stop", index }, says: [] }
]

const thinkingBlock = (dice: Dice, index: number): ReadonlyArray<Step> => {
  if (dice.happens(0.3)) return block(index, { type: "redacted_thinking", data: "cmVk" }, [], [encrypts("cmVk")])
  const pieces = dice.happens(0.2) ? [] : dice.pieces(textOf(dice, 8))
  return block(index, { type: "thinking", thinking: "", signature: "" }, [
    ...pieces.map((piece) => ({ delta: { type: "thinking_delta", thinking: piece }, says: [thinks(piece)] })),
    { delta: { type: "signature_delta", signature: `c2ln${index}` }, says: [signs(`c2ln${index}`)] }
  ])
}

const textBlock = (dice: Dice, index: number): ReadonlyArray<Step> => {
  const citation = { type: "char_location", cited_text: "x", document_index: 0 }
  return block(index, { type: "text", text: "" }, [
    ...dice.pieces(textOf(dice, 8)).map((text) => ({ delta: { type: "text_delta", text }, says: [saysText(text)] })),
    ...(dice.happens(0.2) ? [{ delta: { type: "citations_delta", citation }, says: [] }] : [])
  ])
}

const serverBlock = (dice: Dice, index: number): ReadonlyArray<Step> =>
  dice.happens(0.5)
    ? block(index, { type: "server_tool_use", id: `srvtoolu_${index}`, name: "web_search", input: {} }, [
        { delta: { type: "input_json_delta", partial_json: '{"query":"birds"}' }, says: [] }
      ])
    : block(index, { type: "web_search_tool_result", tool_use_id: `srvtoolu_${index}`, content: [] }, [])

const callBlock = (dice: Dice, index: number): ReadonlyArray<Step> => {
  const [key, name, id] = [`${index}`, `tool_${index}`, `toolu_${index}`]
  const pieces = dice.pieces(inputOf(dice))
  return block(
    index,
    { type: "tool_use", id, name, input: {} },
    pieces.map((piece) => ({
      delta: { type: "input_json_delta", partial_json: piece },
      says: [argues(key, piece)]
    })),
    [begins(key, name, id)]
  )
}

export const anthropicStream = (dice: Dice): RandomStream => {
  const blocks = Array.from({ length: dice.below(5) }, (_, index) =>
    dice.of([thinkingBlock, textBlock, textBlock, serverBlock, callBlock])(dice, index)
  )
  const usage = { inputTokens: dice.below(999), outputTokens: dice.below(999) }
  const isTold = dice.happens(0.8)
  const reason = dice.of(["end_turn", "max_tokens", "tool_use", "refusal", "stop_sequence", "pause_turn"])
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "theirs",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: isTold ? { input_tokens: usage.inputTokens, output_tokens: 1 } : {}
  }
  const pings = Array.from({ length: dice.below(3) }, (): Step => ({ event: { type: "ping" }, says: [] }))
  const last = isTold ? { output_tokens: usage.outputTokens } : {}
  return {
    kind: "anthropic",
    steps: [
      { event: { type: "message_start", message }, says: [] },
      ...dice.merged([blocks.flat(), pings]),
      { event: { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: last }, says: [] },
      { event: { type: "message_stop" }, says: [] }
    ],
    usage: isTold ? usage : undefined,
    reason
  }
}

/** The events in the wire's form, with comments, cut into pieces anywhere. */
export const wireOf = (dice: Dice, events: ReadonlyArray<JsonObject>): ReadonlyArray<Uint8Array> => {
  const end = dice.of(["\n", "\r\n"])
  const text = events
    .map((event) => {
      const comment = dice.happens(0.1) ? `: keep-alive${end}${end}` : ""
      const type = typeof event["type"] === "string" ? `event: ${event["type"]}${end}` : ""
      return `${comment}${type}data: ${JSON.stringify(event)}${end}${end}`
    })
    .join("")
  const bytes = new TextEncoder().encode(text)
  const pieces: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length;) {
    const size = dice.below(200) + 1
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}
