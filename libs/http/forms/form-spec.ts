/**
 * The content that a multipart form may have, and the treatment of each part: read as text, kept as a file, skipped, or
 * refused. A part that the spec does not name is skipped, but counts against the limits and in the fingerprint: a newer
 * client is served, a flood is not. Pure.
 */

/** Limits in bytes, each on its own; `bytesMax` beside them is for the whole body, boundaries included. */
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

/** The head of a part. `contentType` is there only if it was sent. */
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
