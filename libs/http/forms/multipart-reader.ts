/**
 * A multipart body, cut into its parts as it comes in, chunk by chunk, by the parser of `effect/http`. That parser
 * pushes into callbacks and goes on after a fault and after the last boundary. Here each chunk returns the list of its
 * parts, up to the first fault or the end.
 */
import { MultipartParser } from "effect/http"
import type { PartHead } from "./form-spec.ts"

export type PartEvent =
  | { readonly _tag: "Began"; readonly head: PartHead }
  /** Valid until the next chunk is read. */
  | { readonly _tag: "Bytes"; readonly bytes: Uint8Array }
  | { readonly _tag: "Ended" }
  /** The last boundary; the bytes after it mean nothing. */
  | { readonly _tag: "Closed" }
  | { readonly _tag: "Malformed"; readonly reason: string }
  | { readonly _tag: "TooManyParts" }
  | { readonly _tag: "HeadTooLarge" }

export interface MultipartReader {
  readonly read: (chunk: Uint8Array) => ReadonlyArray<PartEvent>
}

/** The parser's own bound on the headers of one part; it also takes no more than 100 of them. */
export const partHeaderBytesMax = 16_384
// RFC 2046 allows 70 characters; some clients take a few more.
const boundaryCharactersMax = 128

/** None for a Content-Type without a boundary that can be searched for. */
export const multipartReader = (contentType: string, partsMax: number): MultipartReader | undefined => {
  let events: Array<PartEvent> = []
  let isOver = false
  const add = (event: PartEvent) => {
    if (!isOver) events.push(event)
  }
  const last = (event: PartEvent) => {
    add(event)
    isOver = true
  }
  const parser = MultipartParser.make({
    headers: { "content-type": contentType },
    maxParts: partsMax,
    // Fields come in pieces as files do, so that each can have its own limit.
    isFile: () => true,
    onField: () => undefined,
    onFile: (info) => {
      if (info.contentDisposition !== "form-data") last(malformed("a part is not form-data"))
      add({ _tag: "Began", head: headOf(info) })
      return (bytes) => add(bytes === null ? { _tag: "Ended" } : { _tag: "Bytes", bytes })
    },
    onError: (error) => last(faultOf(error)),
    onDone: () => last({ _tag: "Closed" })
  })
  // The parser has reported a missing boundary by now.
  if (isOver || boundaryOf(contentType).length > boundaryCharactersMax) return undefined
  return {
    read: (chunk) => {
      if (isOver) return []
      parser.write(chunk)
      const found = events
      events = []
      return found
    }
  }
}

const boundaryOf = (contentType: string) => /boundary=(.*)$/iu.exec(contentType)?.[1] ?? ""

const headOf = (info: MultipartParser.PartInfo): PartHead => ({
  name: info.name,
  fileName: info.filename,
  contentType: info.headers["content-type"] === undefined ? undefined : info.contentType,
  charset: info.contentTypeParameters["charset"]
})

const malformed = (reason: string): PartEvent => ({ _tag: "Malformed", reason })

const faultOf = (error: MultipartParser.MultipartError): PartEvent => {
  if (error._tag === "ReachedLimit") return { _tag: "TooManyParts" }
  if (error._tag === "BadHeaders") {
    const { reason } = error.error
    const isTooLarge = reason === "HeaderTooLarge" || reason === "TooManyHeaders"
    return isTooLarge ? { _tag: "HeadTooLarge" } : malformed("a part has malformed headers")
  }
  return malformed("a part has no valid Content-Disposition")
}
