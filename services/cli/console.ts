/**
 * The console of a command: its output, its refusals, and the environment and logs that its body uses.
 *
 * Files named by commands. Their paths start at the user's own folder; the launcher changes to its own, and passes on
 * the user's.
 */
import { createReadStream } from "node:fs"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect, Layer, Logger, Schema } from "effect"
import { repeatedKeys, withoutByteOrderMark } from "#base"
import { printableLine } from "#base/printable"
import { Environment, lineLogger } from "#runtime"
import { writeError, writeOut } from "./screen.ts"

/** How every command ends, for scripts. */
export const exitCodes = {
  0: "it did what it was asked",
  1: "it was refused, or could not",
  2: "it was asked wrongly",
  69: "no fleet runs there",
  130: "it was stopped"
} as const

/** A fault that the person at the terminal can correct. Without a code the command ends with 1. */
export class CommandRefused extends Schema.TaggedError<CommandRefused>()("CommandRefused", {
  reason: Schema.String,
  exitCode: Schema.optionalKey(Schema.Literals([2, 69]))
}) {
  override get message() {
    return this.reason
  }
}

export const misused = (reason: string) => new CommandRefused({ reason, exitCode: 2 })

export const noFleet = (reason: string) => new CommandRefused({ reason, exitCode: 69 })

export const print = (line: string) => Effect.sync(() => writeOut(`${line}\n`))

/** On standard error, so that a program that reads the output is not disturbed. */
export const note = (line: string) => Effect.sync(() => writeError(`${line}\n`))

/** What every list says that has nothing to show. */
export const noneListed = note("there are none")

/** Rows below their headings, each column as wide as its widest cell. Pure. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => {
  const cells = rows.map((row) => row.map(printableLine))
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)))
  return [head, ...cells].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

/** The services that every command's body uses. */
export const setting = Layer.mergeAll(
  Layer.succeed(Environment, process.env),
  Logger.layer([lineLogger("pretty", (line) => writeError(`${line}\n`))])
)

export const fileOf = (named: string) =>
  Effect.map(Environment, (environment) => resolve(environment["STARLING_CALLED_FROM"] ?? ".", named))

/** The system's message about a file, without the call and the path that it adds. */
export const faultOfFile = (cause: unknown) =>
  cause instanceof Error ? cause.message.split(/, [a-z]+(?: '|$)/u, 1).join() : String(cause)

interface BoundedText {
  /** Or `-` for standard input. */
  readonly file: string
  readonly bytesMax: number
  /** The message for a longer text, after its name. */
  readonly tooLong: string
}

/** A text in UTF-8, read no further than its limit. */
export const textWithin = Effect.fnUntraced(function* ({ file, bytesMax, tooLong }: BoundedText) {
  const name = file === "-" ? "standard input" : file
  const path = file === "-" ? undefined : yield* fileOf(file)
  const bytes = yield* Effect.tryPromise({
    try: () => bytesOf(path === undefined ? process.stdin : createReadStream(path), bytesMax),
    catch: (cause) => misused(`${name} cannot be read: ${faultOfFile(cause)}`)
  })
  if (bytes.length > bytesMax) return yield* misused(`${name} ${tooLong}`)
  return yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => misused(`${name} is not text in UTF-8`)
  })
})

/** All bytes, or slightly more than the limit. */
const bytesOf = async (source: AsyncIterable<Uint8Array>, bytesMax: number) => {
  const parts: Array<Uint8Array> = []
  let length = 0
  for await (const part of source) {
    parts.push(part)
    length += part.length
    if (length > bytesMax) break
  }
  return Buffer.concat(parts)
}

/** The text of a file, or of standard input for `-`. */
export const textIn = Effect.fnUntraced(function* (file: string) {
  const path = file === "-" ? undefined : yield* fileOf(file)
  return yield* Effect.tryPromise({
    try: async () => withoutByteOrderMark(await (path === undefined ? standardInput() : readFile(path, "utf8"))),
    catch: (cause) => misused(`${file} cannot be read: ${faultOfFile(cause)}`)
  })
})

/** The text of a file without its trailing newline. A secret is never an argument, because others can see those. */
export const secretIn = (file: string) => Effect.map(textIn(file), (text) => text.trimEnd())

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
    catch: (cause) => misused(`${file} is not JSON: ${String(cause)}`)
  })
  const repeated = repeatedKeys(text).map(({ path, message }) => `  ${path}: ${message}`)
  if (repeated.length > 0) {
    return yield* misused(`${file} contradicts itself:\n${repeated.join("\n")}`)
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return { ...parsed }
  return yield* misused(`${file} does not hold a JSON object`)
})
