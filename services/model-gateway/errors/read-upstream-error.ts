/**
 * A refusal of a provider, whatever its shape: an object or a text under `error`, a bare message, a list around
 * it, a validator's `detail`, or a page of HTML. Pure.
 */
import { Result } from "effect"
import { isRecord, type JsonObject, textAt } from "../translate/json.ts"

export interface UpstreamError {
  readonly status: number
  readonly message: string
  /** What a program reads: the type and the code, in lower case. */
  readonly kinds: ReadonlyArray<string>
  readonly param: string | undefined
}

const parse = (text: string): unknown => Result.getOrUndefined(Result.try(() => JSON.parse(text) as unknown))

const titleOf = (html: string) => /<title>([^<]{0,200})/iu.exec(html)?.[1]?.trim() ?? "a page of HTML"

/** FastAPI and pydantic: `{"detail":[{"type":..,"loc":["body","x"],"msg":..}]}`. */
const fromDetail = (detail: unknown) => {
  if (typeof detail === "string") return { message: detail }
  const [first] = Array.isArray(detail) ? detail.filter(isRecord) : []
  if (first === undefined) return undefined
  const location = Array.isArray(first["loc"]) ? first["loc"].filter((step) => step !== "body") : []
  return { message: textAt(first, "msg") ?? "", type: textAt(first, "type"), param: location.join(".") || undefined }
}

const kindOf = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? [String(value).toLowerCase()] : []

const fromObject = (body: JsonObject): Omit<UpstreamError, "status"> => {
  const { error } = body
  const inner = isRecord(error) ? error : {}
  const deeper = isRecord(inner["innererror"]) ? inner["innererror"] : {}
  const detail = fromDetail(body["detail"])
  // OpenRouter hides the words of whom it asked in there.
  const metadata = isRecord(inner["metadata"]) ? inner["metadata"] : {}
  const message =
    textAt(inner, "message") ??
    (typeof error === "string" ? error : undefined) ??
    textAt(body, "message") ??
    textAt(body, "Message") ??
    detail?.message ??
    ""
  const raw = textAt(metadata, "raw")
  return {
    message: raw === undefined ? message : `${message}: ${raw}`,
    kinds: [
      inner["type"],
      inner["code"],
      inner["status"],
      deeper["code"],
      body["type"],
      body["code"],
      body["__type"],
      detail?.type
    ].flatMap(kindOf),
    param: textAt(inner, "param") ?? textAt(body, "param") ?? detail?.param
  }
}

export const readUpstreamError = (status: number, contentType: string, text: string): UpstreamError => {
  const parsed = parse(text)
  const body = Array.isArray(parsed) ? (parsed as ReadonlyArray<unknown>)[0] : parsed
  if (isRecord(body)) return { status, ...fromObject(body) }
  const isHtml = contentType.includes("html") || /^\s*<(?:!doctype|html)/iu.test(text)
  return { status, message: isHtml ? titleOf(text) : text.slice(0, 2_000), kinds: [], param: undefined }
}
