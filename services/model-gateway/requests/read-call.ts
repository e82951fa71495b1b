/**
 * A call to a model, read, checked and measured: everything that can be known before the payment and the provider. A
 * request whose price the quote cannot know is refused: parameters and tools that cost extra upstream pass only if the
 * model's configuration names them.
 */
import { Effect, Option, Result } from "effect"
import { bodySizesOf, type CostlyParameter, costlyParameters } from "#gateway/contract"
import { parseJsonText, weightMaxOf } from "#base"
import { BodyRoom, type HttpCall, readBytesWhile, type WireError } from "#http"
import { Configuration } from "#configuration"
import { inputTokensOf, type OutputTokens, outputTokensOf, type PromptSize } from "#payments"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { ModelRegistry, ModelRoute, RegisteredModel } from "../models/ModelRegistry.ts"
import type { ApiDialect, Conversation, WebFile } from "../conversation/Conversation.ts"
import { promptSize } from "../conversation/prompt-size.ts"
import { soldTools } from "../conversation/sold-tools.ts"
import { isNothing, isRecord, type JsonObject, recordAt, textAt, without } from "../translate/json.ts"
import {
  checkConversation,
  checkRequest,
  readConversation,
  requestedTokens,
  placeholderOf,
  writtenFor
} from "./dialects.ts"

export interface ModelCall {
  readonly dialect: ApiDialect
  readonly model: RegisteredModel
  readonly request: JsonObject
  readonly conversation: Conversation
  /** The pictures and documents to fetch. */
  readonly named: ReadonlyArray<WebFile>
  /** The body as received. */
  readonly bytes: Uint8Array
  readonly isStreamed: boolean
  readonly includesUsage: boolean
  readonly outputTokens: OutputTokens
  /** The number of answers to one question. */
  readonly answers: number
  readonly prompt: PromptSize
  /** The keys of the request that the provider does not receive. */
  readonly leftOut: ReadonlyArray<string>
  /** Headers for a provider of the same dialect. */
  readonly headers: Readonly<Record<string, string>>
}

const answersMax = 128

/** Why a call is read; a count also answers for a prompt that fits into no window. */
type Purpose = "answer" | "count"

/** What is needed to read a call, besides its body. */
export interface ReadParts {
  readonly find: ModelRegistry["Service"]["find"]
  readonly http: Pick<HttpCall["Service"], "header">
}

/** Reads a call whose body has arrived. */
export const modelCallReader =
  (dialect: ApiDialect, purpose: Purpose = "answer") =>
  (body: ReadBody, { find, http }: ReadParts) =>
    callOf(dialect, body, { find, beta: betaOf(dialect, http.header), purpose })

const betaOf = (dialect: ApiDialect, header: HttpCall["Service"]["header"]) =>
  dialect === "messages" ? Option.getOrUndefined(header("anthropic-beta")) : undefined

interface CallParts {
  readonly find: ModelRegistry["Service"]["find"]
  readonly beta: string | undefined
  readonly purpose: Purpose
}

/** In one step and without a generator: what each unpaid call does must be cheap. Pure. */
const callOf = (dialect: ApiDialect, body: ReadBody, parts: CallParts) =>
  Result.flatMap(checkRequest(dialect, body.json), (request) =>
    Result.flatMap(parts.find(textAt(request, "model") ?? "", "chat"), (model) => {
      if (request["stream"] === true && !model.entry.Streams) {
        return Result.fail(fault("STREAM_UNSUPPORTED", { param: "stream" }))
      }
      const extras = model.entry.ExtraParameters
      const sold = Result.flatMap(checkConversation(dialect, request), () => soldRequest(request, extras))
      const read = Result.flatMap(sold, (given) => readConversation(dialect, given))
      return Result.flatMap(read, ({ conversation, named }) =>
        Result.flatMap(soldTools(conversation, extras), ({ conversation: asked, leftOut }) =>
          measuredCall({ dialect, request, model, conversation: asked, named, leftOut, bytes: body.bytes }, parts)
        )
      )
    })
  )

type SoldCall = Pick<ModelCall, "dialect" | "model" | "bytes" | "request" | "conversation" | "named" | "leftOut">

const measuredCall = (sold: SoldCall, { beta, purpose }: CallParts): Result.Result<ModelCall, GatewayFault> => {
  const { dialect, request, model, conversation } = sold
  const outputTokens = outputTokensOf(requestedTokens(dialect, request), model.entry.OutputTokensMax)
  return Result.flatMap(measured(sold, outputTokens.effective), (measure) => {
    const call: ModelCall = {
      ...sold,
      isStreamed: request["stream"] === true,
      includesUsage: recordAt(request, "stream_options")["include_usage"] === true,
      outputTokens,
      answers: Math.min(answersMax, conversation.answers),
      ...measure,
      headers: beta === undefined ? {} : { "anthropic-beta": beta }
    }
    const hasRoom = purpose === "count" ? Result.void : checkContext(dialect, call.prompt, model.entry.ContextTokens)
    return Result.map(hasRoom, () => call)
  })
}

type Measure = Pick<ModelCall, "prompt" | "leftOut">

/**
 * Measures what would be written to each of the model's providers: the largest counts. Fails if it can be written for
 * none of them.
 */
const measured = (
  { model, conversation, leftOut }: SoldCall,
  outputTokens: number
): Result.Result<Measure, GatewayFault> => {
  const write = writtenFor(conversation, { outputTokens, fetched: placeholderOf })
  let measure: Measure | undefined
  let first: GatewayFault | undefined
  for (const route of unlikeRoutes(model.routes)) {
    const written = write(route)
    if (Result.isFailure(written)) {
      first ??= written.failure
      continue
    }
    const prompt = promptSize(written.success, route.model)
    const before: Measure = measure ?? { prompt, leftOut }
    measure = {
      prompt: inputTokensOf(before.prompt) > inputTokensOf(prompt) ? before.prompt : prompt,
      leftOut: [...new Set([...before.leftOut, ...written.success.leftOut])]
    }
  }
  return measure === undefined ? Result.fail(first ?? fault("MODEL_UNAVAILABLE")) : Result.succeed(measure)
}

/** One for each way of writing a request, with the longest of their models' names. */
const unlikeRoutes = (routes: ReadonlyArray<ModelRoute>): ReadonlyArray<ModelRoute> => {
  if (routes.length <= 1) return routes
  const unlike = new Map<string, ModelRoute>()
  for (const route of routes) {
    const { kind, takes } = route.provider
    const way = JSON.stringify([kind, takes, route.maxTokensParameter])
    const before = unlike.get(way)
    if (before === undefined || Buffer.byteLength(before.model) < Buffer.byteLength(route.model)) unlike.set(way, route)
  }
  return [...unlike.values()]
}

/** Uses the same estimate as the quote: a prompt that fills the window leaves no room for an answer. */
const checkContext = (dialect: ApiDialect, prompt: PromptSize, contextTokens: number) => {
  const tokens = inputTokensOf(prompt)
  if (tokens < contextTokens) return Result.void
  const param = dialect === "responses" ? "input" : "messages"
  return Result.fail(
    fault("CONTEXT_LENGTH_EXCEEDED", { param, message: overflowWords(dialect, tokens, contextTokens) })
  )
}

/** The words by which clients of each dialect recognize that their conversation must become shorter. */
const overflowWords = (dialect: ApiDialect, tokens: number, contextTokens: number) =>
  dialect === "messages"
    ? `prompt is too long: ${tokens} tokens > ${contextTokens} maximum`
    : `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in about ${tokens} tokens. Please reduce the length of the messages.`

// Tool schemas nest deeply.
const depthMax = 96
// One of these appears in every request with an image, whatever its dialect.
const imageSigns = ['"image_url"', '"input_image"', '"image"', "data:image/"].map((sign) => Buffer.from(sign))

const hasImages = (head: Uint8Array) => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length)
  return imageSigns.some((sign) => bytes.includes(sign))
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/**
 * A body as JSON, within its limits. A body with images can be larger. The limit applies while reading, so that no
 * caller sends ten mebibytes of text only to learn that it was too much.
 */
export const readBody = Effect.gen(function* () {
  const { text, withImages } = bodySizesOf((yield* Configuration).ModelGateway)
  const room = yield* (yield* BodyRoom).held
  const read = readBytesWhile({ bytesMax: withImages, bytesMaxPlain: text, mayBeLarger: hasImages, room })
  return yield* Effect.fromResult(parsedBody(yield* Effect.mapError(read, bodyFault), text))
})

export interface ReadBody {
  readonly bytes: Uint8Array
  readonly json: unknown
}

// Any body may have the weight of a body with this many bytes.
const lightBytes = 1_048_576

/** By the body's own length: a limit of ten mebibytes must not allow one to be filled with empty objects. */
const weightMaxFor = (bytes: number, bytesMaxPlain: number) =>
  weightMaxOf(Math.min(bytesMaxPlain, Math.max(bytes, lightBytes)))

/** Images make a body larger, not heavier: its weight is bounded like that of a text body. */
const parsedBody = (bytes: Uint8Array, bytesMaxPlain: number): Result.Result<ReadBody, GatewayFault> => {
  const text = textOf(bytes)
  if (text === undefined) return Result.fail(fault("INVALID_JSON", { message: "The body is not UTF-8" }))
  const parsed = parseJsonText(text, { depthMax, weightMax: weightMaxFor(bytes.length, bytesMaxPlain) })
  if (Result.isSuccess(parsed)) return Result.succeed({ bytes, json: parsed.success })
  if (parsed.failure.isTooLarge === true) {
    return Result.fail(fault("REQUEST_TOO_LARGE", { message: `The body has ${parsed.failure.reason}` }))
  }
  const { offset, reason } = text.trim() === "" ? { reason: "it is empty", offset: 0 } : parsed.failure
  return Result.fail(fault("INVALID_JSON", { message: `The body is not valid JSON: ${reason} at offset ${offset}` }))
}

const bodyFault = ({ status, message }: WireError) => {
  if (status === 503) return fault("MODEL_UNAVAILABLE", { message, retryAfterSeconds: 1 })
  if (status === 413) return fault("REQUEST_TOO_LARGE", { message: `The body is too large: ${message}` })
  return fault(status === 415 ? "INVALID_REQUEST" : "INVALID_JSON", { message })
}

const textOf = (bytes: Uint8Array) => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const isOneOf =
  (...usual: ReadonlyArray<unknown>) =>
  (value: unknown) =>
    usual.includes(value)

/** Values that clients send although they change nothing; null, false and empty values also count. */
const usualValues: Readonly<Partial<Record<CostlyParameter, (value: unknown) => boolean>>> = {
  service_tier: isOneOf("auto", "default", "standard", "standard_only"),
  best_of: isOneOf(1),
  candidate_count: isOneOf(1),
  speed: isOneOf("standard"),
  inference_geo: isOneOf("global"),
  modalities: (value) => Array.isArray(value) && value.every((kind) => kind === "text"),
  search_parameters: (value) => isRecord(value) && value["mode"] === "off",
  // Even an empty one requests a search with all of its defaults.
  web_search_options: () => false
}

const asksForMore = (name: CostlyParameter, value: unknown) => {
  if (value === null || value === undefined) return false
  const isUsual = usualValues[name]
  return isUsual === undefined ? !isNothing(value) : !isUsual(value)
}

/**
 * The request without costly parameters that request nothing. `extras`: what its configuration sells with the model.
 * Pure.
 */
export const soldRequest = (
  request: JsonObject,
  extras: ReadonlyArray<string>
): Result.Result<JsonObject, GatewayFault> => {
  const given = costlyParameters.filter((name) => name in request && !extras.includes(name))
  const costly = given.find((name) => asksForMore(name, request[name]))
  if (costly !== undefined) {
    const message = `${costly} costs extra and is not sold with this model; leave it out`
    return Result.fail(fault("INVALID_PARAMETER", { param: costly, message }))
  }
  return Result.succeed(without(request, ...given))
}
