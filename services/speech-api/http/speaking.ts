/** What all routes that speak share: the checks before, the slot, the speech, and the headers of finished speech. */
import { Clock, Effect, Option } from "effect"
import { Admission, Caller, HttpCall, streamAnswer, WireError } from "#http"
import { Configuration } from "#configuration"
import { completed } from "../speaking/completed-plan.ts"
import { Speech, type Spoken } from "../speaking/Speech.ts"
import { type Delivery, type Order, planSpeech, type SpeechPlan, type SpeechRoute } from "../speaking/plan.ts"
import { refusalOf } from "../refusals.ts"
import { voicesOnceOpened } from "../voices/speakable.ts"
import { callerVersion } from "./version.ts"

// 20,000 characters of four bytes each, at worst escaped to twice that, with room for the other fields.
export const bodyBytesMax = 512 * 1_024
export const speechBodies = { bodyBytesMax: Effect.succeed(bodyBytesMax) }
// A stream that waits for a restarting role sends this often, so that its caller does not give up.
export const heartbeat = "2 seconds"
// Until then the headers are held back, so that a refusal still gets its own status.
export const headersWithin = "10 seconds"

interface Preparation {
  readonly route: SpeechRoute
  readonly charactersMax: number
  readonly delivery?: Delivery
}

/** Checks everything that can be known without speaking, and takes a slot. */
export const prepare = Effect.fnUntraced(function* (order: Order, preparation: Preparation) {
  const call = yield* HttpCall
  yield* callerVersion
  const accept = Option.getOrUndefined(call.header("accept"))
  const caller = yield* Caller
  const findVoice = yield* voicesOnceOpened(caller.workspace, order.turns)
  const textNormalization = (yield* Configuration).SpeechApi.TextNormalization
  const plan = yield* Effect.fromResult(planSpeech(order, { ...preparation, accept, findVoice, textNormalization }))
  yield* (yield* Admission).enter(caller.workspace)
  return yield* completed(plan, caller.workspace)
})

/**
 * Whether the caller already has the answer, by `If-None-Match` and weak comparison (RFC 9110, 8.8.3.2). A star names
 * no answer: before its request there is none.
 */
export const isCachedByCaller = Effect.fnUntraced(function* (plan: Pick<SpeechPlan, "cacheKey">) {
  const tag = entityTag(plan)
  const named = Option.getOrElse((yield* HttpCall).header("if-none-match"), () => "").split(",")
  return tag !== undefined && named.some((one) => strong(one.trim()) === strong(tag))
})

const strong = (tag: string) => tag.replace(/^W\//u, "")

/** For a POST whose precondition is false: nothing is spoken (RFC 9110, 13.1.2). */
const unlessCached = Effect.fnUntraced(function* (plan: SpeechPlan) {
  if (!(yield* isCachedByCaller(plan))) return plan
  return yield* new WireError({
    status: 412,
    code: "precondition_failed",
    message: "If-None-Match names this answer: you hold it already",
    headers: { etag: entityTag(plan) ?? "" }
  })
})

/** Like `prepare`, for a POST: refuses what the caller already has. */
export const prepareAnswer = (order: Order, preparation: Preparation) =>
  Effect.flatMap(prepare(order, preparation), unlessCached)

export const started = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

export const speak = Effect.fnUntraced(function* (plan: SpeechPlan, startedAtMs: number) {
  const speech = yield* Speech
  return yield* Effect.mapError(speech.speak(plan, startedAtMs), (error) => refusalOf(error, plan.turns.length > 1))
})

/**
 * The same for the same request, so that a client knows what it already has. Weak, because another release of an engine
 * speaks other bytes. A cloned voice has none.
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

/** These headers plus the times so far, which are read when the headers are written, with or without a first byte. */
export const timed = (spoken: Spoken, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  ...headers,
  get "server-timing"() {
    return spoken.timing()
  }
})

/** The bytes as they are produced. */
export const streamed = Effect.fnUntraced(function* (spoken: Spoken, plan: SpeechPlan, contentType: string) {
  const headers = timed(spoken, { ...(yield* headersOfContent(plan, spoken)), "cache-control": "no-store" })
  return yield* Effect.mapError(streamAnswer(spoken.bytes, { contentType, headers }), (error) =>
    refusalOf(error, false)
  )
})
