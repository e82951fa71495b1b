/** JSON of the bus and of events, as UTF-8: read strictly, within the limits of messages. Pure. */
import { Result } from "effect"
import type { Fault } from "../primitives.ts"
import { parseJsonText, weightMaxOf } from "./json-text.ts"
import { repeatedKeys } from "./repeated-keys.ts"

type Decoded<A> = Result.Result<A, ReadonlyArray<Fault>>

const utf8 = new TextDecoder("utf-8", { fatal: true })

// A publisher can send as much as the broker accepts. No API needs deeper nesting.
const limits = { depthMax: 100, weightMax: weightMaxOf(1_048_576) }

/** The text of UTF-8 bytes, without a byte order mark. */
export const utf8Text = (data: Uint8Array): Decoded<string> => {
  try {
    return Result.succeed(utf8.decode(data))
  } catch {
    return notJson("not UTF-8")
  }
}

export const parseJson = (data: Uint8Array): Decoded<unknown> => Result.flatMap(utf8Text(data), parseBoundedText)

/** The value of JSON text within the limits of messages. */
export const parseBoundedText = (text: string): Decoded<unknown> => {
  const parsed = parseJsonText(text, limits)
  if (Result.isSuccess(parsed)) return Result.succeed(parsed.success)
  return notJson(`${parsed.failure.reason} at offset ${parsed.failure.offset}`)
}

const notJson = (reason: string) => Result.fail([{ path: "", message: `not UTF-8 JSON: ${reason}` }])

/**
 * The same for text that is passed on: a duplicate key is a fault, because a receiver could read the value that was not
 * checked.
 */
export const parseUnambiguousText = (text: string): Decoded<unknown> =>
  Result.flatMap(parseBoundedText(text), (json) => {
    const faults = repeatedKeys(text)
    return faults.length === 0 ? Result.succeed(json) : Result.fail(faults)
  })

export const parseUnambiguousJson = (data: Uint8Array): Decoded<unknown> =>
  Result.flatMap(utf8Text(data), parseUnambiguousText)

/** A text's bytes without its byte order mark, which readers drop. */
export const unmarked = (data: Uint8Array): Uint8Array =>
  data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data
