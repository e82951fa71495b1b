/**
 * The console of this home's fleet, or the one at --url, as commands call it. A refusal becomes lines for a terminal:
 * what is wrong, and where.
 *
 * `console`: the address of the console's page, with a code that signs one browser in; and opening the browser at it.
 *
 * How the console's answers are printed: tables and lines for people, one JSON object per line for programs.
 */
import { spawn } from "node:child_process"
import { Effect, Result, Schema } from "effect"
import { FetchHttpClient, HttpClientError } from "effect/http"
import { ErrorEnvelope, faultsOf } from "#base"
import { consoleClient } from "#console/api"
import { readSettings } from "#fleet"
import { Environment } from "#runtime"
import { printableLine } from "#base/printable"
import { CommandRefused, misused, noFleet, noneListed, note, print, table } from "../console.ts"
import { brokenOff, isAbsent, oneLine, readReady } from "../home-fleet.ts"

const Ready = Schema.Struct({ console: Schema.optionalKey(Schema.String), token: Schema.String })

export const tokenVariable = "STARLING_TOKEN"

export interface OnConsole {
  readonly url: string | undefined
}

export const addressVariable = "STARLING_CONSOLE"

/**
 * The address and the token: from --url or STARLING_CONSOLE, and STARLING_TOKEN; otherwise those of this home's fleet.
 */
export const placeOf = Effect.fnUntraced(function* ({ url: named }: OnConsole) {
  const environment = yield* Environment
  const given = environment[tokenVariable]
  const url = named ?? (environment[addressVariable] || undefined)
  if (url !== undefined) {
    if (!URL.canParse(url))
      return yield* misused(`--url ${url}? it is where a console answers, such as http://10.0.0.7:7405`)
    if (given === undefined || given === "")
      return yield* misused(`for the console at ${url}, ${tokenVariable} says with which token`)
    return { url: url.replace(/\/$/u, ""), token: given }
  }
  const { home } = yield* readSettings
  const ready = yield* readReady(home, Ready, ", or name a console with --url")
  if (ready.console === undefined) {
    return yield* noFleet(`the fleet in ${home} has no console; start one with that role, as ./starling up does`)
  }
  return { url: ready.console, token: given === undefined || given === "" ? ready.token : given }
})

export type Client = Effect.Success<ReturnType<typeof consoleClient>>

/** Calls the console, failing with lines for a terminal. */
export const onConsole = <A, E, R>(order: OnConsole, call: (client: Client) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const place = yield* placeOf(order)
    const client = yield* consoleClient(place)
    return yield* Effect.mapError(call(client), (error) => refusedBy(error, place.url))
  }).pipe(Effect.provide(FetchHttpClient.layer))

const decodeEnvelope = Schema.decodeUnknownResult(ErrorEnvelope)

export const refusedBy = (error: unknown, url: string): CommandRefused => {
  if (error instanceof CommandRefused) return error
  // A request that the API would refuse is not sent.
  if (Schema.isSchemaError(error)) {
    const faults = faultsOf(error.issue).map(({ path, message }) => `  ${path.slice(1)}: ${oneLine(message)}`)
    return misused(`this cannot be asked of the console:\n${faults.join("\n")}`)
  }
  const envelope = decodeEnvelope(error)
  if (Result.isSuccess(envelope)) return new CommandRefused({ reason: refusalLines(envelope.success) })
  const cause = HttpClientError.isHttpClientError(error) ? (error.reason.cause ?? error.reason) : error
  return isAbsent(cause)
    ? noFleet(`no console answers at ${url}; start the fleet with ./starling up`)
    : brokenOff(cause)
}

/** The message, and each fault by its field. Pure. */
export const refusalLines = ({ error: { message, fields = {}, details } }: ErrorEnvelope): string => {
  const scopes = details?.["scopes"]
  return [
    oneLine(message),
    ...Object.entries(fields).map(([field, why]) => `  ${oneLine(field)}: ${oneLine(why)}`),
    ...(Array.isArray(scopes)
      ? ["  ./starling token make --role admin makes a token with all scopes of operators"]
      : [])
  ].join("\n")
}

interface OpenPage extends OnConsole {
  readonly open: boolean
}

export const openPage = Effect.fnUntraced(function* ({ url, open }: OpenPage) {
  const place = yield* placeOf({ url })
  const { code, expiresAt } = yield* onConsole({ url }, (client) =>
    client.makeSignInCode({ payload: { reason: "to look at the page" } })
  )
  const address = `${place.url}/#code=${code}`
  yield* print(address)
  yield* note(`It signs one browser in, until ${expiresAt}.`)
  if (open) yield* opened(address)
})

const openers = { darwin: "open", win32: "explorer" } as const

/** The command does not wait for the browser; without one the address can be copied. */
const opened = (address: string) =>
  Effect.callback<void>((resume) => {
    const opener = openers[process.platform as keyof typeof openers] ?? "xdg-open"
    const child = spawn(opener, [address], { stdio: "ignore", detached: true })
    child.once("error", () => resume(note(`${opener} is not there: open the address yourself`)))
    child.once("spawn", () => {
      child.unref()
      resume(Effect.void)
    })
  })

export type Fields = Readonly<Record<string, unknown>>

interface Listed {
  readonly items: ReadonlyArray<Fields>
  readonly nextCursor: string | null
}

interface ListOptions {
  readonly json: boolean
  /** The headings, and the field of each. */
  readonly columns: Readonly<Record<string, string>>
  /** Fields not truncated to a cell's width: another command takes them unchanged. */
  readonly whole?: ReadonlyArray<string>
}

/** With a hint on standard error if there is more. */
export const printList = ({ items, nextCursor }: Listed, { json, columns, whole = [] }: ListOptions) =>
  Effect.gen(function* () {
    const rows = items.map((item) => Object.values(columns).map((field) => cell(item[field], whole.includes(field))))
    const lines = json ? items.map((item) => JSON.stringify(item)) : table(Object.keys(columns), rows)
    yield* Effect.forEach(lines, print, { discard: true })
    if (items.length === 0 && nextCursor === null && !json) yield* noneListed
    if (nextCursor !== null) yield* note(`there is more: --cursor ${nextCursor}`)
  })

/** A table for people without further pages. */
export const printTable = (
  columns: Readonly<Record<string, string>>,
  items: ReadonlyArray<Fields>,
  whole: ReadonlyArray<string> = []
) => printList({ items, nextCursor: null }, { json: false, columns, whole })

const cellCharactersMax = 80

const cell = (value: unknown, isWhole: boolean): string => {
  const text =
    value === null || value === undefined ? "-" : typeof value === "object" ? JSON.stringify(value) : String(value)
  const line = text.replaceAll(/\s+/gu, " ")
  return isWhole ? line : line.slice(0, cellCharactersMax)
}

/** The result of an action: a line for people, the console's answer for programs. */
export const printAct = (answer: Fields, { json, text }: { readonly json: boolean; readonly text: string }) =>
  print(json ? JSON.stringify(answer) : text)

/** One complete item: one field per line. */
export const printObject = (whole: Fields, json: boolean) =>
  Effect.forEach(json ? [JSON.stringify(whole)] : linesOf(whole), print, { discard: true })

/** Fields as lines; nested fields and lists are indented. Pure. */
export const linesOf = (fields: Fields, indent = ""): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, value]) => {
    if (Array.isArray(value) && value.some((entry) => typeof entry === "object")) {
      return [
        `${indent}${printableLine(name)}:`,
        ...value.flatMap((entry) => [`${indent}  -`, ...linesOf(entry as Fields, `${indent}    `)])
      ]
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return [`${indent}${printableLine(name)}:`, ...linesOf(value as Fields, `${indent}  `)]
    }
    const text = value === null ? "-" : Array.isArray(value) ? value.join(", ") : String(value)
    // Lines of a value follow a bar: a receiver's answer cannot look like one of our fields.
    return [`${indent}${printableLine(name)}: ${text.split(/\r?\n/u).join(`\n${indent}  | `)}`]
  })

/** Only the given options, for a query. */
export const withoutUndefined = <A extends Fields>(options: A) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof A]?: Exclude<A[Key], undefined>
  }
