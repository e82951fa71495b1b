/** The inputs of a call for embeddings, and its vectors in the encoding that its caller asked for. Pure. */
import { isRecord, type JsonObject, recordsAt } from "./json.ts"

/** A text, or the ids of its tokens. */
type EmbeddingInput = string | ReadonlyArray<number>

/** The inputs of a checked request. */
export const inputsOf = (input: unknown): ReadonlyArray<EmbeddingInput> =>
  Array.isArray(input) && typeof input[0] !== "number"
    ? (input as ReadonlyArray<EmbeddingInput>)
    : [input as EmbeddingInput]

/** Whether an answer has a vector for each of so many inputs. */
export const holdsVectors = (answer: JsonObject, inputs: number): boolean => {
  const vectors = Array.isArray(answer["data"]) ? (answer["data"] as ReadonlyArray<unknown>) : []
  return vectors.length === inputs && vectors.every((each) => isRecord(each) && isVector(each["embedding"]))
}

const isVector = (embedding: unknown) =>
  typeof embedding === "string" ? embedding !== "" : Array.isArray(embedding) && typeof embedding[0] === "number"

export type VectorEncoding = "float" | "base64"

/** The answer in the caller's encoding. Some providers know only lists of numbers, whatever they are asked for. */
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
