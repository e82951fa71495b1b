/** Calls of tools in Anthropic's blocks as OpenAI's messages have them. Pure. */
import type { JsonObject } from "./json.ts"

/** Undefined without any: the key is then left out. */
export const toolCallsOf = (blocks: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> | undefined =>
  blocks.length === 0
    ? undefined
    : blocks.map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input ?? {}) }
      }))
