/** Chat's own chunks as a caller gets them: the caller's name for the model, usage only if it was asked for. Pure. */
import { isRecord, type JsonObject, recordsAt, without } from "./json.ts"
import type { Translator } from "./Translator.ts"

// Says who answers behind a router.
const routing = ["provider", "provider_name", "x_groq", "service_tier"]

export const chatChunks = (model: string, includesUsage: boolean): Translator => ({
  push: (chunk) => {
    const isLast = recordsAt(chunk, "choices").length === 0 && isRecord(chunk["usage"])
    if (isLast && !includesUsage) return []
    const kept = includesUsage ? without(chunk, ...routing) : without(chunk, ...routing, "usage")
    return [{ ...kept, model }]
  },
  end: () => []
})

/** The same for a whole answer. */
export const chatAnswer = (answer: JsonObject, model: string): JsonObject => ({ ...without(answer, ...routing), model })
