/** How much a model wrote, counted before anything is translated: a price may depend on it. Pure. */

// Where providers put what a model wrote: text, thoughts, refusals, and the arguments of calls.
const written = new Set([
  "content",
  "text",
  "thinking",
  "reasoning_content",
  "reasoning",
  "refusal",
  "arguments",
  "partial_json"
])
// Some providers repeat a thought under two or three of these.
const thoughtKeys = ["reasoning_content", "reasoning", "reasoning_details"]
const depthMax = 8

/** UTF-8 bytes of everything that a model wrote, in an event or in a complete answer. */
export const writtenBytes = (value: unknown, depth = 0): number => {
  if (typeof value !== "object" || value === null || depth > depthMax) return 0
  const thoughts = thoughtKeys.filter((key) => (Reflect.get(value, key) ?? "") !== "")
  let bytes = 0
  for (const [key, part] of Object.entries(value)) {
    if (thoughts.indexOf(key) > 0) continue
    if (typeof part === "string") bytes += written.has(key) ? Buffer.byteLength(part) : 0
    // A complete call's arguments, as Anthropic writes them.
    else if (key === "input") bytes += Buffer.byteLength(JSON.stringify(part))
    else bytes += writtenBytes(part, depth + 1)
  }
  return bytes
}
