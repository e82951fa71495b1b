/** A JSON object that a command is given: in a file, or on stdin as `-`. */
import { readFile } from "node:fs/promises"
import { Effect } from "effect"
import { CommandRefused } from "./connect.ts"
import { fileOf } from "./files.ts"

export const readJsonObject = Effect.fnUntraced(function* (file: string) {
  const path = file === "-" ? "/dev/stdin" : yield* fileOf(file)
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => new CommandRefused({ reason: `${file} cannot be read: ${String(cause)}` })
  })
  const parsed: unknown = yield* Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (cause) => new CommandRefused({ reason: `${file} is not JSON: ${String(cause)}` })
  })
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return { ...parsed }
  return yield* new CommandRefused({ reason: `${file} does not hold a JSON object` })
})
