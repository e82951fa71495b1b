/**
 * A multipart body, cut into its parts as it arrives, chunk by chunk, by the parser of `effect/http`. That parser
 * pushes into callbacks and continues after a fault and after the last boundary. Here each chunk returns the list of
 * its parts, up to the first fault or the end.
 */
import { MultipartParser } from "effect/http"

/**
 * The content that a form can have. A part that the spec does not name is skipped, but counts against the limits and in
 * the fingerprint: a newer client is served, a flood is not. Limits are in bytes, each on its own; `bytesMax` is for
 * the entire body, boundaries included.
 */
export interface FormSpec {
  readonly fields: Readonly<Record<string, { readonly bytesMax: number }>>
  readonly files: Readonly<Record<string, { readonly bytesMax: number }>>
  readonly bytesMax: number
  /** Parts of any kind; 64 by default. */
  readonly partsMax?: number
}

/** A file on disk until the call's scope is closed. Name and type are only the caller's claim. */
export interface FormFile {
  readonly path: string
  readonly bytes: number
  /** In hex. */
  readonly sha256: string
  readonly fileName: string | undefined
  readonly contentType: string | undefined
}

export interface Form {
  readonly fields: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, FormFile>>
  /** SHA-256 in hex over all parts; the same for the same content, however a client packed it. */
  readonly fingerprint: string
}

/** The head of a part. `contentType` is set only if it was sent. */
export interface PartHead {
  readonly name: string
  readonly fileName: string | undefined
  readonly contentType: string | undefined
  readonly charset: string | undefined
}

export type PartPlan =
  | { readonly _tag: "Text"; readonly bytesMax: number }
  | { readonly _tag: "File"; readonly bytesMax: number }
  | { readonly _tag: "PastIt" }
  | { readonly _tag: "Refused"; readonly fault: string }

export const partsMaxDefault = 64
const binary = "application/octet-stream"
const utf8Names = new Set(["utf-8", "utf8", "us-ascii"])

/** `seen`: names of the parts before this one. */
export const planPart = (spec: FormSpec, head: PartHead, seen: ReadonlySet<string>): PartPlan => {
  const field = Object.hasOwn(spec.fields, head.name) ? spec.fields[head.name] : undefined
  const file = Object.hasOwn(spec.files, head.name) ? spec.files[head.name] : undefined
  if (field === undefined && file === undefined) return { _tag: "PastIt" }
  if (seen.has(head.name)) return refused("is given more than once")
  if (field !== undefined) {
    if (head.fileName !== undefined || head.contentType === binary) return refused("must be text, not a file")
    if (head.charset !== undefined && !utf8Names.has(head.charset.toLowerCase())) return refused("must be UTF-8")
    return { _tag: "Text", bytesMax: field.bytesMax }
  }
  const isText = head.fileName === undefined && (head.contentType ?? "text/plain") === "text/plain"
  return isText || file === undefined ? refused("must be a file") : { _tag: "File", bytesMax: file.bytesMax }
}

const refused = (fault: string): PartPlan => ({ _tag: "Refused", fault })

export type PartEvent =
  | { readonly _tag: "Began"; readonly head: PartHead }
  /** Valid until the next chunk is read. */
  | { readonly _tag: "Bytes"; readonly bytes: Uint8Array }
  | { readonly _tag: "Ended" }
  /** The last boundary; the bytes after it are ignored. */
  | { readonly _tag: "Closed" }
  | { readonly _tag: "Malformed"; readonly reason: string }
  | { readonly _tag: "TooManyParts" }
  | { readonly _tag: "HeadTooLarge" }

export interface MultipartReader {
  readonly read: (chunk: Uint8Array) => ReadonlyArray<PartEvent>
}

/** The parser's own bound on the headers of one part; it also accepts at most 100 of them. */
export const partHeaderBytesMax = 16_384
// RFC 2046 allows 70 characters; some clients use a few more.
const boundaryCharactersMax = 128

/** None for a Content-Type without a usable boundary. */
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
    // Fields come in pieces like files, so that each can have its own limit.
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
  // The parser has already reported a missing boundary.
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

const boundaryOf = (contentType: string) => /boundary=(.*)$/isu.exec(contentType)?.[1] ?? ""

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
