/**
 * The keys of a request that a provider receives. Each list names what may be written; another key is refused if the
 * answer would differ without it, and otherwise omitted and reported. A price counts what is written, and an unreviewed
 * key may request more than its bytes show, as a template does. Pure.
 */
import { costlyParameters } from "#gateway/contract"
import { isNothing, type JsonObject } from "./json.ts"

export interface WrittenRequest {
  readonly body: JsonObject
  /** The keys that were not written although they have a value. */
  readonly leftOut: ReadonlyArray<string>
}

export interface KeyRules {
  readonly sent: ReadonlySet<string>
}

export const words = (text: string): ReadonlyArray<string> => text.split(" ")

// Keys that are not in the model's configuration were refused earlier.
const rules = (sent: ReadonlyArray<string>): KeyRules => ({ sent: new Set([...sent, ...costlyParameters]) })

const anthropicPromptKeys = ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config"]
const anthropicBetaKeys = ["output_format", "context_management", "cache_control"]

/** A count has nothing to do with the answer. */
export const anthropicCountKeys = rules([...anthropicPromptKeys, ...anthropicBetaKeys])

export const imageKeys = rules([
  ...words("model prompt n size quality style background moderation user safety_identifier"),
  ...words("response_format output_format output_compression seed negative_prompt"),
  ...words("image images image_url input_image mask input_fidelity"),
  ...words("width height aspect_ratio resolution steps guidance guidance_scale cfg_scale")
])

export const embeddingKeys = rules([
  ...words("model input dimensions encoding_format user"),
  ...words("input_type task truncate truncation normalized output_dimension output_dtype")
])

/** Values with which a caller requests nothing beyond the default. */
const usual: Readonly<Record<string, unknown>> = {
  __proto__: null,
  frequency_penalty: 0,
  presence_penalty: 0,
  repetition_penalty: 1,
  length_penalty: 1,
  min_p: 0,
  top_a: 0,
  top_logprobs: 0
}

/** Whether a key is sent although its value changes nothing. */
export const isDefault = (key: string, value: unknown): boolean => isNothing(value) || value === usual[key]

/** The part of the request that its provider may receive. */
export const allowedRequest = ({ sent }: Pick<KeyRules, "sent">, request: JsonObject): WrittenRequest => {
  const others = Object.keys(request).filter((key) => !sent.has(key))
  if (others.length === 0) return { body: request, leftOut: [] }
  return {
    body: Object.fromEntries(Object.entries(request).filter(([key]) => sent.has(key))),
    leftOut: others.filter((key) => !isDefault(key, request[key]))
  }
}

const namesMax = 20

/** Names the omitted keys. They come from the caller, so they are cleaned. */
export const leftOutHeaders = (leftOut: ReadonlyArray<string>): Readonly<Record<string, string>> => {
  const names = leftOut.slice(0, namesMax).map((name) => name.slice(0, 64).replace(/[^\w.-]/gu, "_"))
  return names.length === 0 ? {} : { "x-starling-left-out": names.join(", ") }
}
