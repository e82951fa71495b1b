/**
 * The console of this home's fleet, or the one at --url, as commands call it. A refusal becomes lines for a terminal:
 * what is wrong, and where.
 *
 * `console`: the address of the console's page, with a code that signs one browser in; and opening the browser at it.
 */
import { spawn } from "node:child_process"
import { Effect, Option, Result, Schema } from "effect"
import { FetchHttpClient, HttpClientError } from "effect/http"
import { ErrorEnvelope, faultsOf } from "#base"
import { consoleClient } from "#console/api"
import { readSettings } from "#fleet"
import { Environment } from "#runtime"
import type { Fields } from "../answers.ts"
import { CommandRefused, misused, noFleet, note, print } from "../console.ts"
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
    return yield* Effect.catch(call(client), (error) =>
      Effect.flatMap(Effect.option(answerIn(error)), (answer) => {
        const refusal = Option.getOrElse(answer, () => error)
        return Effect.fail(refusedBy(refusal, place.url))
      })
    )
  }).pipe(Effect.provide(FetchHttpClient.layer))

/** An answer that the API does not declare, such as that of a proxy or of another release. */
const answerIn = Effect.fnUntraced(function* (error: unknown) {
  if (!HttpClientError.isHttpClientError(error) || error.response === undefined) return yield* Effect.fail("no answer")
  const { status, text } = error.response
  const body = yield* text
  const envelope = decodeJson(body)
  if (Result.isSuccess(envelope)) return envelope.success
  const { origin } = new URL(error.request.url)
  return new CommandRefused({ reason: `${origin} answered ${status}, and not as a console does: ${oneLine(body)}` })
})

const decodeJson = Schema.decodeResult(Schema.fromJsonString(ErrorEnvelope))

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

/** Only the given options, for a query. */
export const withoutUndefined = <A extends Fields>(options: A) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof A]?: Exclude<A[Key], undefined>
  }
