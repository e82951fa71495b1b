/**
 * The speech API of this home's fleet, as `say` calls it. A refusal becomes lines for a terminal: what is wrong, where,
 * and when to retry.
 */
import { Effect, Result, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { faultsOf } from "#base"
import { speechClientOver } from "#speech/api"
import { readSettings } from "#fleet"
import { CommandRefused, noFleet } from "../console.ts"
import { brokenOff, isAbsent, oneLine, readReady } from "../home-fleet.ts"

const Ready = Schema.Struct({ speech: Schema.optionalKey(Schema.String), token: Schema.String })

export const findFleet = Effect.gen(function* () {
  const { home } = yield* readSettings
  const { speech: url, token } = yield* readReady(home, Ready)
  if (url === undefined) {
    return yield* noFleet(`the fleet in ${home} does not speak; start one with the speech roles, as ./starling up does`)
  }
  const lost = (error: HttpClientError.HttpClientError) =>
    isAbsent(causeOf(error))
      ? noFleet(`no fleet runs in ${home}, nothing answers at ${url}; start it with ./starling up`)
      : brokenOff(causeOf(error))
  const http = HttpClient.transformResponse(yield* HttpClient.HttpClient, (answer) =>
    Effect.flatMap(Effect.mapError(answer, lost), accepted)
  )
  return {
    /** A call of `api`, failing with lines for a terminal. */
    call: <A, E>(calling: Effect.Effect<A, E>) => Effect.mapError(calling, (error) => refusedBy(error, lost)),
    api: yield* speechClientOver(http, { url, token }),
    /**
     * The bytes of an answer as they arrive. A plain client reads streams: the typed one fails at an event of unknown
     * type, and those must be ignored.
     */
    stream: (path: string, body: unknown): Stream.Stream<Uint8Array, CommandRefused> => {
      const request = HttpClientRequest.post(`${url}${path}`).pipe(
        HttpClientRequest.bearerToken(token),
        HttpClientRequest.bodyJsonUnsafe(body)
      )
      return Stream.mapError(HttpClientResponse.stream(http.execute(request)), (error) => refusedBy(error, lost))
    }
  }
}).pipe(Effect.provide(FetchHttpClient.layer))

export type SpeechFleet = Effect.Success<typeof findFleet>

/** What `fetch` failed with. */
const causeOf = ({ reason }: HttpClientError.HttpClientError) => reason.cause ?? reason

const accepted = (response: HttpClientResponse.HttpClientResponse) => {
  if (response.status < 400) return Effect.succeed(response)
  return Effect.flatMap(
    Effect.mapError(response.text, (error) => brokenOff(causeOf(error))),
    (body) =>
      Effect.fail(
        new CommandRefused({
          reason: refusalLines({ status: response.status, retryAfter: response.headers["retry-after"], body })
        })
      )
  )
}

const refusedBy = (error: unknown, lost: (error: HttpClientError.HttpClientError) => CommandRefused) => {
  if (error instanceof CommandRefused) return error
  if (HttpClientError.isHttpClientError(error)) return lost(error)
  const faults = Schema.isSchemaError(error) ? faultsOf(error.issue) : [{ path: "answer", message: String(error) }]
  return new CommandRefused({
    reason: faults.map(({ path, message }) => `${path.replace("/", "")}: ${oneLine(message)}`).join("\n")
  })
}

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
  readonly retryAfter: string | undefined
  readonly body: string
}

export const refusalLines = ({ status, retryAfter, body }: RefusedAnswer): string => {
  const read = Schema.decodeResult(Envelope)(body)
  if (Result.isFailure(read)) return `the speech API answered ${status}: ${oneLine(body)}`
  const { error, request_id: requestId } = read.success
  const again = retryAfter === undefined ? "" : `; try again in ${retryAfter} s`
  const of = `(${status} ${error.code}, ${requestId})${again}`
  const fields = Object.entries(error.fields ?? {}).map(([name, text]) => `${name}: ${oneLine(text)}`)
  // A message that repeats its only field adds nothing.
  const [only] = fields
  if (fields.length === 1 && only?.endsWith(`: ${oneLine(error.message)}`) === true) return `${only} ${of}`
  return [`${oneLine(error.message)} ${of}`, ...fields.map((field) => `  ${field}`)].join("\n")
}
