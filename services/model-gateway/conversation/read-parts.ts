/**
 * The parts of a conversation, by the type names of all three dialects: no name means two things. A part whose type is
 * in no table here is specific to its dialect. Pure.
 */
import { isRecord, type JsonObject, recordAt, recordsAt, textAt } from "../translate/json.ts"
import { unsealed } from "../translate/sealed-thought.ts"
import type { DocumentPart, FileKind, FileRef, ImagePart, Part, PlainText } from "./Conversation.ts"
import type { FileFinder } from "./files.ts"

/** A list of parts, or a text; anything else has no parts, and cannot name a file. */
export const partsOf = (content: unknown, path: string, files: FileFinder): ReadonlyArray<Part> => {
  if (typeof content === "string") return content === "" ? [] : [{ _tag: "Text", text: content }]
  if (Array.isArray(content)) {
    return content.flatMap((item: unknown, at) => (isRecord(item) ? readPart(item, `${path}[${at}]`, files) : []))
  }
  files.refuseAddresses(content, path)
  return []
}

type PartReader = (value: JsonObject, path: string, files: FileFinder) => Part | undefined

const readPart = (value: JsonObject, path: string, files: FileFinder): ReadonlyArray<Part> => {
  const { type } = value
  const read = typeof type === "string" ? readers[type] : undefined
  const part = read === undefined ? own(value, path, files) : read(value, path, files)
  return part === undefined ? [] : [part]
}

const marked = (value: JsonObject) => (isRecord(value["cache_control"]) ? { cache: value["cache_control"] } : {})

/** A key only if it has a value. */
const given = <K extends string, V>(key: K, value: V | null | undefined) =>
  (value === undefined || value === null ? {} : { [key]: value }) as { readonly [Key in K]?: V }

const text: PartReader = (value) => ({
  _tag: "Text",
  text: textAt(value, "text") ?? "",
  ...given("citations", value["citations"]),
  ...marked(value)
})

const refusal: PartReader = (value) => ({
  _tag: "Refusal",
  text: textAt(value, "refusal") ?? textAt(value, "text") ?? ""
})

/** `image_url`: a text, or an object that contains one. */
const imageUrl: PartReader = (value, path, files) => {
  const { image_url: image } = value
  const where = isRecord(image) ? `${path}.image_url.url` : `${path}.image_url`
  const file = files.find("image", isRecord(image) ? image["url"] : image, where)
  const detail = (isRecord(image) ? textAt(image, "detail") : undefined) ?? textAt(value, "detail")
  return file && { _tag: "Image", file, ...given("detail", detail), ...marked(value) }
}

const image: PartReader = (value, path, files) => {
  const file = sourceFile("image", value, path, files)
  return file && { _tag: "Image", file, ...marked(value) }
}

const sourceFile = (kind: FileKind, value: JsonObject, path: string, files: FileFinder): FileRef | undefined => {
  const source = recordAt(value, "source")
  if (source["type"] === "url") return files.find(kind, source["url"], `${path}.source.url`)
  if (source["type"] !== "base64") return files.refuse(`${path}.source`, "must be of type base64 or url")
  const data = `data:${textAt(source, "media_type") ?? ""};base64,${textAt(source, "data") ?? ""}`
  return files.find(kind, data, `${path}.source`)
}

export const readDocument = (value: JsonObject, path: string, files: FileFinder): DocumentPart | undefined => {
  const source = documentSource(value, path, files)
  if (source === undefined) return undefined
  return {
    _tag: "Document",
    source,
    ...given("title", textAt(value, "title")),
    ...given("context", textAt(value, "context")),
    ...given("citations", value["citations"]),
    ...marked(value)
  }
}

const documentSource = (value: JsonObject, path: string, files: FileFinder): DocumentPart["source"] | undefined => {
  const source = recordAt(value, "source")
  if (source["type"] === "text") return { _tag: "Plain", text: textAt(source, "data") ?? "" }
  if (source["type"] === "content") {
    return { _tag: "Parts", parts: partsOf(source["content"], `${path}.source.content`, files) }
  }
  const file = sourceFile("document", value, path, files)
  return file && plainOf(file)
}

const picture = /^image\/(?!svg)/u

/** A picture sent as a file is a picture. */
const pictureOr = (part: DocumentPart): DocumentPart | ImagePart => {
  const { source, cache } = part
  if (source._tag !== "Data" || !picture.test(source.mediaType)) return part
  return { _tag: "Image", file: source, ...(cache === undefined ? {} : { cache }) }
}

/** A text sent as a file is a text. */
const plainOf = (file: FileRef): FileRef | PlainText =>
  file._tag === "Data" && file.mediaType.startsWith("text/")
    ? { _tag: "Plain", text: Buffer.from(file.base64, "base64").toString("utf8") }
    : file

const file: PartReader = (value, path, files) => {
  const { file_data: data, filename } = recordAt(value, "file")
  const where = `${path}.file.file_data`
  if (typeof data !== "string") return files.refuse(where, "must be data: no files are kept here")
  return fileOf(
    files.data("application/pdf", data, where),
    value,
    textAt(recordAt(value, "file"), "filename") ?? filename
  )
}

const inputFile: PartReader = (value, path, files) => {
  const { file_data: data, file_url: url, filename } = value
  const found =
    typeof data === "string"
      ? files.data("application/pdf", data, `${path}.file_data`)
      : files.find("document", url, `${path}.file_url`)
  return fileOf(found, value, filename)
}

const fileOf = (found: FileRef | undefined, value: JsonObject, filename: unknown) =>
  found &&
  pictureOr({
    _tag: "Document",
    source: plainOf(found),
    ...given("title", typeof filename === "string" ? filename : nameOf(found)),
    ...marked(value)
  })

/** Providers require a name: a fetched file is named after the end of its address. */
const nameOf = (found: FileRef) => {
  if (found._tag === "Data") return found.mediaType === "application/pdf" ? "document.pdf" : undefined
  const last = new URL(found.url).pathname.split("/").at(-1) ?? ""
  return /^[\w.-]{1,100}$/u.test(last) ? last : "document.pdf"
}

/** Only its data, or an address that contains them; no sound is fetched. */
const sound: PartReader = (value, path, files) => {
  const { data, format } = recordAt(value, "input_audio")
  const where = `${path}.input_audio.data`
  if (typeof data !== "string") return files.refuse(where, "must hold data in base64")
  const found = files.data(`audio/${String(format)}`, data, where)
  if (found !== undefined && !found.mediaType.startsWith("audio/")) return files.refuse(where, "must hold a sound")
  return (
    found && { _tag: "Audio", file: found, format: String(format), isBare: !/^data:/iu.test(data), ...marked(value) }
  )
}

const searchResult: PartReader = (value, path, files) => ({
  _tag: "SearchResult",
  title: textAt(value, "title") ?? "",
  source: textAt(value, "source") ?? "",
  parts: partsOf(value["content"], `${path}.content`, files),
  ...given("citations", value["citations"]),
  ...marked(value)
})

const thinking: PartReader = (value) => ({
  _tag: "Reasoning",
  text: textAt(value, "thinking") ?? "",
  ...given("signature", seal(value))
})

/** A model whose provider seals nothing has empty seals. */
const seal = (value: JsonObject) => {
  const signature = textAt(value, "signature")
  return signature === "" || signature === unsealed ? undefined : signature
}

const redactedThinking: PartReader = (value) => ({
  _tag: "Reasoning",
  text: "",
  ...given("encrypted", textAt(value, "data"))
})

const toolUse: PartReader = (value) => ({
  _tag: "ToolCall",
  id: textAt(value, "id") ?? "",
  tool: { name: textAt(value, "name") ?? "" },
  input: isRecord(value["input"]) ? value["input"] : JSON.stringify(value["input"] ?? {}),
  ...marked(value)
})

const toolResult: PartReader = (value, path, files) => ({
  _tag: "ToolResult",
  id: textAt(value, "tool_use_id") ?? "",
  parts: partsOf(value["content"], `${path}.content`, files),
  isError: value["is_error"] === true,
  ...marked(value)
})

/** Its address is plain text; the document in it is not. */
const fetchedPage: PartReader = (value, path, files) => {
  const content = recordAt(recordAt(value, "content"), "content")
  if (content["type"] !== "document") return { _tag: "Own", value, path }
  const page = readDocument(content, `${path}.content.content`, files)
  return page && { _tag: "Own", value, page, path }
}

// Contains what the model or its tools wrote: addresses in it are plain text.
const plainTextTypes =
  /^(?:summary_text|reasoning_text|mcp_approval_response|(?:server_|mcp_)tool_use|(?:web_search|code_execution|bash_code_execution|text_editor_code_execution|tool_search)_tool_result|tool_reference)$/u

const own: PartReader = (value, path, files) => {
  const { type } = value
  if (typeof type !== "string" || !plainTextTypes.test(type)) files.refuseAddresses(value, path)
  return { _tag: "Own", value, path }
}

const readers: Readonly<Record<string, PartReader | undefined>> = {
  __proto__: null as never,
  text,
  input_text: text,
  output_text: text,
  refusal,
  image_url: imageUrl,
  input_image: imageUrl,
  image,
  document: (value, path, files) => {
    const read = readDocument(value, path, files)
    return read && pictureOr(read)
  },
  file,
  input_file: inputFile,
  input_audio: sound,
  search_result: searchResult,
  thinking,
  redacted_thinking: redactedThinking,
  tool_use: toolUse,
  tool_result: toolResult,
  web_fetch_tool_result: fetchedPage
}

/** The thoughts in an assistant's message in chat's shape. */
export const chatThoughts = (message: JsonObject): ReadonlyArray<Part> => {
  const details = recordsAt(message, "reasoning_details")
  if (details.length > 0) return details.flatMap(thoughtOf)
  const said = textAt(message, "reasoning_content") ?? textAt(message, "reasoning") ?? ""
  return said === "" ? [] : [{ _tag: "Reasoning", text: said }]
}

const thoughtOf = (detail: JsonObject): ReadonlyArray<Part> => {
  if (detail["type"] === "reasoning.encrypted") {
    return [{ _tag: "Reasoning", text: "", ...given("encrypted", textAt(detail, "data")) }]
  }
  const said = textAt(detail, "text") ?? textAt(detail, "summary") ?? ""
  const signature = seal(detail)
  return said === "" && signature === undefined
    ? []
    : [{ _tag: "Reasoning", text: said, ...given("signature", signature) }]
}
