/** A call for images, read and checked. */
import { Effect } from "effect"
import { ImagesRequest } from "#contracts"
import { fault } from "../errors/GatewayFault.ts"
import { Catalogue, type CatalogueModel } from "../requests/Catalogue.ts"
import { checkShape } from "../requests/faces.ts"
import { readBody } from "../requests/read-body.ts"
import { imageRequestFault } from "./conversation-files.ts"
import { type JsonObject, numberAt, textAt } from "../translate/json.ts"

export interface ImageCall {
  readonly model: CatalogueModel
  readonly request: JsonObject
  readonly bytes: Uint8Array
  readonly prompt: string
  readonly count: number
}

export const readImageCall = Effect.fn("readImageCall")(function* () {
  const { bytes, json } = yield* readBody
  const request = yield* Effect.fromResult(checkShape(ImagesRequest, json))
  const model = yield* (yield* Catalogue).find(textAt(request, "model") ?? "", "image")
  if (request["stream"] === true) return yield* fault("STREAM_UNSUPPORTED", { param: "stream" })
  const wrong = imageRequestFault(request)
  if (wrong !== undefined) return yield* wrong
  const call: ImageCall = {
    model,
    request,
    bytes,
    prompt: textAt(request, "prompt") ?? "",
    count: numberAt(request, "n") ?? 1
  }
  return call
})
