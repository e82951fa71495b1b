/** A tool call's input, as the model wrote it. Pure. */
import { Result } from "effect"
import { parseJsonText, weightMaxOf } from "#base"
import { isRecord, type JsonObject } from "./json.ts"

// They are written again, by a function that recurses.
const argumentLimits = { depthMax: 96, weightMax: weightMaxOf(1_048_576) }

/** A model's arguments may not be valid JSON; they then stay a text. */
export const inputOf = (input: string | JsonObject): JsonObject => {
  if (typeof input !== "string") return input
  if (input.trim() === "") return {}
  const parsed = Result.getOrUndefined(parseJsonText(input, argumentLimits))
  return isRecord(parsed) ? parsed : { arguments: input }
}

export const argumentsOf = (input: string | JsonObject): string =>
  typeof input === "string" ? input : JSON.stringify(input)
