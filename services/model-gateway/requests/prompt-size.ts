/**
 * The size of a prompt, which prices and the limit of a context count: the bytes of the request as it is written to a
 * provider. Only data in base64 are not counted as text, where a part was recognised in the conversation as a picture, a
 * document or a sound and stands where this provider reads one; each such part has a size of its own instead. What looks
 * like a picture anywhere else is text. Pure.
 */
import type { PromptSize } from "#x402"
import { isRecord, type JsonObject, recordAt, textAt } from "../translate/json.ts"
import { jsonBytes } from "../translate/json-bytes.ts"
import type { ProviderKind } from "../translate/provider-apis.ts"

const textBytesPerToken = 4
/** The tokens counted for a document that is only named, for it is fetched after the payment. */
export const namedDocumentTokens = 16_384

// Providers read these as pixels, whatever their bytes are; others are text, or may be.
const raster = /^image\/(?:png|jpe?g|gif|webp|bmp|tiff|heic|heif|avif)$/iu
// About this many of their characters count as much as a byte of text.
const compact = /^(?:application\/pdf|audio\/.{1,100})$/iu
const charactersPerTextByte = 8

/** `data`: a part's data; what of them is to be counted as text. */
type Take = (mediaType: string, data: string) => string

/** `recognised`: the data of all parts of the conversation; empty data stand for a file that is fetched later. */
export const promptSize = (kind: ProviderKind, body: JsonObject, recognised: ReadonlySet<string>): PromptSize => {
  let fileBytes = 0
  let images = 0
  const take: Take = (mediaType, data) => {
    if (data !== "" && !recognised.has(data)) return data
    if (raster.test(mediaType)) images += 1
    else if (data === "") fileBytes += namedDocumentTokens * textBytesPerToken
    else fileBytes += Math.ceil(compact.test(mediaType) ? data.length / charactersPerTextByte : (data.length * 3) / 4)
    return ""
  }
  const textBytes = jsonBytes(withoutData[kind](body, take))
  return { textBytes: textBytes + fileBytes, images }
}

type PartReader = (part: JsonObject, take: Take) => JsonObject

const parts = (value: unknown, read: PartReader, take: Take): unknown =>
  Array.isArray(value) ? value.map((part: unknown) => (isRecord(part) ? read(part, take) : part)) : value

const dataHead = /^data:([a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,100});base64,/iu

const withoutUrlData = (url: string, take: Take) => {
  const [head, mediaType = ""] = dataHead.exec(url) ?? []
  return head === undefined ? url : head + take(mediaType, url.slice(head.length))
}

const openAiPart: PartReader = (part, take) => {
  switch (part["type"]) {
    case "image_url": {
      const { image_url: image } = part
      if (typeof image === "string") return { ...part, image_url: withoutUrlData(image, take) }
      const url = textAt(recordAt(part, "image_url"), "url")
      return url === undefined
        ? part
        : { ...part, image_url: { ...recordAt(part, "image_url"), url: withoutUrlData(url, take) } }
    }
    case "file": {
      const data = textAt(recordAt(part, "file"), "file_data")
      return data === undefined
        ? part
        : { ...part, file: { ...recordAt(part, "file"), file_data: withoutUrlData(data, take) } }
    }
    case "input_audio": {
      const sound = recordAt(part, "input_audio")
      const { data, format } = sound
      if (typeof data !== "string" || data === "") return part
      const text = dataHead.test(data) ? withoutUrlData(data, take) : take(`audio/${String(format)}`, data)
      return { ...part, input_audio: { ...sound, data: text } }
    }
    default:
      return part
  }
}

const openAiMessage: PartReader = (message, take) => {
  const { content, images } = message
  if (!Array.isArray(content) && !Array.isArray(images)) return message
  return {
    ...message,
    ...(content === undefined ? {} : { content: parts(content, openAiPart, take) }),
    ...(images === undefined ? {} : { images: parts(images, openAiPart, take) })
  }
}

const anthropicPart: PartReader = (part, take) => {
  switch (part["type"]) {
    case "image":
    case "document":
      return withoutSourceData(part, take)
    case "tool_result":
      return { ...part, content: parts(part["content"], anthropicPart, take) }
    case "web_fetch_tool_result": {
      const result = recordAt(part, "content")
      return isRecord(result["content"])
        ? { ...part, content: { ...result, content: anthropicPart(result["content"], take) } }
        : part
    }
    default:
      return part
  }
}

const withoutSourceData: PartReader = (part, take) => {
  const source = recordAt(part, "source")
  const { type, data, media_type: mediaType, content } = source
  if (type === "base64" && typeof data === "string" && typeof mediaType === "string") {
    return { ...part, source: { ...source, data: take(mediaType, data) } }
  }
  if (type !== "content" || part["type"] !== "document") return part
  return { ...part, source: { ...source, content: parts(content, anthropicPart, take) } }
}

const anthropicMessage: PartReader = (message, take) =>
  Array.isArray(message["content"]) ? { ...message, content: parts(message["content"], anthropicPart, take) } : message

const withoutData: Readonly<Record<ProviderKind, PartReader>> = {
  openai: (body, take) => ({ ...body, messages: parts(body["messages"], openAiMessage, take) }),
  anthropic: (body, take) => ({ ...body, messages: parts(body["messages"], anthropicMessage, take) })
}
