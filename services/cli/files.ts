/**
 * Files that commands name. Their paths start at the user's own folder; the launcher changes to its own, and passes on
 * the user's.
 */
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect } from "effect"
import { Environment } from "#runtime"
import { CommandRefused } from "./console.ts"

export const fileOf = (named: string) =>
  Effect.map(Environment, (environment) => resolve(environment["STARLING_CALLED_FROM"] ?? ".", named))

/** The system's message about a file, without the call and the path that it adds. */
export const faultOfFile = (cause: unknown) =>
  cause instanceof Error ? cause.message.replace(/, [a-z]+( '.*)?$/u, "") : String(cause)

/** The text of a file, or of standard input for `-`. */
export const textIn = Effect.fnUntraced(function* (file: string) {
  const path = file === "-" ? undefined : yield* fileOf(file)
  return yield* Effect.tryPromise({
    try: () => (path === undefined ? standardInput() : readFile(path, "utf8")),
    catch: (cause) => new CommandRefused({ reason: `${file} cannot be read: ${faultOfFile(cause)}` })
  })
})

// The largest message of the bus is 1 MiB.
const inputBytesMax = 8 * 1_024 * 1_024

const standardInput = async () => {
  const parts: Array<Uint8Array> = []
  let bytes = 0
  for await (const part of process.stdin) {
    bytes += (part as Buffer).length
    if (bytes > inputBytesMax) throw new Error(`more than ${inputBytesMax} bytes`)
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts).toString("utf8")
}

/** The JSON object in a file, or on standard input for `-`. */
export const readJsonObject = Effect.fnUntraced(function* (file: string) {
  const text = yield* textIn(file)
  const parsed: unknown = yield* Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (cause) => new CommandRefused({ reason: `${file} is not JSON: ${String(cause)}` })
  })
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return { ...parsed }
  return yield* new CommandRefused({ reason: `${file} does not hold a JSON object` })
})
