/**
 * A body as JSON, within its limit: one mebibyte, ten for one with images. Told while reading, so that nobody
 * sends ten mebibytes of text to hear that it was too much.
 */
import { Effect } from "effect"
import { jsonFault, readBytesWhile } from "#http"
import { Configuration } from "#runtime"
import { fault } from "../errors/GatewayFault.ts"

// Schemas of tools nest deeply.
const depthMax = 96
// How images are said in all of the shapes that are taken here.
const imageMarks = ['"image_url"', '"input_image"', '"image"', "data:image/"].map((mark) => Buffer.from(mark))

const hasImages = (head: Uint8Array) => {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length)
  return imageMarks.some((mark) => bytes.includes(mark))
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

export const readBody = Effect.gen(function* () {
  const { ModelGateway } = yield* Configuration
  const bytes = yield* readBytesWhile({
    bytesMax: ModelGateway.ImageBodyBytesMax,
    bytesMaxPlain: ModelGateway.BodyBytesMax,
    mayBeLarger: hasImages
  }).pipe(
    Effect.mapError(({ status, message }) => {
      if (status === 413) return fault("REQUEST_TOO_LARGE", { message: `The body is too large: ${message}` })
      return fault(status === 415 ? "INVALID_REQUEST" : "INVALID_JSON", { message })
    })
  )
  const text = yield* Effect.try({
    try: () => utf8.decode(bytes),
    catch: () => fault("INVALID_JSON", { message: "The body is not UTF-8" })
  })
  const broken = text.trim() === "" ? { reason: "it is empty", offset: 0 } : jsonFault(text, depthMax)
  if (broken !== undefined) {
    const message = `The body is not valid JSON: ${broken.reason} at offset ${broken.offset}`
    return yield* fault("INVALID_JSON", { message })
  }
  return { bytes, json: JSON.parse(text) as unknown }
})
