/**
 * Fetches the pictures and documents that a conversation names, through the guarded client: never from a private
 * address, never more than a few, never of any other type. It runs only once the call is paid for, so that the gateway
 * cannot be used to probe addresses for free.
 */
import { Context, Effect, Layer } from "effect"
import { UntrustedHttp } from "#egress"
import { Configuration } from "#configuration"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import type { FileData, FileKind, WebFile } from "../conversation/Conversation.ts"
import { keyOf } from "../conversation/files.ts"
import { namedDocumentTokens } from "../conversation/prompt-size.ts"
import { jsonBytes } from "../translate/json-bytes.ts"
import { placeholderOf } from "./dialects.ts"

const deadlineMs = 15_000
const atOnce = 4

interface Kind {
  readonly accept: string
  /** Zero means that the type is not accepted. */
  readonly bytesMax: (mediaType: string) => number
  readonly types: string
}

// A document's price is fixed before it is fetched. A larger one must be sent in the request, where it is counted.
const textBytesMax = namedDocumentTokens * 4
const pdfBytesMax = namedDocumentTokens * 24
const imageBytesMax = 8 * 1_024 * 1_024

const kinds: Readonly<Record<FileKind, Kind>> = {
  image: {
    accept: "image/*",
    bytesMax: (mediaType) => (/^image\/(?:png|jpeg|jpg|gif|webp)$/u.test(mediaType) ? imageBytesMax : 0),
    types: "PNG, JPEG, GIF or WebP"
  },
  document: {
    accept: "application/pdf, text/plain",
    bytesMax: (mediaType) =>
      mediaType === "application/pdf" ? pdfBytesMax : mediaType === "text/plain" ? textBytesMax : 0,
    types: "PDF or plain text"
  }
}

/** Returns each file that was fetched. */
type Fetched = (file: WebFile) => FileData

export class FileFetcher extends Context.Service<
  FileFetcher,
  {
    readonly fetch: (named: ReadonlyArray<WebFile>) => Effect.Effect<Fetched, GatewayFault>
  }
>()("starling/model-gateway/FileFetcher") {
  static readonly layer = Layer.effect(
    FileFetcher,
    Effect.gen(function* () {
      const { ModelGateway } = yield* Configuration
      const client = yield* (yield* UntrustedHttp).open({
        use: "images",
        allowCidrs: ModelGateway.ImageAllowCidrs,
        connectionsPerLaneMax: 8,
        lanesMax: 256,
        connectTimeoutMs: 5_000
      })
      const fetchOne = Effect.fn("FileFetcher.fetch")(function* (named: WebFile) {
        const { accept, bytesMax, types } = kinds[named.kind]
        const answer = yield* client
          .request({
            method: "GET",
            url: named.url,
            headers: { accept },
            body: null,
            deadlineMs,
            responseBytesMax: named.kind === "image" ? imageBytesMax : pdfBytesMax
          })
          // Callers are not told why a private address was not fetched.
          .pipe(
            Effect.mapError((error) =>
              refused(named, error._tag === "AddressRefused" ? "it may not be called" : error._tag)
            )
          )
        const mediaType = (answer.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
        if (answer.status !== 200) return yield* refused(named, `it answered ${answer.status}`)
        const max = bytesMax(mediaType)
        if (max === 0) return yield* refused(named, `it is no ${types}`)
        if (answer.truncated || writtenBytes(mediaType, answer.body) > max) {
          return yield* refused(named, `it is larger than ${max} bytes`)
        }
        const file: FileData = { _tag: "Data", mediaType, base64: Buffer.from(answer.body).toString("base64") }
        return [keyOf(named), file] as const
      })
      const fetchAll = Effect.fn("FileFetcher.fetchAll")(function* (named: ReadonlyArray<WebFile>) {
        const fetched = new Map(yield* Effect.forEach(named, fetchOne, { concurrency: atOnce }))
        return (file: WebFile) => fetched.get(keyOf(file)) ?? placeholderOf(file)
      })
      return FileFetcher.of({
        fetch: (named) => (named.length === 0 ? Effect.succeed(placeholderOf) : fetchAll(named))
      })
    })
  )
}

/** A text is written as a JSON string, and counts as one. */
const writtenBytes = (mediaType: string, body: Uint8Array) =>
  mediaType.startsWith("text/") ? jsonBytes(Buffer.from(body).toString("utf8")) - 2 : body.length

const refused = ({ kind, url }: WebFile, why: string) =>
  fault("INVALID_IMAGE_URL", {
    param: "image_url",
    message: `The ${kind} at ${url.slice(0, 200)} could not be fetched: ${why}`
  })
