/** What all routes that speak do: the checks before, the place, the speech, and the headers of finished speech. */
import { Clock, Effect, Option } from "effect"
import { Admission, Caller, HttpCall } from "#http"
import { fleetCatalogue } from "#speech"
import { cacheKeyOf } from "../speaking/SpeechCache.ts"
import { Speech, type Spoken } from "../speaking/Speech.ts"
import { type Order, planSpeech, type SpeechPlan, type SpeechRoute } from "../speaking/plan.ts"
import { refusalOf } from "../refusals.ts"
import { voicesFor } from "../voices/speakable.ts"
import { callerVersion } from "./version.ts"

interface Preparation {
  readonly route: SpeechRoute
  readonly charactersMax: number
  readonly isStreamed?: boolean
}

/** Checks everything that can be known without speaking, and takes a place. */
export const prepare = Effect.fnUntraced(function* (order: Order, preparation: Preparation) {
  const call = yield* HttpCall
  yield* callerVersion
  const accept = Option.getOrUndefined(call.header("accept"))
  const caller = yield* Caller
  const findVoice = yield* voicesFor(caller.workspace, order.turns)
  const plan = yield* Effect.fromResult(planSpeech(order, { ...preparation, accept, findVoice }))
  yield* (yield* Admission).enter(caller.workspace)
  const { byId } = yield* fleetCatalogue
  const cacheKey = cacheKeyOf(caller.workspace, plan, (id) => byId(id) !== undefined)
  return cacheKey === undefined ? plan : { ...plan, cacheKey }
})

export const started = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

export const speak = Effect.fnUntraced(function* (plan: SpeechPlan, startedAtMs: number) {
  const speech = yield* Speech
  return yield* Effect.mapError(speech.speak(plan, startedAtMs), (error) => refusalOf(error, plan.turns.length > 1))
})

/**
 * The same for the same request, so that a client knows what it holds already. Weak, because another release of an
 * engine speaks other bytes. A cloned voice has none.
 */
export const entityTag = ({ cacheKey }: Pick<SpeechPlan, "cacheKey">): string | undefined =>
  cacheKey === undefined ? undefined : `W/"${cacheKey.digest}"`

/** The entity tag, and the age of an answer from the cache. */
export const headersOfContent = Effect.fnUntraced(function* (
  plan: SpeechPlan,
  { keptSinceMs }: Pick<Spoken, "keptSinceMs">
) {
  const etag = entityTag(plan)
  const nowMs = yield* Clock.currentTimeMillis
  const headers: Record<string, string> = {}
  if (etag !== undefined) headers["etag"] = etag
  if (keptSinceMs !== undefined) headers["age"] = String(Math.max(0, Math.floor((nowMs - keptSinceMs) / 1_000)))
  return headers
})
