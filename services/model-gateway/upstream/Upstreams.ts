/**
 * A call to a model, whoever serves it: its providers are asked in order, and the next one when one fails in a
 * way that another may not share, as long as nothing has been given out. A provider that keeps failing is
 * left alone for a while. Answers with the last reason when all have failed.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Result, Scope } from "effect"
import {
  afterAttempt,
  afterFailure,
  afterNothing,
  type Breaker,
  type BreakerLimits,
  breakerWaitMs,
  closedBreaker,
  Metrics
} from "#runtime"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import { breakerOpen, fallbacks, upstreamCalls, upstreamSeconds } from "../metrics.ts"
import type { CatalogueModel, ModelRoute } from "../requests/Catalogue.ts"
import type { JsonObject } from "../translate/json.ts"
import {
  type AttemptFailed,
  type UpstreamPath,
  type ProviderCall,
  Providers,
  type StreamedAnswer
} from "./Providers.ts"
import type { Dialect } from "../translate/event-decoder.ts"

/** When a provider's model is left alone: neither a burst nor a rare call decides. */
export const providerBreakerLimits: BreakerLimits = {
  failuresToOpen: 10,
  failingMsToOpen: 10_000,
  pauseMsMin: 5_000,
  pauseMsMax: 60_000
}
// The longest that a call may take to come back.
const probeMsMax = 150_000

export interface UpstreamOrder {
  readonly model: CatalogueModel
  readonly path: UpstreamPath
  /** Of the caller's, for the provider. */
  readonly headers: Readonly<Record<string, string>>
  readonly bodyFor: (route: ModelRoute) => Result.Result<JsonObject, GatewayFault>
}

interface WholeAnswer {
  readonly dialect: Dialect
  readonly body: JsonObject
}

export class Upstreams extends Context.Service<
  Upstreams,
  {
    readonly whole: (order: UpstreamOrder) => Effect.Effect<WholeAnswer, GatewayFault>
    readonly stream: (order: UpstreamOrder) => Effect.Effect<StreamedAnswer, GatewayFault, Scope.Scope>
  }
>()("starling/model-gateway/Upstreams") {
  static readonly layer = Layer.effect(
    Upstreams,
    Effect.gen(function* () {
      const providers = yield* Providers
      const metrics = yield* Metrics
      const calls = metrics.counter(upstreamCalls)
      const seconds = metrics.histogram(upstreamSeconds)
      const fellBack = metrics.counter(fallbacks)
      const open = metrics.gauge(breakerOpen)
      const breakers = new Map<string, Breaker>()

      const breakerOf = (key: string) => breakers.get(key) ?? closedBreaker
      const setBreaker = ({ provider, model }: ModelRoute, breaker: Breaker) => {
        const key = keyOf({ provider, model })
        const before = breakerOf(key)
        breakers.set(key, breaker)
        if ((before.openUntilMs === null) !== (breaker.openUntilMs === null)) {
          open.set({ provider: provider.name, model }, breaker.openUntilMs === null ? 0 : 1)
        }
      }
      const noteFailure = (route: ModelRoute, { isProviders, isWorthAnother }: AttemptFailed, nowMs: number) => {
        const outcome = isProviders ? "failed" : isWorthAnother ? "limited" : "refused"
        calls.inc({ provider: route.provider.name, outcome })
        // Who refuses a request is alive.
        setBreaker(route, isProviders ? afterProviderFailure(breakerOf(keyOf(route)), nowMs) : closedBreaker)
      }

      const ask = Effect.fnUntraced(function* <A, R>(call: ProviderCall, attempt: Effect.Effect<A, AttemptFailed, R>) {
        const { route } = call
        const startedAtMs = yield* Clock.currentTimeMillis
        setBreaker(route, afterAttempt(breakerOf(keyOf(route)), startedAtMs, probeMsMax))
        const result = yield* Effect.onInterrupt(Effect.result(attempt), () =>
          Effect.sync(() => {
            calls.inc({ provider: route.provider.name, outcome: "cancelled" })
            setBreaker(route, afterNothing(breakerOf(keyOf(route))))
          })
        )
        const nowMs = yield* Clock.currentTimeMillis
        seconds.observe({ provider: route.provider.name }, (nowMs - startedAtMs) / 1_000)
        if (Result.isFailure(result)) noteFailure(route, result.failure, nowMs)
        else {
          calls.inc({ provider: route.provider.name, outcome: "answered" })
          setBreaker(route, closedBreaker)
        }
        return result
      })

      const inOrder = Effect.fnUntraced(function* <A, R>(
        { model, path, headers, bodyFor }: UpstreamOrder,
        attempt: (call: ProviderCall) => Effect.Effect<A, AttemptFailed, R>
      ) {
        let last: GatewayFault | undefined
        let soonestMs = Number.POSITIVE_INFINITY
        let failedBefore: string | undefined
        for (const route of model.routes) {
          const wait = breakerWaitMs(breakerOf(keyOf(route)), yield* Clock.currentTimeMillis)
          if (wait > 0) {
            soonestMs = Math.min(soonestMs, wait)
            continue
          }
          const body = bodyFor(route)
          if (Result.isFailure(body)) {
            last ??= body.failure
            continue
          }
          if (failedBefore !== undefined) fellBack.inc({ provider: failedBefore })
          const call = { route, path, body: body.success, headers, family: model.family }
          const result = yield* ask(call, attempt(call))
          if (Result.isSuccess(result)) return result.success
          last = result.failure.fault
          if (!result.failure.isWorthAnother) break
          failedBefore = route.provider.name
        }
        return yield* last ?? fault("MODEL_UNAVAILABLE", { retryAfterSeconds: Math.ceil(soonestMs / 1_000) })
      })

      const whole = (order: UpstreamOrder) =>
        inOrder(order, (call) =>
          Effect.map(providers.whole(call), (body) => ({ dialect: call.route.provider.kind, body }))
        )
      const watched = (route: ModelRoute, answer: StreamedAnswer): StreamedAnswer => ({
        ...answer,
        next: Effect.tapError(answer.next, (error) => {
          if (Cause.isDone(error)) return Effect.void
          return Effect.map(Clock.currentTimeMillis, (nowMs) => {
            calls.inc({ provider: route.provider.name, outcome: "broken off" })
            if (error.isProviders) setBreaker(route, afterProviderFailure(breakerOf(keyOf(route)), nowMs))
          })
        })
      })
      const stream = (order: UpstreamOrder) =>
        inOrder(order, (call) => Effect.map(ownScope(providers.stream(call)), (answer) => watched(call.route, answer)))
      return Upstreams.of({ whole, stream })
    })
  )
}

const afterProviderFailure = (breaker: Breaker, nowMs: number) => afterFailure(breaker, nowMs, providerBreakerLimits)

const keyOf = ({ provider, model }: Pick<ModelRoute, "provider" | "model">) => `${provider.name} ${model}`

/** One that fails is cut off at once, and not when the call ends. */
const ownScope = Effect.fnUntraced(function* <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* Effect.onError(Effect.provideService(attempt, Scope.Scope, scope), (cause) =>
    Scope.close(scope, Exit.failCause(cause))
  )
})
