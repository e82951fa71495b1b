/**
 * The fleet's other APIs under the console's origin: a call is forwarded with the caller's token, and its answer is
 * streamed back. The page thereby needs one origin, and one sign-in.
 */
import { Context, Effect, Layer, Option, type Scope, Stream } from "effect"
import { type ProxiedApi, proxiedApis } from "#console/api"
import { ConfiguredHttp, type EgressError, type EgressStream } from "#egress"
import {
  Admission,
  Auth,
  authenticated,
  Caller,
  HttpCall,
  type Method,
  notFound,
  relayedAnswer,
  type RelayedCall,
  relayedCall,
  route,
  serviceUnavailable,
  unauthorized,
  urlBelow,
  type WireError
} from "#http"
import { Addresses } from "#runtime"
import { Configuration } from "#configuration"
import { PageAccess } from "../page/PageAccess.ts"
import { ProxyPerson } from "../page/ProxyPerson.ts"
import { whileSignedIn } from "./requests.ts"

const roleOf = { pipeline: "pipeline-api", models: "model-gateway", speech: "speech-api" } as const

// A model that answers in one piece takes minutes until its head.
const headersMs = 300_000
// Every stream of ours sends a sign of life every ten seconds.
const stallMs = 120_000
// A page left open reconnects.
const deadlineMs = 6 * 3_600_000
// Hours of sound.
const answerBytesMax = 1_073_741_824
const connectTimeoutMs = 5_000
// Beyond the calls that the console admits, so that no call waits here.
const connectionsMax = 128

export class ApiProxy extends Context.Service<
  ApiProxy,
  {
    readonly apis: Effect.Effect<ReadonlyArray<ProxiedApi>>
    readonly send: (
      api: string,
      call: RelayedCall,
      token: string
    ) => Effect.Effect<EgressStream, WireError, Scope.Scope>
  }
>()("starling/console/ApiProxy") {
  static readonly layer = Layer.effect(
    ApiProxy,
    Effect.gen(function* () {
      const { PipelineUrl, ModelsUrl, SpeechUrl } = (yield* Configuration).Console
      const configured = { pipeline: PipelineUrl, models: ModelsUrl, speech: SpeechUrl }
      const addresses = yield* Addresses
      const client = yield* (yield* ConfiguredHttp).open({
        use: "console",
        connectionsPerLaneMax: connectionsMax,
        lanesMax: proxiedApis.length,
        connectTimeoutMs
      })
      const baseOf = (api: ProxiedApi) =>
        Effect.map(addresses.all, (own) => Option.fromNullishOr(configured[api] ?? own.get(roleOf[api])))
      const apis = Effect.filter(proxiedApis, (api) => Effect.map(baseOf(api), Option.isSome))

      const send = Effect.fn("ApiProxy.send")(function* (name: string, call: RelayedCall, token: string) {
        const api = proxiedApis.find((known) => known === name)
        const base = api === undefined ? undefined : Option.getOrUndefined(yield* baseOf(api))
        if (base === undefined) return yield* notFound(absent(name))
        const url = urlBelow(base, call.target)
        if (url === undefined) return yield* notFound("there is nothing at this path")
        const { method, body } = call
        const headers = { ...call.headers, authorization: `Bearer ${token}` }
        const request = { method, url, headers, body, headersMs, stallMs, deadlineMs, responseBytesMax: answerBytesMax }
        return yield* Effect.catch(client.stream(request), (error) => unreached(name, error))
      })
      return ApiProxy.of({ apis, send })
    })
  )
}

const absent = (name: string) =>
  `no API ${JSON.stringify(name.slice(0, 32))} is configured behind this console: Console.PipelineUrl, ModelsUrl and SpeechUrl name them`

const unreached = (name: string, error: EgressError) =>
  Effect.andThen(
    Effect.logWarning("an API behind the console does not answer", error).pipe(
      Effect.annotateLogs({ api_behind: name })
    ),
    Effect.fail(serviceUnavailable(1, `the ${name} API does not answer at the moment`))
  )

// The recordings from which a voice is cloned are the largest bodies that any of these APIs accepts.
const bodyBytesMax = 33_554_432

const passOn = Effect.gen(function* () {
  yield* (yield* PageAccess).requireOn
  const token = yield* (yield* Auth).sent
  if (Option.isNone(token)) return yield* unauthorized()
  yield* (yield* Admission).enter((yield* Caller).workspace)
  const { api = "" } = (yield* HttpCall).params
  const { headers: headersLeft } = yield* ProxyPerson
  const call = yield* relayedCall({ prefix: `/apis/${api}`, bodyBytesMax, headersLeft })
  const { status, headers, body } = yield* (yield* ApiProxy).send(api, call, token.value)
  // Each event is complete in itself. Anything else is aborted, so that no client mistakes a part of it for the
  // complete answer.
  const areEvents = headers["content-type"]?.startsWith("text/event-stream") === true
  const seen = areEvents ? whileSignedIn(body) : whileSignedIn(body, unauthorized("the session has ended"))
  return relayedAnswer({ status, headers, body: Stream.provideContext(seen, yield* Effect.context<Auth | HttpCall>()) })
})

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** The API that answers decides which scope a call needs. */
export const apiProxyRoutes = methods.map((method) =>
  route(method, "/apis/:api/*", authenticated({ scopes: [] })(passOn))
)
