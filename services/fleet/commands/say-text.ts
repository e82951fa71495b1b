/** The text to be said: from the parameters, a file, or standard input. Never more than could be spoken. */
import { createReadStream } from "node:fs"
import { Effect } from "effect"
import { speechInputMax } from "#contracts"
import { faultOfFile, fileOf } from "./files.ts"
import { misused } from "./say-stopped.ts"

export type TextSource =
  | { readonly from: "parameters"; readonly text: string }
  | { readonly from: "file"; readonly file: string }
  | { readonly from: "stdin" }

// A UTF-16 unit is three bytes of UTF-8 at most.
const bytesMax = speechInputMax.stream * 3 + 1_024

export const readText = Effect.fnUntraced(function* (source: TextSource) {
  if (source.from === "parameters") return source.text
  const name = source.from === "file" ? source.file : "standard input"
  const path = source.from === "file" ? yield* fileOf(source.file) : undefined
  const bytes = yield* Effect.tryPromise({
    try: () => allOf(path === undefined ? process.stdin : createReadStream(path)),
    catch: (cause) => misused(`${name} cannot be read: ${faultOfFile(cause)}`)
  })
  if (bytes.length > bytesMax) {
    const longest = speechInputMax.stream.toLocaleString("en")
    return yield* misused(`${name} is too long, ${longest} characters are spoken at once`)
  }
  const text = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => misused(`${name} is not text in UTF-8`)
  })
  return text.trimEnd()
})

const allOf = async (source: AsyncIterable<Uint8Array>) => {
  const parts: Array<Uint8Array> = []
  let length = 0
  for await (const part of source) {
    parts.push(part)
    length += part.length
    if (length > bytesMax) break
  }
  return Buffer.concat(parts)
}
