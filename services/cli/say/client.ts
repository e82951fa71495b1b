/**
 * The speech API of the fleet in this home, as `say` calls it. A call ends with its scope, and a refusal becomes lines
 * for a terminal: what is wrong, where, and when to come back.
 */
import { Effect, Result, Schema } from "effect"
import { readSettings } from "#fleet"
import { CommandRefused, noFleet } from "../console.ts"
import { brokenOff, isAbsent, oneLine, readReady } from "../home-fleet.ts"

export interface SpeechFleet {
  readonly home: string
  readonly url: string
  readonly token: string
}

const Ready = Schema.Struct({ speech: Schema.optionalKey(Schema.String), token: Schema.String })

export const findFleet = Effect.gen(function* () {
  const { home } = yield* readSettings
  const { speech: url, token } = yield* readReady(home, Ready)
  if (url === undefined) {
    return yield* noFleet(`the fleet in ${home} does not speak; start one with the speech roles, as ./starling up does`)
  }
  const fleet: SpeechFleet = { home, url, token }
  return fleet
})

/** The answer, once its head is good. A `body` of undefined makes it a GET. */
export const call = Effect.fnUntraced(function* (fleet: SpeechFleet, path: string, body?: unknown) {
  const controller = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  const response = yield* Effect.tryPromise({
    try: () =>
      fetch(`${fleet.url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${fleet.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: controller.signal
      }),
    catch: (cause) =>
      isAbsent(cause)
        ? noFleet(`no fleet runs in ${fleet.home}, nothing answers at ${fleet.url}; start it with ./starling up`)
        : brokenOff(cause)
  })
  if (response.ok) return response
  const text = yield* Effect.tryPromise({ try: () => response.text(), catch: brokenOff })
  return yield* new CommandRefused({
    reason: refusalLines({ status: response.status, retryAfter: response.headers.get("retry-after"), body: text })
  })
})

/** The answer as JSON in that shape. */
export const callFor = Effect.fnUntraced(function* <A>(
  schema: Schema.Codec<A, unknown>,
  fleet: SpeechFleet,
  path: string,
  body?: unknown
) {
  const response = yield* call(fleet, path, body)
  const value = yield* Effect.tryPromise({ try: () => response.json() as Promise<unknown>, catch: brokenOff })
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(schema)(value),
    (error) => new CommandRefused({ reason: `${path} answered what is not understood: ${error.message}` })
  )
})

const Envelope = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.String,
      message: Schema.String,
      fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
    }),
    request_id: Schema.String
  })
)

export interface RefusedAnswer {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
}

export const refusalLines = ({ status, retryAfter, body }: RefusedAnswer): string => {
  const read = Schema.decodeResult(Envelope)(body)
  if (Result.isFailure(read)) return `the speech API answered ${status}: ${oneLine(body)}`
  const { error, request_id: requestId } = read.success
  const again = retryAfter === null ? "" : `; try again in ${retryAfter} s`
  const of = `(${status} ${error.code}, ${requestId})${again}`
  const fields = Object.entries(error.fields ?? {}).map(([name, text]) => `${name}: ${oneLine(text)}`)
  // A message that repeats its only field adds nothing.
  const [only] = fields
  if (fields.length === 1 && only?.endsWith(`: ${oneLine(error.message)}`) === true) return `${only} ${of}`
  return [`${oneLine(error.message)} ${of}`, ...fields.map((field) => `  ${field}`)].join("\n")
}
