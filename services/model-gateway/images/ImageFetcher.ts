/**
 * Fetches the images that a conversation names, through the guarded door: never from a private address, never
 * more than a few, never anything but an image. Called only when the call is paid for, so that nobody uses us
 * to knock at doors for nothing.
 */
import { Context, Effect, Layer } from "effect"
import { UntrustedHttp } from "#egress"
import { Configuration } from "#runtime"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { JsonObject } from "../translate/json.ts"
import { type FetchedImage, imageUrls, withImages } from "./image-urls.ts"

const imagesMax = 16
const imageBytesMax = 8 * 1_024 * 1_024
const deadlineMs = 15_000
const atOnce = 4
const mediaType = /^image\/(?:png|jpeg|jpg|gif|webp)$/u

export class ImageFetcher extends Context.Service<
  ImageFetcher,
  {
    /** The request with its images in it. */
    readonly fill: (request: JsonObject) => Effect.Effect<JsonObject, GatewayFault>
  }
>()("starling/model-gateway/ImageFetcher") {
  static readonly layer = Layer.effect(
    ImageFetcher,
    Effect.gen(function* () {
      const { ModelGateway } = yield* Configuration
      const door = yield* (yield* UntrustedHttp).open({
        use: "images",
        allowCidrs: ModelGateway.ImageAllowCidrs,
        connectionsPerLaneMax: 8,
        lanesMax: 256,
        connectTimeoutMs: 5_000
      })
      const fetchOne = Effect.fn("ImageFetcher.fetch")(function* (url: string) {
        const answer = yield* door
          .request({
            method: "GET",
            url,
            headers: { accept: "image/*" },
            body: null,
            deadlineMs,
            responseBytesMax: imageBytesMax
          })
          // Why a private address was not called is nobody's business.
          .pipe(
            Effect.mapError((error) =>
              refused(url, error._tag === "AddressRefused" ? "it may not be called" : error._tag)
            )
          )
        const type = (answer.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
        if (answer.status !== 200) return yield* refused(url, `it answered ${answer.status}`)
        if (!mediaType.test(type)) return yield* refused(url, "it is no PNG, JPEG, GIF or WebP")
        if (answer.truncated) return yield* refused(url, `it is larger than ${imageBytesMax} bytes`)
        const image: FetchedImage = { mediaType: type, base64: Buffer.from(answer.body).toString("base64") }
        return [url, image] as const
      })
      const fill = Effect.fn("ImageFetcher.fill")(function* (request: JsonObject) {
        const urls = imageUrls(request)
        if (urls.length === 0) return request
        if (urls.length > imagesMax) {
          return yield* fault("INVALID_IMAGE_URL", {
            param: "image_url",
            message: `No more than ${imagesMax} images are fetched`
          })
        }
        const images = yield* Effect.forEach(urls, fetchOne, { concurrency: atOnce })
        return withImages(request, new Map(images))
      })
      return ImageFetcher.of({ fill })
    })
  )
}

const refused = (url: string, why: string) =>
  fault("INVALID_IMAGE_URL", {
    param: "image_url",
    message: `The image at ${url.slice(0, 200)} could not be fetched: ${why}`
  })
