/**
 * The size of a prompt, which prices and context limits use: the bytes of the request as written to a provider. The
 * base64 data of its pictures, documents and sounds are not counted as text; each has its own size instead. Anything
 * elsewhere that looks like a picture is text. Pure.
 */
import type { PromptSize } from "#payments"
import { jsonBytes } from "../translate/json-bytes.ts"
import type { PlacedFile, Written } from "./Written.ts"

const textBytesPerToken = 4
/** The tokens counted for a document that is only named, because it is fetched after the payment. */
export const namedDocumentTokens = 16_384

// Providers read these as pixels, whatever their bytes are; others are text, or can be.
const raster = /^image\/(?:png|jpe?g|gif|webp|bmp|tiff|heic|heif|avif)$/iu
// About this many of their characters count as one byte of text.
const compact = /^(?:application\/pdf|audio\/.{1,100})$/iu
const charactersPerTextByte = 8

/** `model`: the provider's name for it. */
export const promptSize = ({ body, files }: Pick<Written, "body" | "files">, model: string): PromptSize => {
  let textBytes = jsonBytes({ ...body, model })
  let images = 0
  for (const file of files) {
    textBytes -= file.base64.length
    if (file.as === "image" && raster.test(file.mediaType)) images += 1
    else textBytes += documentBytes(file)
  }
  return { textBytes, images }
}

const documentBytes = ({ mediaType, base64 }: PlacedFile) => {
  if (base64 === "") return namedDocumentTokens * textBytesPerToken
  return Math.ceil(compact.test(mediaType) ? base64.length / charactersPerTextByte : (base64.length * 3) / 4)
}
