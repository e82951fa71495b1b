/**
 * A request as written for one provider, with what its price depends on: the data of the pictures and files in it, once
 * per place, and the omitted keys. Pure.
 */
import { createHash } from "node:crypto"
import { Result } from "effect"
import { isRecord, type JsonObject, Untranslatable } from "../translate/json.ts"
import { isDefault } from "../translate/provider-keys.ts"
import type {
  ApiDialect,
  Conversation,
  FileData,
  FileRef,
  OwnPart,
  Part,
  PlainText,
  ProvidersTool,
  ToolName,
  WebFile
} from "./Conversation.ts"

export interface Written {
  readonly body: JsonObject
  /** The files whose data are in the body, once for each of their places. */
  readonly files: ReadonlyArray<PlacedFile>
  /** The keys that were not written although they have a value. */
  readonly leftOut: ReadonlyArray<string>
}

/** A file by the kind of part that contains it: only a picture part costs what a picture does. */
export interface PlacedFile extends FileData {
  readonly as: "image" | "file"
}

/**
 * How a provider's thoughts are returned to it in chat's shape. `required`: as `reasoning_content`; it refuses a call
 * without its thought, unless it is told not to think.
 */
export type ThoughtsBack = "none" | "reasoning_content" | "reasoning_details" | "required"

/**
 * Which parameters of OpenAI's API a provider accepts: those known to every server of it; also those of OpenAI's own;
 * or also those that most others know and OpenAI refuses.
 */
export type TakenParameters = "common" | "openai" | "extended"

export interface Takes {
  readonly parameters: TakenParameters
  readonly thoughts: ThoughtsBack
}

export interface WriteOptions {
  /** The answer's limit, and the provider's key for it. */
  readonly outputTokens: number
  readonly limitKey: "max_tokens" | "max_completion_tokens"
  readonly takes: Takes
  /** A file that is only named: as fetched, or an empty stand-in until it is. */
  readonly fetched: (file: WebFile) => FileData
}

/** What a writer records while it writes. */
export interface Writing extends WriteOptions {
  readonly dialect: Conversation["dialect"]
  /** The caller speaks the provider's own dialect: what is specific to the dialect passes unchanged. */
  readonly isOwn: boolean
  /**
   * Records the part that holds a file's data. The data count as a file's if the part is in the final body, and as text
   * in a copy.
   */
  readonly place: (file: FileData, as: PlacedFile["as"], part: JsonObject) => JsonObject
  readonly leaveOut: (key: string) => void
  readonly refuse: (param: string, reason: string) => void
  /** The name by which a tool is declared. */
  readonly toolName: (tool: ToolName) => string
  readonly callId: (id: string) => string
  readonly end: (body: JsonObject) => Result.Result<Written, Untranslatable>
}

export const writingOf = ({ dialect }: Conversation, options: WriteOptions, own: ApiDialect): Writing => {
  const isOwn = dialect === own
  const places = new Map<JsonObject, PlacedFile>()
  const leftOut = new Set<string>()
  let first: Untranslatable | undefined
  return {
    ...options,
    dialect,
    isOwn,
    place: (file, as, part) => {
      places.set(part, { ...file, as })
      return part
    },
    leaveOut: (key) => void leftOut.add(key),
    refuse: (param, reason) => void (first ??= new Untranslatable({ param, reason })),
    toolName: isOwn ? ({ name }) => name : writtenName,
    callId: isOwn ? (id) => id : writtenId,
    end: (body) =>
      first === undefined
        ? Result.succeed({ body, files: placedIn(body, places), leftOut: [...leftOut] })
        : Result.fail(first)
  }
}

// Parts occur only under these keys.
const partKeys = ["messages", "system", "content", "source"] as const

/** The files that the body contains, wherever a part ended up. */
const placedIn = (value: unknown, places: ReadonlyMap<JsonObject, PlacedFile>): ReadonlyArray<PlacedFile> => {
  if (places.size === 0) return []
  const found: Array<PlacedFile> = []
  const look = (each: unknown): void => {
    if (Array.isArray(each)) for (const item of each as ReadonlyArray<unknown>) look(item)
    if (!isRecord(each)) return
    const file = places.get(each)
    if (file === undefined) for (const key of partKeys) look(each[key])
    else found.push(file)
  }
  look(value)
  return found
}

const providersName = /^[A-Za-z0-9_-]{1,64}$/u

/**
 * Every provider accepts the same names: a group's tool is named after both, and a name that no provider accepts is
 * cut.
 */
export const writtenName = ({ group, name }: ToolName): string => {
  const whole = group === undefined ? name : `${group}__${name}`
  if (providersName.test(whole)) return whole
  const digest = createHash("sha256").update(whole).digest("hex").slice(0, 8)
  return `${whole.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, 55)}_${digest}`
}

/** One provider's call ids may be invalid at another. */
const writtenId = (id: string): string =>
  /^[A-Za-z0-9_-]{1,40}$/u.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`

/** A file's data, or its text if it is one. */
export const contentOf = (file: FileRef, { fetched }: Pick<WriteOptions, "fetched">): FileData | PlainText => {
  const data = file._tag === "Data" ? file : fetched(file)
  return data.mediaType.startsWith("text/")
    ? { _tag: "Plain", text: Buffer.from(data.base64, "base64").toString("utf8") }
    : data
}

export interface OtherKeys {
  readonly sent: ReadonlySet<string>
  /** Without these keys the answer would be a different one. */
  readonly missed?: ReadonlySet<string>
}

/** The keys that no reader reads, as far as the provider knows them. */
export const writtenOthers = (others: JsonObject, { sent, missed }: OtherKeys, writing: Writing): JsonObject => {
  const written: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(others)) {
    if (sent.has(key)) written[key] = value
    else if (isDefault(key, value)) continue
    else if (missed?.has(key) === true) writing.refuse(key, "this model's provider does not take it; leave it out")
    else writing.leaveOut(key)
  }
  return written
}

const notAvailable = (what: string, { value }: Pick<OwnPart, "value">) =>
  `${what} of type ${JSON.stringify(value["type"])?.slice(0, 64)} is not available for this model`

/** A tool as its own dialect declares it; no other provider can be given it. */
export const providersTool = (tool: ProvidersTool, { isOwn, refuse }: Writing): JsonObject | undefined => {
  if (isOwn) return tool.value
  refuse("tools", notAvailable("the tool", tool))
  return undefined
}

export const refusePart = (part: OwnPart, { refuse }: Writing): void => refuse(part.path, notAvailable("a part", part))

/** A part in a place where no provider reads one, such as a result within an assistant's text. */
export const refuseMisplaced = ({ _tag }: Part, { dialect, refuse }: Writing): void =>
  refuse(dialect === "responses" ? "input" : "messages", `a part that is a ${_tag} stands where none may`)
