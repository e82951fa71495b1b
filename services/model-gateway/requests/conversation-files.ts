/**
 * The pictures and documents of a conversation, in each of the dialects: where each of them is, and the parts that hold
 * them, rewritten. An address is parsed once and the request is rewritten from the parsed form, so that no later reader
 * can read another address out of it. A part that names an address where none is known is refused, and so is the id of
 * a file, for none are kept here. Pure.
 */
import { Result } from "effect"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import { isRecord, type JsonObject, present, recordAt, textAt } from "../translate/json.ts"

export type FileKind = "image" | "document"

export interface NamedFile {
  readonly kind: FileKind
  readonly url: string
}

export interface FetchedFile {
  readonly mediaType: string
  readonly base64: string
}

export interface ConversationFiles {
  /** The request, with every address in its parsed form. */
  readonly request: JsonObject
  /** The files to fetch, each once, in the order in which they stand. */
  readonly named: ReadonlyArray<NamedFile>
  /** The data of every part that the request holds itself. */
  readonly recognised: ReadonlySet<string>
}

/** Wherever they stand. Each adds up to 8 MiB to the request. */
const namedFilesMax = 16

export const conversationFiles = (request: JsonObject): Result.Result<ConversationFiles, GatewayFault> => {
  const named = new Map<string, NamedFile>()
  const recognised = new Set<string>()
  let count = 0
  let first: GatewayFault | undefined
  const refuse = (path: string, why: string) => {
    first ??= invalidAddress(path, why)
    return undefined
  }
  const place = (kind: FileKind, address: FileAddress, path: string) => {
    if (address._tag === "Data") {
      recognised.add(address.base64)
      return address
    }
    count += 1
    if (count > namedFilesMax) {
      return refuse(path, `is one too many: no more than ${namedFilesMax} pictures and documents are fetched`)
    }
    const file = { kind, url: address.url }
    named.set(keyOf(file), file)
    return address
  }
  const rewritten = rewriteFiles(request, { place, refuse })
  if (first !== undefined) return Result.fail(first)
  return Result.succeed({ request: rewritten, named: [...named.values()], recognised })
}

/** `fetched` is keyed by `keyOf`. */
export const withFiles = (request: JsonObject, fetched: ReadonlyMap<string, FetchedFile>): JsonObject =>
  rewriteFiles(request, {
    place: (kind, address) => {
      const file = address._tag === "Web" ? fetched.get(keyOf({ kind, url: address.url })) : undefined
      return file === undefined ? address : { _tag: "Data", ...file }
    },
    refuse: () => undefined
  })

// No file that is fetched has a longer type.
const placeholders: Readonly<Record<FileKind, FetchedFile>> = {
  image: { mediaType: "image/jpeg", base64: "" },
  document: { mediaType: "application/pdf", base64: "" }
}

/** The request as it will be once its files are fetched, but for their data. */
export const withPlaceholders = ({ request, named }: Pick<ConversationFiles, "request" | "named">): JsonObject =>
  named.length === 0
    ? request
    : withFiles(request, new Map(named.map((file) => [keyOf(file), placeholders[file.kind]])))

export const keyOf = ({ kind, url }: NamedFile): string => `${kind} ${url}`

const invalidAddress = (path: string, why: string): GatewayFault =>
  fault("INVALID_IMAGE_URL", { param: path.slice(0, 200), message: `${path.slice(0, 200)} ${why}` })

interface Rewriting {
  /** The new place of a file; undefined when it was refused. */
  readonly place: (kind: FileKind, address: FileAddress, path: string) => FileAddress | undefined
  readonly refuse: (path: string, why: string) => undefined
}

// Content stands under one of these keys, and within their entries under one of those below.
const conversationKeys = ["messages", "input", "system"] as const
const partKeys = ["content", "output", "images"] as const

const rewriteFiles = (request: JsonObject, rewriting: Rewriting): JsonObject => {
  const changed: Record<string, unknown> = { ...request }
  for (const key of conversationKeys) {
    // A message is none of its parts, whatever it names as its type.
    const write = key === "messages" ? whole : part
    if (Array.isArray(request[key])) changed[key] = parts(request[key], key, rewriting, write)
  }
  return changed
}

const parts = (value: ReadonlyArray<unknown>, path: string, rewriting: Rewriting, write = part) =>
  value.map((item, at) => (isRecord(item) ? write(item, `${path}[${at}]`, rewriting) : item))

/** An item, or a part of a message or of an item. They nest as deep as JSON may be here. */
const part = (value: JsonObject, path: string, rewriting: Rewriting): JsonObject => {
  const write = typeof value["type"] === "string" ? writers[value["type"]] : undefined
  if (write !== undefined) return write(value, path, rewriting) ?? value
  return isPlainText(value) ? value : whole(value, path, rewriting)
}

/** A message, or a part of an unknown kind. */
const whole: typeof part = (value, path, rewriting) => {
  refuseAddresses(value, path, rewriting)
  const changed: Record<string, unknown> = { ...value }
  for (const key of partKeys) {
    if (Array.isArray(value[key])) changed[key] = parts(value[key], `${path}.${key}`, rewriting)
  }
  return changed
}

type Writer = (value: JsonObject, path: string, rewriting: Rewriting) => JsonObject | undefined

const placed = (kind: FileKind, text: unknown, path: string, { place, refuse }: Rewriting) => {
  if (typeof text !== "string") return refuse(path, "must be a URL")
  const parsed = parseFileAddress(text)
  return Result.isFailure(parsed) ? refuse(path, parsed.failure) : place(kind, parsed.success, path)
}

/** `image_url`: a text, or an object that holds one. */
const imageUrl: Writer = (value, path, rewriting) => {
  const { type, image_url: image, cache_control } = value
  const isObject = isRecord(image)
  const where = isObject ? `${path}.image_url.url` : `${path}.image_url`
  const address = placed("image", isObject ? image["url"] : image, where, rewriting)
  if (address === undefined) return undefined
  const url = addressText(address)
  const detail = (isObject ? image["detail"] : undefined) ?? value["detail"] ?? undefined
  return present(
    type === "image_url"
      ? { type, image_url: present({ url, detail }), cache_control }
      : { type, image_url: url, detail, cache_control }
  )
}

const sourceOf = (kind: FileKind, value: JsonObject, path: string, rewriting: Rewriting): JsonObject | undefined => {
  const source = recordAt(value, "source")
  switch (source["type"]) {
    case "url": {
      const address = placed(kind, source["url"], `${path}.source.url`, rewriting)
      if (address === undefined) return undefined
      return address._tag === "Web" ? { type: "url", url: address.url } : dataSource(kind, address)
    }
    case "base64": {
      const data = `data:${textAt(source, "media_type") ?? ""};base64,${textAt(source, "data") ?? ""}`
      const address = placed(kind, data, `${path}.source`, rewriting)
      return address?._tag === "Data" ? dataSource(kind, address) : undefined
    }
    case "text":
    case "content": {
      if (kind === "image") break
      const { data, content } = source
      if (source["type"] === "text") return present({ type: "text", media_type: "text/plain", data })
      const within = Array.isArray(content) ? parts(content, `${path}.source.content`, rewriting) : content
      return { type: "content", content: within }
    }
  }
  return rewriting.refuse(`${path}.source`, "must be of type base64 or url")
}

const dataSource = (kind: FileKind, { mediaType, base64 }: FetchedFile): JsonObject =>
  kind === "document" && mediaType.startsWith("text/")
    ? { type: "text", media_type: "text/plain", data: Buffer.from(base64, "base64").toString("utf8") }
    : { type: "base64", media_type: mediaType, data: base64 }

const image: Writer = (value, path, rewriting) => {
  const source = sourceOf("image", value, path, rewriting)
  return source && present({ type: "image", source, cache_control: value["cache_control"] })
}

const document: Writer = (value, path, rewriting) => {
  const source = sourceOf("document", value, path, rewriting)
  const { title, context, citations, cache_control } = value
  return source && present({ type: "document", source, title, context, citations, cache_control })
}

/** A file's data may come without their media type. */
const fileData = (data: string, path: string, rewriting: Rewriting) =>
  Result.isSuccess(parseBase64(data))
    ? placed("document", `data:application/pdf;base64,${data}`, path, rewriting)
    : placed("document", data, path, rewriting)

const file: Writer = (value, path, rewriting) => {
  const { file_data: data, filename } = recordAt(value, "file")
  if (typeof data !== "string")
    return rewriting.refuse(`${path}.file.file_data`, "must be data: no files are kept here")
  const address = fileData(data, `${path}.file.file_data`, rewriting)
  if (address === undefined) return undefined
  const written = present({ filename: nameOf(filename, address), file_data: addressText(address) })
  return present({ type: "file", file: written, cache_control: value["cache_control"] })
}

const inputFile: Writer = (value, path, rewriting) => {
  const { file_data: data, file_url: url, filename } = value
  const address =
    typeof data === "string"
      ? fileData(data, `${path}.file_data`, rewriting)
      : placed("document", url, `${path}.file_url`, rewriting)
  if (address === undefined) return undefined
  const where = address._tag === "Web" ? { file_url: address.url } : { file_data: dataUrl(address) }
  return present({ type: "input_file", filename: nameOf(filename, address), ...where })
}

/** Providers want a name: a fetched file is named after the end of its address. */
const nameOf = (given: unknown, address: FileAddress) => {
  if (typeof given === "string") return given
  if (address._tag === "Data") return address.mediaType === "application/pdf" ? "document.pdf" : undefined
  const last = new URL(address.url).pathname.split("/").at(-1) ?? ""
  return /^[\w.-]{1,100}$/u.test(last) ? last : "document.pdf"
}

/** Its data alone, or as an address that holds them; no sound is fetched. */
const sound: Writer = (value, path, rewriting) => {
  const { data, format } = recordAt(value, "input_audio")
  const where = `${path}.input_audio.data`
  if (typeof data !== "string") return rewriting.refuse(where, "must hold data in base64")
  const isBare = !/^data:/iu.test(data)
  const read = isBare
    ? Result.map(
        parseBase64(data),
        (base64) => ({ _tag: "Data", mediaType: `audio/${String(format)}`, base64 }) as const
      )
    : parseData(data)
  if (Result.isFailure(read)) return rewriting.refuse(where, read.failure)
  rewriting.place("document", read.success, where)
  const written = isBare ? read.success.base64 : dataUrl(read.success)
  return present({
    type: "input_audio",
    input_audio: present({ data: written, format }),
    cache_control: value["cache_control"]
  })
}

/** A page that a provider's own tool has read: its address is plain text, the document in it is not. */
const fetchedPage: Writer = (value, path, rewriting) => {
  const result = recordAt(value, "content")
  const page = recordAt(result, "content")
  if (page["type"] !== "document") return value
  const content = document(page, `${path}.content.content`, rewriting)
  return content && { ...value, content: { ...result, content } }
}

const writers: Readonly<Record<string, Writer | undefined>> = {
  __proto__: null as never,
  image_url: imageUrl,
  input_image: imageUrl,
  image,
  document,
  file,
  input_file: inputFile,
  input_audio: sound,
  web_fetch_tool_result: fetchedPage
}

// Holds what the model or its tools wrote: addresses in there are plain text.
const plainTextTypes =
  /^(?:text|input_text|output_text|summary_text|reasoning_text|refusal|thinking|redacted_thinking|reasoning|function_call|custom_tool_call|mcp_approval_response|(?:server_|mcp_)?tool_use|(?:web_search|code_execution|bash_code_execution|text_editor_code_execution|tool_search)_tool_result)$/u

const isPlainText = ({ type }: JsonObject) => typeof type === "string" && plainTextTypes.test(type)

const addressKey = /(?:url|uri|href|src)s?$|(?:^|_)(?:image|mask|video)s?(?:_\d{1,2})?$/iu
const fileKey = /(?:^|_)file_?ids?$/iu
// Tool calls and search results are plain text. A part's own parts are checked by themselves.
const plainTextKeys: ReadonlySet<string> = new Set([
  "tool_calls",
  "function_call",
  "arguments",
  "annotations",
  "citations"
])
const nestedKeys: ReadonlySet<string> = new Set(partKeys)
// Plain texts of nearly every message: they are not searched.
const unsearchedKeys: ReadonlySet<string> = new Set([
  "role",
  "type",
  "content",
  "name",
  "id",
  "tool_call_id",
  "tool_use_id"
])
const seemsAddress = /^[\s\p{Cc}]*(?:[a-z][a-z0-9+.-]{0,30}:|[\\/]{2})/iu

/** For a part of an unknown kind: only data in the request itself pass. */
const refuseAddresses = (value: unknown, path: string, rewriting: Rewriting, under = ""): void => {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) refuseAddresses(item, `${path}[${at}]`, rewriting, under)
  } else if (isRecord(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if ((typeof inner === "string" && unsearchedKeys.has(key)) || plainTextKeys.has(key)) continue
      if (nestedKeys.has(key) && Array.isArray(inner)) continue
      const where = path === "" ? key : `${path}.${key}`
      if (fileKey.test(key) && inner !== null) rewriting.refuse(where, "names a file, and none are kept here")
      else refuseAddresses(inner, where, rewriting, key)
    }
  } else if (typeof value === "string" && (addressKey.test(under) || (under === "data" && seemsAddress.test(value)))) {
    if (!isData(value)) rewriting.refuse(path, "may only hold data: here")
  }
}

const isData = (text: string) => {
  const parsed = parseFileAddress(text)
  return Result.isSuccess(parsed) && parsed.success._tag === "Data"
}

/** For a request for images: its source pictures must be in the request, for none are fetched here. */
export const imageRequestFault = (request: JsonObject): GatewayFault | undefined => {
  let first: GatewayFault | undefined
  const refuse = (path: string, why: string) => {
    first ??= invalidAddress(path, why)
    return undefined
  }
  for (const [key, value] of Object.entries(request)) {
    refuseAddresses(value, key, { place: (_kind, address) => address, refuse }, key)
  }
  return first
}

/** The place of a picture or document: a plain http(s) address, or the request itself. */
type FileAddress = { readonly _tag: "Web"; readonly url: string } | DataAddress

interface DataAddress extends FetchedFile {
  readonly _tag: "Data"
}

const webCharactersMax = 8_192
// Parsers take a backslash for a slash and skip spaces and line feeds, so readers would disagree on such addresses.
const plainWeb = /^https?:\/\/[^\s\\\p{Cc}]+$/iu
const dataHead = /^data:([a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,100})(?:;[a-z0-9_.=+-]{1,100}){0,8};base64,/iu
const base64Text = /^[A-Za-z0-9+/_-]+={0,2}$/u

/** Fails with the fault, in words that follow the name of a field. */
export const parseFileAddress = (text: string): Result.Result<FileAddress, string> => {
  if (/^data:/iu.test(text)) return parseData(text)
  if (!plainWeb.test(text)) return Result.fail("must begin with http://, https:// or data:, and hold no spaces")
  if (text.length > webCharactersMax) return Result.fail(`must not be longer than ${webCharactersMax} characters`)
  const url = Result.getOrUndefined(Result.try(() => new URL(text)))
  if (url === undefined) return Result.fail("is no URL")
  if (url.username !== "" || url.password !== "") return Result.fail("must not hold a user name or password")
  url.hash = ""
  return Result.succeed({ _tag: "Web", url: url.href })
}

const parseData = (text: string): Result.Result<DataAddress, string> => {
  // Only the head is matched: the rest is megabytes.
  const head = dataHead.exec(text.slice(0, 1_024))
  if (head === null) return Result.fail("must be data:<media type>;base64,<data>")
  return Result.map(parseBase64(text.slice(head[0].length)), (base64) => ({
    _tag: "Data",
    mediaType: (head[1] ?? "").toLowerCase(),
    base64
  }))
}

/** Drops the line ends that some encoders insert. */
const parseBase64 = (text: string): Result.Result<string, string> => {
  if (base64Text.test(text)) return Result.succeed(text)
  const bare = text.replace(/\s+/gu, "")
  return base64Text.test(bare) ? Result.succeed(bare) : Result.fail("must hold data in base64")
}

const dataUrl = ({ mediaType, base64 }: { readonly mediaType: string; readonly base64: string }): string =>
  `data:${mediaType};base64,${base64}`

const addressText = (address: FileAddress): string => (address._tag === "Web" ? address.url : dataUrl(address))
