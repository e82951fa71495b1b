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

/** The JSON object in a file, or on standard input for `-`. */
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
