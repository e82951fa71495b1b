/** How large a prompt is, whatever its shape: text, messages, and images, which are not counted as text. Pure. */
import type { PromptSize } from "#x402"
import { isRecord, type JsonObject } from "../translate/json.ts"

// Everything in these goes to the model.
const spoken = [
  "messages",
  "system",
  "input",
  "instructions",
  "prompt",
  "tools",
  "functions",
  "response_format",
  "text"
]
const pictures = new Set(["image_url", "image", "input_image"])
// Bytes of files are no text; about that many of their characters are a token's.
const fileKeys = new Set(["data", "file_data"])
const fileBytesPerTextByte = 8
/** What a document counts that is only named: nobody fetches it before the call is paid for. */
export const namedDocumentTokens = 16_384
const textBytesPerToken = 4

/** `namedDocuments`: how many documents it names by their addresses. */
export const promptSize = (request: JsonObject, namedDocuments = 0): PromptSize => {
  let textBytes = namedDocuments * namedDocumentTokens * textBytesPerToken
  let images = 0
  // Walked without recursion; the depth was bounded when it was parsed.
  const open: Array<unknown> = spoken.map((key) => request[key])
  for (let value = open.pop(); open.length > 0 || value !== undefined; value = open.pop()) {
    if (typeof value === "string") textBytes += Buffer.byteLength(value)
    else if (Array.isArray(value)) open.push(...(value as ReadonlyArray<unknown>))
    else if (isRecord(value)) {
      if (typeof value["type"] === "string" && pictures.has(value["type"])) images += 1
      else {
        for (const [key, inner] of Object.entries(value)) {
          // The data of a source of type text are text.
          if (fileKeys.has(key) && typeof inner === "string" && value["type"] !== "text")
            textBytes += Math.ceil(inner.length / fileBytesPerTextByte)
          else open.push(inner)
        }
      }
    } else if (typeof value === "number" || typeof value === "boolean") textBytes += 4
  }
  const { messages, input } = request
  const turns = Array.isArray(messages) ? messages.length : Array.isArray(input) ? input.length : 1
  return { textBytes, messages: turns, images }
}
