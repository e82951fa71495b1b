/**
 * Random streams of both kinds of provider, translated for every dialect, whole or ended by the gateway anywhere: the
 * official clients read of them what the model said. The seed of a failure stands in its message.
 */
import { randomInt } from "node:crypto"
import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import OpenAI from "openai"
import { type AnswerShape, streamTranslator } from "../../../../services/model-gateway/answers/translation.ts"
import { sealedThought, unsealed } from "../../../../services/model-gateway/translate/sealed-thought.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { eventDecoder, type StreamFacts } from "../../../../services/model-gateway/translate/provider-apis.ts"
import {
  anthropicStream,
  Dice,
  nothingSaid,
  openAiStream,
  type RandomStream,
  type Said,
  wireOf
} from "./random-streams.ts"

type Dialect = AnswerShape["dialect"]

const shapeOf = (dialect: Dialect): AnswerShape => ({
  dialect,
  model: "demo/ours",
  request: {},
  includesUsage: true,
  inputTokens: 77,
  nowSeconds: 1_750_000_000
})

interface Case {
  readonly dialect: Dialect
  readonly stream: RandomStream
  /** The events that the gateway took, before it ended the stream itself. */
  readonly taken: number
  readonly isCut: boolean
  readonly said: Said
}

const caseOf = (dice: Dice, dialect: Dialect, stream: RandomStream): Case => {
  const isCut = dice.happens(0.25)
  // A provider that has ended its stream is not cut.
  const taken = isCut ? dice.below(stream.steps.length - 2) + 1 : stream.steps.length
  const said = nothingSaid()
  for (const { says } of stream.steps.slice(0, taken)) for (const say of says) say(said)
  return { dialect, stream, taken, isCut, said }
}

/** What the gateway gives out, through the same bytes and the same decoder. */
const translated = (dice: Dice, { dialect, stream, taken, isCut }: Case): ReadonlyArray<JsonObject> => {
  const { kind, steps } = stream
  const facts: StreamFacts = { isFinished: false, usage: undefined, answerBytes: 0 }
  const decode = eventDecoder(kind, facts)
  const translator = streamTranslator(shapeOf(dialect), kind)
  const events: Array<JsonObject> = []
  for (const bytes of wireOf(
    dice,
    steps.slice(0, taken).map(({ event }) => event)
  )) {
    for (const decoded of decode(bytes)) {
      if (decoded._tag !== "Event") assert.fail(JSON.stringify(decoded))
      events.push(...translator.push(decoded.event))
    }
  }
  assert.strictEqual(facts.isFinished, !isCut)
  events.push(...(isCut ? translator.cut() : translator.end()))
  assert.isUndefined(translator.failure())
  return events
}

const answeredBy = (events: ReadonlyArray<JsonObject>, isChat: boolean) => () => {
  const frames = events.map((event) => {
    const type = isChat ? "" : `event: ${String(event["type"])}\n`
    return `${type}data: ${JSON.stringify(event)}\n\n`
  })
  const body = `${frames.join("")}${isChat ? "data: [DONE]\n\n" : ""}`
  return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }))
}

/** What a client has read. */
interface Read {
  readonly prose: string
  readonly refusal: string | undefined
  readonly thought: string
  readonly signatures: ReadonlyArray<string>
  readonly encrypted: ReadonlyArray<string>
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly input: string }>
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined
  readonly reason: string
}

interface Loose {
  readonly [key: string]: Loose & string & number & ReadonlyArray<Loose>
}

const asLoose = (value: unknown) => value as Loose
const listOf = (value: unknown): ReadonlyArray<Loose> => (Array.isArray(value) ? (value as ReadonlyArray<Loose>) : [])

const readByChat = async (events: ReadonlyArray<JsonObject>): Promise<Read> => {
  const client = new OpenAI({ apiKey: "none", fetch: answeredBy(events, true), maxRetries: 0 })
  const runner = client.chat.completions.stream({ model: "demo/ours", messages: [{ role: "user", content: "?" }] })
  const answer = await runner.finalChatCompletion()
  const deltas = events.flatMap((event) =>
    listOf(event["choices"]).map((choice) => choice["delta"] as unknown as Loose)
  )
  const details = deltas.flatMap((delta) => listOf(delta["reasoning_details"]))
  const detailed = details.map((detail) => detail["text"] ?? "").join("")
  const plain = deltas.map((delta) => delta["reasoning_content"] ?? delta["reasoning"] ?? "").join("")
  const reasons = events.flatMap((event) => listOf(event["choices"]).map((choice) => choice["finish_reason"] ?? null))
  assert.strictEqual(reasons.filter((reason) => reason !== null).length, 1)
  const [choice] = answer.choices
  if (choice === undefined) return assert.fail("no choice")
  const calls = choice.message.tool_calls ?? []
  const older = choice.message.function_call
  return {
    prose: `${choice.message.content ?? ""}${choice.message.refusal ?? ""}`,
    refusal: choice.message.refusal ?? "",
    thought: plain === "" ? detailed : plain,
    signatures: details.flatMap((detail) => (detail["signature"] ? [detail["signature"]] : [])),
    encrypted: details.flatMap((detail) => (detail["data"] ? [detail["data"]] : [])),
    calls: [
      ...calls.map((call) =>
        call.type === "function"
          ? { id: call.id, name: call.function.name, input: call.function.arguments }
          : assert.fail("a call of another kind")
      ),
      ...(older === undefined || older === null ? [] : [{ id: "older", name: older.name, input: older.arguments }])
    ],
    usage: answer.usage && { inputTokens: answer.usage.prompt_tokens, outputTokens: answer.usage.completion_tokens },
    reason: choice.finish_reason
  }
}

const readByMessages = async (events: ReadonlyArray<JsonObject>): Promise<Read> => {
  const client = new Anthropic({ apiKey: "none", fetch: answeredBy(events, false), maxRetries: 0 })
  const runner = client.messages.stream({
    model: "demo/ours",
    max_tokens: 99,
    messages: [{ role: "user", content: "?" }]
  })
  const message = await runner.finalMessage()
  const inputs = new Map<number, string>()
  let open: number | undefined
  let count = 0
  for (const event of events.map(asLoose)) {
    if (event["type"] === "content_block_start") {
      assert.isUndefined(open, "a block that is still open")
      assert.strictEqual(event["index"], count++)
      open = event["index"]
    }
    if (event["type"] === "content_block_delta") {
      assert.strictEqual(event["index"], open)
      const { index = -1, delta } = event
      inputs.set(index, `${inputs.get(index) ?? ""}${delta?.["partial_json"] ?? ""}`)
    }
    if (event["type"] === "content_block_stop") {
      assert.strictEqual(event["index"], open)
      open = undefined
    }
  }
  assert.isUndefined(open)
  assert.deepStrictEqual([events[0]?.["type"], events.at(-1)?.["type"]], ["message_start", "message_stop"])
  assert.strictEqual(events.filter(({ type }) => type === "message_stop").length, 1)
  return {
    prose: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    refusal: undefined,
    thought: message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    signatures: message.content.flatMap((block) =>
      block.type === "thinking" && block.signature !== "" && block.signature !== unsealed ? [block.signature] : []
    ),
    encrypted: message.content.flatMap((block) => (block.type === "redacted_thinking" ? [block.data] : [])),
    calls: message.content.flatMap((block, index) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, input: inputs.get(index) ?? "" }] : []
    ),
    usage: { inputTokens: message.usage.input_tokens, outputTokens: message.usage.output_tokens },
    reason: message.stop_reason ?? ""
  }
}

const readByResponses = async (events: ReadonlyArray<JsonObject>): Promise<Read> => {
  const client = new OpenAI({ apiKey: "none", fetch: answeredBy(events, false), maxRetries: 0 })
  const response = await client.responses.stream({ model: "demo/ours", input: "?" }).finalResponse()
  assert.deepStrictEqual(
    events.map((event) => event["sequence_number"]),
    events.map((_, at) => at)
  )
  const done: Array<unknown> = []
  let open: number | undefined
  for (const event of events.map(asLoose)) {
    if (event["type"] === "response.output_item.added") {
      assert.isUndefined(open, "an item that is still open")
      assert.strictEqual(event["output_index"], done.length)
      open = event["output_index"]
    } else if ("output_index" in event) assert.strictEqual(event["output_index"], open)
    if (event["type"] === "response.output_item.done") {
      done.push(event["item"])
      open = undefined
    }
  }
  assert.isUndefined(open)
  const last = asLoose(events.at(-1))
  assert.deepStrictEqual(last["response"]?.["output"] as unknown, done)
  assert.strictEqual(last["type"], `response.${response.status}`)
  const endings = ["response.completed", "response.incomplete", "response.failed"]
  assert.strictEqual(events.filter(({ type }) => endings.includes(String(type))).length, 1)
  const contents = response.output.flatMap((item) => (item.type === "message" ? item.content : []))
  const thoughts = response.output.flatMap((item) => (item.type === "reasoning" ? [item] : []))
  const sealed = thoughts.flatMap(({ encrypted_content }) => sealedThought(encrypted_content ?? "") ?? [])
  return {
    prose: contents.map((part) => (part.type === "output_text" ? part.text : part.refusal)).join(""),
    refusal: contents.map((part) => (part.type === "refusal" ? part.refusal : "")).join(""),
    thought: thoughts.flatMap(({ summary }) => summary.map(({ text }) => text)).join(""),
    signatures: sealed.flatMap((thought) => (thought._tag === "Signed" ? [thought.signature] : [])),
    encrypted: sealed.flatMap((thought) => (thought._tag === "Encrypted" ? [thought.data] : [])),
    calls: response.output.flatMap((item) =>
      item.type === "function_call" ? [{ id: item.call_id, name: item.name, input: item.arguments }] : []
    ),
    usage: response.usage
      ? { inputTokens: response.usage.input_tokens, outputTokens: response.usage.output_tokens }
      : undefined,
    reason: response.incomplete_details?.reason ?? response.status ?? ""
  }
}

const readers: Readonly<Record<Dialect, (events: ReadonlyArray<JsonObject>) => Promise<Read>>> = {
  chat: readByChat,
  messages: readByMessages,
  responses: readByResponses
}

type Reason = "stop" | "length" | "calls" | "filtered" | "paused"

const given: Readonly<Record<string, Reason>> = {
  stop: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  length: "length",
  max_tokens: "length",
  tool_calls: "calls",
  tool_use: "calls",
  content_filter: "filtered",
  refusal: "filtered",
  pause_turn: "paused"
}

const wordOf: Readonly<Record<Dialect, Readonly<Record<Reason, string>>>> = {
  chat: { stop: "stop", length: "length", calls: "tool_calls", filtered: "content_filter", paused: "stop" },
  messages: {
    stop: "end_turn",
    length: "max_tokens",
    calls: "tool_use",
    filtered: "refusal",
    paused: "pause_turn"
  },
  responses: {
    stop: "completed",
    length: "max_output_tokens",
    calls: "completed",
    filtered: "content_filter",
    paused: "completed"
  }
}

const isOwn = ({ dialect, stream }: Case) => dialect === (stream.kind === "openai" ? "chat" : "messages")

const reasonOf = (tried: Case): string => {
  const { stream, dialect, isCut, said } = tried
  if (isOwn(tried)) return isCut ? (dialect === "chat" ? "length" : "max_tokens") : stream.reason
  const plain = isCut ? "length" : (given[stream.reason] ?? "stop")
  if (plain !== "stop") return wordOf[dialect][plain]
  if (stream.kind === "openai" && said.calls.size > 0) return wordOf[dialect].calls
  return dialect === "messages" && said.refusal !== "" ? "refusal" : wordOf[dialect].stop
}

const assertRead = (read: Read, tried: Case) => {
  const { said, stream, isCut, dialect } = tried
  const isPart = isCut || given[stream.reason] === "length" || given[stream.reason] === "filtered"
  assert.strictEqual(read.prose, dialect === "chat" ? said.text + said.refusal : said.prose)
  assert.strictEqual(read.refusal ?? said.refusal, said.refusal)
  assert.strictEqual(read.thought, said.thought)
  // Chat's caller has the whole of a thought with its signature, which is not there yet where the stream was cut.
  assert.deepStrictEqual(read.signatures, said.signatures)
  assert.deepStrictEqual(read.encrypted, said.encrypted)
  const byName = <A extends { readonly name: string }>(calls: Iterable<A>) =>
    [...calls].toSorted((left, right) => left.name.localeCompare(right.name))
  const expected = byName(said.calls.values()).map(({ id, name, input }) => ({
    id,
    name,
    input: input === "" && (isPart || !isOwn(tried)) ? "{}" : input
  }))
  // A call within which an answer ends has nothing added to it.
  const calls = byName(read.calls).map((call) => ({ ...call, input: call.input === "" && isPart ? "{}" : call.input }))
  assert.deepStrictEqual(
    calls.map(({ id, ...call }, at) => ({ id: expected[at]?.id === undefined ? undefined : id, ...call })),
    expected
  )
  assert.strictEqual(new Set(calls.map(({ id }) => id)).size, calls.length)
  for (const { id } of calls) assert.match(id, /^[\w-]{1,64}$/u)
  assert.strictEqual(read.reason, reasonOf(tried))
  if (!isCut && stream.usage !== undefined) assert.deepStrictEqual(read.usage, stream.usage)
}

// Alone it takes two minutes.
const hangsAfterMs = 900_000

const seeds = Number(process.env["STARLING_STREAMS"] ?? 3_000)

describe("thousands of random streams of providers", () => {
  const first = Number(process.env["STARLING_SEED"] ?? randomInt(1_000_000_000))

  it.each(["chat", "messages", "responses"] as const)(
    "are read by the official clients as the model said them, by %s",
    async (dialect) => {
      for (let seed = first; seed < first + seeds; seed++) {
        const dice = new Dice(seed)
        const stream = seed % 2 === 0 ? openAiStream(dice) : anthropicStream(dice)
        const tried = caseOf(dice, dialect, stream)
        try {
          assertRead(await readers[dialect](translated(dice, tried)), tried)
        } catch (error) {
          throw new Error(`seed ${seed}, by ${dialect}: ${String(error)}`, { cause: error })
        }
      }
    },
    hangsAfterMs
  )
})
