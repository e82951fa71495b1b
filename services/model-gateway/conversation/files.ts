/**
 * Where each of a conversation's pictures and documents is. An address is parsed once and only its parsed form is
 * passed on, so that no later reader can parse a different address from it. A part with an address where none is
 * expected is refused, and so is a file's id, because no files are stored here. Pure.
 */
import { Result } from "effect"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import { isRecord, type JsonObject } from "../translate/json.ts"
import type { FileData, FileKind, FileRef, WebFile } from "./Conversation.ts"

/** Wherever they occur. Each adds up to 8 MiB to the request. */
const namedFilesMax = 16

/** The files found while a request is read, and the first fault in one. */
export interface FileFinder {
  /** A file by its address or its data; undefined if it was refused. */
  readonly find: (kind: FileKind, address: unknown, path: string) => FileRef | undefined
  /** Data that can come with or without their media type. */
  readonly data: (mediaType: string, text: string, path: string) => FileData | undefined
  readonly refuse: (path: string, why: string) => undefined
  /** Refuses every address in a value of unknown shape: only data in the request itself are allowed. */
  readonly refuseAddresses: (value: unknown, path: string) => void
  /** To be fetched, each once, in order of appearance. */
  readonly named: () => ReadonlyArray<WebFile>
  readonly fault: () => GatewayFault | undefined
}

export const fileFinder = (): FileFinder => {
  const named = new Map<string, WebFile>()
  let count = 0
  let first: GatewayFault | undefined
  const refuse = (path: string, why: string) => {
    first ??= invalidAddress(path, why)
    return undefined
  }
  const counted = (file: FileRef, path: string) => {
    if (file._tag === "Data") return file
    count += 1
    if (count > namedFilesMax) {
      return refuse(path, `is one too many: no more than ${namedFilesMax} pictures and documents are fetched`)
    }
    named.set(keyOf(file), file)
    return file
  }
  return {
    find: (kind, address, path) => {
      if (typeof address !== "string") return refuse(path, "must be a URL")
      const parsed = parseFileAddress(kind, address)
      return Result.isFailure(parsed) ? refuse(path, parsed.failure) : counted(parsed.success, path)
    },
    data: (mediaType, text, path) => {
      const parsed = /^data:/iu.test(text) ? parseData(text) : bareData(mediaType, text)
      return Result.isFailure(parsed) ? refuse(path, parsed.failure) : parsed.success
    },
    refuse,
    refuseAddresses: (value, path) => refuseAddresses(value, path, refuse),
    named: () => [...named.values()],
    fault: () => first
  }
}

export const keyOf = ({ kind, url }: Pick<WebFile, "kind" | "url">): string => `${kind} ${url}`

const invalidAddress = (path: string, why: string): GatewayFault =>
  fault("INVALID_IMAGE_URL", { param: path.slice(0, 200), message: `${path.slice(0, 200)} ${why}` })

const webCharactersMax = 8_192
// Parsers treat a backslash as a slash and skip spaces and line feeds, so readers would disagree on such addresses.
const plainWeb = /^https?:\/\/[^\s\\\p{Cc}]+$/iu
const dataHead = /^data:([a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,100})(?:;[a-z0-9_.=+-]{1,100}){0,8};base64,/iu
const base64Text = /^[A-Za-z0-9+/_-]+={0,2}$/u
const base64WithBlanks = /^[A-Za-z0-9+/_=\t\n\v\f\r -]+$/u

/** Fails with the fault, phrased to follow a field's name. */
export const parseFileAddress = (kind: FileKind, text: string): Result.Result<FileRef, string> => {
  if (/^data:/iu.test(text)) return parseData(text)
  if (!plainWeb.test(text)) return Result.fail("must begin with http://, https:// or data:, and hold no spaces")
  if (text.length > webCharactersMax) return Result.fail(`must not be longer than ${webCharactersMax} characters`)
  const url = Result.getOrUndefined(Result.try(() => new URL(text)))
  if (url === undefined) return Result.fail("is no URL")
  if (url.username !== "" || url.password !== "") return Result.fail("must not hold a user name or password")
  url.hash = ""
  return Result.succeed({ _tag: "Web", kind, url: url.href })
}

const parseData = (text: string): Result.Result<FileData, string> => {
  // Only the head is matched: the rest is megabytes.
  const head = dataHead.exec(text.slice(0, 1_024))
  if (head === null) return Result.fail("must be data:<media type>;base64,<data>")
  return bareData((head[1] ?? "").toLowerCase(), text.slice(head[0].length))
}

const bareData = (mediaType: string, text: string): Result.Result<FileData, string> =>
  Result.map(parseBase64(text), (base64) => ({ _tag: "Data", mediaType, base64 }))

/** Drops the line ends that some encoders insert. */
const parseBase64 = (text: string): Result.Result<string, string> => {
  if (base64Text.test(text)) return Result.succeed(text)
  const bare = base64WithBlanks.test(text) ? withoutBlanks(text) : ""
  return base64Text.test(bare) ? Result.succeed(bare) : Result.fail("must hold data in base64")
}

/** For ASCII. A pattern takes most of a second on megabytes with a blank after each character. */
const withoutBlanks = (text: string): string => {
  const bytes = Buffer.from(text, "latin1")
  let length = 0
  for (const byte of bytes) {
    if (byte <= 0x20) continue
    bytes[length] = byte
    length += 1
  }
  return bytes.toString("latin1", 0, length)
}

const addressKey = /(?:url|uri|href|src|link)s?$|(?:^|_)(?:image|mask|video|audio|media|file)s?(?:_\d{1,2})?$/iu
const fileKey = /(?:^|_)file_?ids?$/iu
// Tool calls and search results are plain text.
const plainTextKeys: ReadonlySet<string> = new Set([
  "tool_calls",
  "function_call",
  "arguments",
  "annotations",
  "citations"
])
// Plain text in nearly every part: not searched.
const unsearchedKeys: ReadonlySet<string> = new Set(["role", "type", "name", "id", "tool_call_id", "tool_use_id"])
const seemsAddress = /^[\s\p{Cc}]*(?:[a-z][a-z0-9+.-]{0,30}:|[\\/]{2})/iu

type Refuse = (path: string, why: string) => undefined

const refuseAddresses = (value: unknown, path: string, refuse: Refuse, under = ""): void => {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) refuseAddresses(item, `${path}[${at}]`, refuse, under)
  } else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if ((typeof inner === "string" && unsearchedKeys.has(key)) || plainTextKeys.has(key)) continue
      const where = path === "" ? key : `${path}.${key}`
      if (fileKey.test(key) && inner !== null) refuse(where, "names a file, and none are kept here")
      else refuseAddresses(inner, where, refuse, key)
    }
  } else if (typeof value === "string" && (addressKey.test(under) || (under === "data" && seemsAddress.test(value)))) {
    if (Result.isFailure(parseData(value))) refuse(path, "may only hold data: here")
  }
}

/** For an image request: its source pictures must be in the request, because none are fetched here. */
export const imageRequestFault = (request: JsonObject): GatewayFault | undefined => {
  let first: GatewayFault | undefined
  const refuse = (path: string, why: string) => {
    first ??= invalidAddress(path, why)
    return undefined
  }
  for (const [key, value] of Object.entries(request)) refuseAddresses(value, key, refuse, key)
  return first
}
