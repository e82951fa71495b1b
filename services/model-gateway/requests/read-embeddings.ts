/**
 * Calls for embeddings, read, checked and measured, and the vectors of their answers in the requested encoding. Inputs
 * are checked by hand: decoding a mebibyte of token ids with their schema takes a third of a second, and a call is
 * checked before it is paid for. Pure.
 */
import { Result, Struct } from "effect"
import { embeddingInputsMax, EmbeddingsRequest } from "#gateway/contract"
import type { PromptSize } from "#payments"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { RegisteredModel } from "../models/ModelRegistry.ts"
import { isRecord, type JsonObject, recordsAt, textAt, without } from "../translate/json.ts"
import { jsonBytes } from "../translate/json-bytes.ts"
import { allowedRequest, embeddingKeys } from "../translate/provider-keys.ts"
import { shapeCheck } from "./dialects.ts"
import { type ReadBody, type ReadParts, soldRequest } from "./read-call.ts"

export interface EmbeddingCall {
  readonly model: RegisteredModel
  readonly request: JsonObject
  readonly bytes: Uint8Array
  readonly prompt: PromptSize
  /** The keys of the request that the provider does not receive. */
  readonly leftOut: ReadonlyArray<string>
}

// The inputs are checked by hand.
const checkShape = shapeCheck(EmbeddingsRequest.mapFields(Struct.omit(["input"])))

/** Reads a call whose body has arrived. */
export const readEmbeddingCall = ({ bytes, json }: ReadBody, { find }: Pick<ReadParts, "find">) =>
  Result.flatMap(checkShape(json), (asked) => {
    const wrong = inputFault(asked["input"])
    if (wrong !== undefined) return Result.fail(wrong)
    return Result.flatMap(find(textAt(asked, "model") ?? "", "embedding"), (model) => {
      if (asked["stream"] === true) return Result.fail(fault("STREAM_UNSUPPORTED", { param: "stream" }))
      return Result.flatMap(soldRequest(asked, model.entry.ExtraParameters), (sold) => {
        const { body: request, leftOut } = allowedRequest(embeddingKeys, sold)
        return Result.map(embeddingSize(request["input"], model.entry.ContextTokens), (prompt): EmbeddingCall => ({
          model,
          request,
          bytes,
          prompt: { ...prompt, textBytes: prompt.textBytes + otherBytes(request) },
          leftOut
        }))
      })
    })
  })

// Short by their schema, and not part of a prompt.
const plainKeys = ["model", "input", "dimensions", "encoding_format", "user"] as const

/** Whatever is written besides the inputs also counts, because a provider may put it before each of them. */
const otherBytes = (request: JsonObject) => {
  const rest = without(request, ...plainKeys)
  return Object.keys(rest).length === 0 ? 0 : jsonBytes(rest)
}

const invalid = (path: ReadonlyArray<string>, message: string) => {
  const param = path.join(".")
  return fault("INVALID_REQUEST_BODY", {
    details: [{ path, message }],
    param,
    message: `Invalid request body: ${param}: ${message}`
  })
}

const wanted = "Expected a text, token ids, or a list of texts or of lists of token ids"

/** The first invalid input, by the schema of `EmbeddingsRequest`. */
export const inputFault = (input: unknown): GatewayFault | undefined => {
  if (input === "") return invalid(["input"], "Expected a text that is not empty")
  if (typeof input === "string") return undefined
  if (!Array.isArray(input)) return invalid(["input"], wanted)
  const list: ReadonlyArray<unknown> = input
  const [first] = list
  if (typeof first === "number") return tokensFault(list, ["input"])
  if (list.length === 0 || list.length > embeddingInputsMax) {
    return invalid(["input"], `Expected between 1 and ${embeddingInputsMax} inputs`)
  }
  for (const [at, each] of list.entries()) {
    const path = ["input", String(at)]
    if (typeof each !== typeof first) return invalid(path, "Expected all inputs to be texts, or all to be token ids")
    if (each === "") return invalid(path, "Expected a text that is not empty")
    if (typeof each === "string") continue
    const found = Array.isArray(each) ? tokensFault(each, path) : invalid(path, wanted)
    if (found !== undefined) return found
  }
  return undefined
}

const tokensFault = (tokens: ReadonlyArray<unknown>, path: ReadonlyArray<string>) => {
  if (tokens.length === 0) return invalid(path, "Expected at least one token id")
  const at = tokens.findIndex((each) => !Number.isSafeInteger(each) || (each as number) < 0)
  return at === -1 ? undefined : invalid([...path, String(at)], "Expected a token id: an integer from 0")
}

const bytesPerToken = 4
// No tokenizer makes longer tokens on average, so a text surely has at least that many.
const bytesPerTokenMax = 8

/**
 * What a quote counts: a token per id or per four bytes of text, and at least one per input. An input that surely does
 * not fit the model is refused; one that may not fit is left to the provider, whose refusal costs nothing.
 */
export const embeddingSize = (input: unknown, contextTokens: number): Result.Result<PromptSize, GatewayFault> => {
  let tokens = 0
  for (const [at, each] of inputsOf(input).entries()) {
    const bytes = typeof each === "string" ? Buffer.byteLength(each) : 0
    const least = typeof each === "string" ? Math.ceil(bytes / bytesPerTokenMax) : each.length
    if (least > contextTokens) {
      const message = `Input ${at} has at least ${least} tokens, and the model takes ${contextTokens} of one input`
      return Result.fail(fault("CONTEXT_LENGTH_EXCEEDED", { param: "input", message }))
    }
    tokens += typeof each === "string" ? Math.ceil(bytes / bytesPerToken) : each.length
  }
  return Result.succeed({ textBytes: tokens * bytesPerToken, images: 0 })
}

/** A text, or the ids of its tokens. */
type EmbeddingInput = string | ReadonlyArray<number>

/** The inputs of a checked request. */
export const inputsOf = (input: unknown): ReadonlyArray<EmbeddingInput> =>
  Array.isArray(input) && typeof input[0] !== "number"
    ? (input as ReadonlyArray<EmbeddingInput>)
    : [input as EmbeddingInput]

/** Whether an answer has a vector for each input. */
export const holdsVectors = (answer: JsonObject, inputs: number): boolean => {
  const vectors = Array.isArray(answer["data"]) ? (answer["data"] as ReadonlyArray<unknown>) : []
  return vectors.length === inputs && vectors.every((each) => isRecord(each) && isVector(each["embedding"]))
}

const isVector = (embedding: unknown) =>
  typeof embedding === "string" ? embedding !== "" : Array.isArray(embedding) && typeof embedding[0] === "number"

export type VectorEncoding = "float" | "base64"

/** The answer in the caller's encoding. Some providers return only lists of numbers, whatever is requested. */
export const embeddingAnswer = (answer: JsonObject, model: string, encoding: VectorEncoding): JsonObject => ({
  ...answer,
  model,
  data: recordsAt(answer, "data").map((each) => ({ ...each, embedding: encoded(each["embedding"], encoding) }))
})

const encoded = (embedding: unknown, encoding: VectorEncoding) => {
  if (typeof embedding === "string") return encoding === "base64" ? embedding : floatsOf(embedding)
  return encoding === "float" ? embedding : base64Of(embedding as ReadonlyArray<number>)
}

const bytesPerFloat = 4

/** 32-bit floats, little-endian, as OpenAI writes them. */
const base64Of = (floats: ReadonlyArray<number>): string => {
  const bytes = Buffer.alloc(floats.length * bytesPerFloat)
  for (const [at, float] of floats.entries()) bytes.writeFloatLE(float, at * bytesPerFloat)
  return bytes.toString("base64")
}

const floatsOf = (base64: string): ReadonlyArray<number> => {
  const bytes = Buffer.from(base64, "base64")
  return Array.from({ length: Math.floor(bytes.length / bytesPerFloat) }, (_, at) =>
    bytes.readFloatLE(at * bytesPerFloat)
  )
}
