/** The keys of a request that a reader does not read itself. Pure. */
import type { JsonObject } from "../translate/json.ts"
import { words } from "../translate/provider-keys.ts"

// Every name with which providers limit an answer: only the quoted limit is sent.
const limitKeys = words("max_tokens max_completion_tokens max_output_tokens max_new_tokens max_length")

/** The keys besides those that are read and the limits of the answer. */
export const besides = (request: JsonObject, read: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(request).filter(([key]) => !read.includes(key) && !limitKeys.includes(key)))

export const stopsOf = (stop: unknown): ReadonlyArray<string> => {
  const all: ReadonlyArray<unknown> = Array.isArray(stop) ? stop : [stop]
  return all.filter((each) => typeof each === "string").filter((each) => each !== "")
}
