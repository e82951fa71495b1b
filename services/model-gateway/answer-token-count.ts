/**
 * How many tokens a conversation in Anthropic's shape has, for callers that plan before they pay. A provider that speaks
 * Anthropic's API counts for itself. For every other model the answer is the estimate by which its calls are priced. A
 * count is free and limited by address.
 */
import { Duration, Effect, Result } from "effect"
import { Admission, HttpCall, jsonAnswer } from "#http"
import { Configuration } from "#runtime"
import { inputTokensOf } from "#x402"
import { answering } from "./answer-refusal.ts"
import { FreeTier } from "./models/FreeTier.ts"
import { type ModelRoute, ModelRegistry } from "./models/ModelRegistry.ts"
import { type ModelCall, modelCallReader, readBody } from "./requests/read-call.ts"
import { numberAt, without } from "./translate/json.ts"
import { Providers } from "./upstream/Providers.ts"

// A caller counts before it asks: a provider that is slower than this is not waited for, and the estimate answers.
const countWithin = Duration.seconds(10)

const readCountedCall = modelCallReader("messages", "count")

export const answerTokenCount = answering("messages")(
  Effect.gen(function* () {
    yield* (yield* Admission).enter("callers")
    yield* (yield* FreeTier).takeCount(yield* HttpCall)
    const body = yield* readBody
    const parts = { find: (yield* ModelRegistry).find, http: yield* HttpCall }
    const call = yield* Effect.fromResult(readCountedCall(body, parts))
    const counted = yield* countedByProvider(call)
    const headers = { "cache-control": "no-store", "x-token-count": counted === undefined ? "estimate" : "provider" }
    return jsonAnswer({ input_tokens: counted ?? inputTokensOf(call.prompt) }, { headers })
  })
)

/** Undefined where no provider counts: then the estimate is the answer. */
const countedByProvider = Effect.fnUntraced(function* (call: ModelCall) {
  const route = countingRoute(call)
  if (route === undefined) return undefined
  const { ModelGateway } = yield* Configuration
  // Not through Upstreams: how counts end must not decide whether paid calls reach this provider.
  const asked = (yield* Providers).whole({
    route,
    path: "count",
    body: without(call.request, "stream"),
    headers: call.headers,
    family: call.model.family
  })
  const withinMs = Math.min(Duration.toMillis(countWithin), ModelGateway.FirstByteSeconds * 1_000)
  const answer = yield* Effect.result(Effect.timeoutOption(asked, withinMs))
  if (Result.isSuccess(answer)) return answer.success._tag === "Some" ? tokensOf(answer.success.value) : undefined
  const { fault, isProviders, isWorthAnother } = answer.failure
  return isProviders || isWorthAnother ? undefined : yield* fault
})

const tokensOf = (body: Parameters<typeof numberAt>[0]) => numberAt(body, "input_tokens")

/** Files that are only named are fetched for paid calls alone, and no provider is given an address: those are estimated. */
const countingRoute = ({ model, named }: ModelCall): ModelRoute | undefined =>
  named.length > 0 ? undefined : model.routes.find(({ provider }) => provider.kind === "anthropic")
