/** The images that a conversation only names: found, and put in, in each of the shapes. Pure. */
import { isRecord, type JsonObject, recordAt, textAt } from "../translate/json.ts"

const remote = /^https?:\/\//iu

const urlOf = (part: JsonObject): string | undefined => {
  const { type, image_url: image } = part
  if (type === "image_url") return typeof image === "string" ? image : textAt(recordAt(part, "image_url"), "url")
  if (type === "input_image") return typeof image === "string" ? image : undefined
  const source = recordAt(part, "source")
  return type === "image" && source["type"] === "url" ? textAt(source, "url") : undefined
}

export interface FetchedImage {
  readonly mediaType: string
  readonly base64: string
}

const filled = (part: JsonObject, { mediaType, base64 }: FetchedImage): JsonObject => {
  const url = `data:${mediaType};base64,${base64}`
  if (part["type"] === "image") return { ...part, source: { type: "base64", media_type: mediaType, data: base64 } }
  const { image_url: image } = part
  return { ...part, image_url: isRecord(image) ? { ...image, url } : url }
}

const spoken = ["messages", "input"] as const

/** Each once, in the order in which they stand. */
export const imageUrls = (request: JsonObject): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const key of spoken) {
    walk(request[key], (part) => {
      const url = urlOf(part)
      if (url !== undefined && remote.test(url)) found.add(url)
      return part
    })
  }
  return [...found]
}

export const withImages = (request: JsonObject, images: ReadonlyMap<string, FetchedImage>): JsonObject => {
  const changed: Record<string, unknown> = { ...request }
  for (const key of spoken) {
    if (!(key in request)) continue
    changed[key] = walk(request[key], (part) => {
      const image = images.get(urlOf(part) ?? "")
      return image === undefined ? part : filled(part, image)
    })
  }
  return changed
}

/** Messages hold content, content holds parts, results of tools hold content: three levels, and no deeper. */
const walk = (value: unknown, change: (part: JsonObject) => JsonObject, depth = 0): unknown => {
  if (Array.isArray(value)) return value.map((item: unknown) => walk(item, change, depth))
  if (!isRecord(value) || depth > 3) return value
  const changed = change(value)
  return Array.isArray(changed["content"])
    ? { ...changed, content: walk(changed["content"], change, depth + 1) }
    : changed
}
