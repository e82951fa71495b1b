/** Files of commands. They are named from where the person stands; the launcher goes to its own folder, and may say whence. */
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect } from "effect"
import { Environment } from "#runtime"
import { CommandRefused } from "./console.ts"

export const fileOf = (named: string) =>
  Effect.map(Environment, (environment) => resolve(environment["STARLING_CALLED_FROM"] ?? ".", named))

/** What the system said of a file, without the call and the path that it adds. */
export const faultOfFile = (cause: unknown) =>
  cause instanceof Error ? cause.message.replace(/, [a-z]+( '.*)?$/u, "") : String(cause)

/** The JSON object in a file, or on standard input as `-`. */
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
