/**
 * A call to a model, whichever provider serves it. Its providers are called in order: if one fails in a way that
 * another may not share, the next one is called, as long as nothing has been sent. A provider that keeps failing has
 * its circuit opened for a while. When all have failed, the last reason is the answer.
 */
import { Cause, Clock, Context, Effect, Exit, Layer, Result, Scope } from "effect"
import {
  afterAttempt,
  afterFailure,
  afterNothing,
  type Breaker,
  type BreakerLimits,
  breakerWaitMs,
  check,
  closedBreaker,
  Metrics
} from "#runtime"
import type { CallOutcome } from "#gateway/contract"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"
import {
  breakerOpen,
  charged,
  fallbacks,
  providerCost,
  tokensServed,
  upstreamCalls,
  upstreamSeconds
} from "../metrics.ts"
import {
  hasCost,
  ModelRegistry,
  type ModelRoute,
  type Provider,
  type RegisteredModel
} from "../models/ModelRegistry.ts"
import type { JsonObject } from "../translate/json.ts"
import type { StatusClass } from "./provider-faults.ts"
import { providerStates } from "./provider-states.ts"
import {
  type AttemptFailed,
  type ProviderCall,
  Providers,
  type StreamedAnswer,
  type UpstreamPath
} from "./Providers.ts"
import type { ProviderKind } from "../translate/provider-apis.ts"
import { type CountedCall, Uptime } from "./Uptime.ts"

/** When the circuit of a provider's model opens: neither a short burst nor one rare call is enough. */
export const providerBreakerLimits: BreakerLimits = {
  failuresToOpen: 10,
  failingMsToOpen: 10_000,
  pauseMsMin: 5_000,
  pauseMsMax: 60_000
}
// The longest that one call may take.
const probeMsMax = 150_000

export interface UpstreamOrder {
  readonly model: RegisteredModel
  readonly path: UpstreamPath
  /** The caller's headers for the provider. */
  readonly headers: Readonly<Record<string, string>>
  readonly bodyFor: (route: ModelRoute) => Result.Result<JsonObject, GatewayFault>
}

interface CompleteAnswer {
  readonly kind: ProviderKind
  /** The route that answered. */
  readonly route: ModelRoute
  readonly body: JsonObject
}

export class Upstreams extends Context.Service<
  Upstreams,
  {
    readonly whole: (order: UpstreamOrder) => Effect.Effect<CompleteAnswer, GatewayFault>
    readonly stream: (order: UpstreamOrder) => Effect.Effect<StreamedAnswer, GatewayFault, Scope.Scope>
  }
>()("starling/model-gateway/Upstreams") {
  static readonly layer = Layer.effect(
    Upstreams,
    Effect.gen(function* () {
      const providers = yield* Providers
      const { all } = yield* ModelRegistry
      const metrics = yield* Metrics
      beginAtZero(metrics, all)
      const watch = routeWatch(metrics, yield* Uptime)
      for (const provider of providersOf(all)) yield* checkProvider(watch, providers, provider)
      const whole = (order: UpstreamOrder) =>
        inOrder(watch, order, (call) =>
          Effect.map(providers.whole(call), (body) => ({ kind: call.route.provider.kind, route: call.route, body }))
        ).pipe(Effect.tap(({ route }) => ended(watch, order.model, { route, outcome: "answered" })))
      const stream = (order: UpstreamOrder) =>
        inOrder(watch, order, (call) => ownScope(providers.stream(call))).pipe(
          Effect.flatMap((answer) => watched(watch, order.model, answer))
        )
      return Upstreams.of({ whole, stream })
    })
  )
}

const providersOf = (models: ReadonlyArray<RegisteredModel>) =>
  new Map(models.flatMap(({ routes }) => routes.map(({ provider }) => [provider.name, provider]))).values()

/** Whoever calls is served by another provider, or by none: no replica is unready for it. */
const checkProvider = (watch: RouteWatch, { reach }: Providers["Service"], provider: Provider) => {
  const run = Effect.gen(function* () {
    if (!watch.isProven(provider, yield* Clock.currentTimeMillis)) {
      const found = yield* reach(provider)
      watch.checked(provider, found, yield* Clock.currentTimeMillis)
    }
    const text = watch.faultsOf(provider)
    if (text !== undefined) return yield* Effect.fail(text)
  })
  return check({ name: "provider", subject: provider.name, run })
}

/** The counters of each model and of its providers. */
const beginAtZero = (metrics: Metrics["Service"], models: ReadonlyArray<RegisteredModel>) => {
  for (const { entry, routes } of models) {
    metrics.counter(tokensServed).begin({ model: entry.Id })
    if (!entry.Free) metrics.counter(charged).begin({ model: entry.Id })
    for (const { cost, provider } of routes) {
      for (const [outcome, status_class] of usualEnds)
        metrics.counter(upstreamCalls).begin({ provider: provider.name, outcome, status_class })
      metrics.counter(fallbacks).begin({ provider: provider.name })
      if (hasCost(cost)) metrics.counter(providerCost).begin({ model: entry.Id, provider: provider.name })
    }
  }
}

const inOrder = Effect.fnUntraced(function* <A, R>(
  watch: RouteWatch,
  { model, path, headers, bodyFor }: UpstreamOrder,
  attempt: (call: ProviderCall) => Effect.Effect<A, AttemptFailed, R>
) {
  let last: GatewayFault | undefined
  let soonestMs = Number.POSITIVE_INFINITY
  let failedBefore: string | undefined
  let outcome: CallOutcome | undefined
  for (const route of model.routes) {
    const nowMs = yield* Clock.currentTimeMillis
    const wait = watch.waitMs(route, nowMs)
    if (wait > 0) {
      soonestMs = Math.min(soonestMs, wait)
      watch.counted({ model: model.entry.Id, provider: route.provider.name, outcome: "leftAlone" }, nowMs)
      continue
    }
    const body = bodyFor(route)
    if (Result.isFailure(body)) {
      last ??= body.failure
      continue
    }
    if (failedBefore !== undefined) watch.fellBack(failedBefore)
    const call = { route, path, body: body.success, headers, family: model.family }
    const result = yield* ask(watch, route, attempt(call))
    if (Result.isSuccess(result)) return result.success
    outcome = outcomeOf(result.failure)
    watch.counted({ model: model.entry.Id, provider: route.provider.name, outcome }, yield* Clock.currentTimeMillis)
    last = result.failure.fault
    if (!result.failure.isWorthAnother) break
    failedBefore = route.provider.name
  }
  const nowMs = yield* Clock.currentTimeMillis
  watch.counted({ model: model.entry.Id, outcome: last === undefined ? "leftAlone" : outcome }, nowMs)
  return yield* last ?? fault("MODEL_UNAVAILABLE", { retryAfterSeconds: Math.ceil(soonestMs / 1_000) })
})

/** What a failed attempt says about a provider; nothing if the request was refused for its content. */
const outcomeOf = ({ isProviders, isWorthAnother }: AttemptFailed): CallOutcome | undefined => {
  if (isProviders) return "failed"
  return isWorthAnother ? "limited" : undefined
}

/** The end of a call that a provider answered, or began to answer. */
const ended = (
  watch: RouteWatch,
  { entry }: RegisteredModel,
  { route, outcome }: { readonly route: ModelRoute; readonly outcome: CallOutcome | undefined }
) =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => {
    watch.counted({ model: entry.Id, provider: route.provider.name, outcome }, nowMs)
    watch.counted({ model: entry.Id, outcome }, nowMs)
  })

const ask = Effect.fnUntraced(function* <A, R>(
  watch: RouteWatch,
  route: ModelRoute,
  attempt: Effect.Effect<A, AttemptFailed, R>
) {
  const startedAtMs = yield* Clock.currentTimeMillis
  watch.attempted(route, startedAtMs)
  const result = yield* Effect.onInterrupt(Effect.result(attempt), () => Effect.sync(() => watch.cancelled(route)))
  const nowMs = yield* Clock.currentTimeMillis
  watch.took(route, nowMs - startedAtMs)
  if (Result.isFailure(result)) watch.failed(route, result.failure, nowMs)
  else watch.answered(route, nowMs)
  return result
})

/**
 * A stream that breaks off after its first event counts against its provider; a stream's outcome is known at its end.
 */
const watched = Effect.fnUntraced(function* (watch: RouteWatch, model: RegisteredModel, answer: StreamedAnswer) {
  const { route } = answer
  // A caller that leaves midway was answered until then.
  let outcome: CallOutcome | undefined = "answered"
  yield* Effect.addFinalizer(() => ended(watch, model, { route, outcome }))
  const next = Effect.tapError(answer.next, (error) =>
    Cause.isDone(error)
      ? Effect.void
      : Effect.map(Clock.currentTimeMillis, (nowMs) => {
          outcome = outcomeOf(error)
          watch.brokeOff(route, error, nowMs)
        })
  )
  return { ...answer, next }
})

type Outcome = "answered" | "refused" | "limited" | "failed" | "broken off" | "cancelled"

const usualEnds: ReadonlyArray<readonly [Outcome, StatusClass]> = [
  ["answered", "2xx"],
  ["refused", "4xx"],
  ["limited", "429"],
  ["cancelled", "none"],
  ["broken off", "cut off"],
  ["broken off", "timeout"],
  ...(["401", "402", "403", "404", "5xx", "timeout", "unreachable", "not allowed", "garbled"] as const).map(
    (reason) => ["failed", reason] as const
  )
]

/** The state of the models' providers: their counts, and open circuits. */
interface RouteWatch {
  /** How long it must not be called; 0 if it can be. */
  readonly waitMs: (route: ModelRoute, nowMs: number) => number
  readonly attempted: (route: ModelRoute, nowMs: number) => void
  readonly took: (route: ModelRoute, ms: number) => void
  readonly answered: (route: ModelRoute, nowMs: number) => void
  readonly cancelled: (route: ModelRoute) => void
  readonly failed: (route: ModelRoute, failure: AttemptFailed, nowMs: number) => void
  readonly brokeOff: (route: ModelRoute, failure: AttemptFailed, nowMs: number) => void
  /** An answer of the last ten seconds proves the provider, and nothing has failed since. */
  readonly isProven: (provider: Provider, nowMs: number) => boolean
  /** What the provider said when it was asked for its models. The circuits of what has ended close. */
  readonly checked: (provider: Provider, found: StatusClass, nowMs: number) => void
  readonly faultsOf: (provider: Provider) => string | undefined
  /** Counts that another provider is called because this one did not answer. */
  readonly fellBack: (provider: string) => void
  /** Records how an attempt or a call ended, for the model's uptime; one that says nothing about it is not counted. */
  readonly counted: (
    call: Omit<CountedCall, "outcome"> & { readonly outcome: CallOutcome | undefined },
    nowMs: number
  ) => void
}

const routeWatch = (metrics: Metrics["Service"], uptime: Uptime["Service"]): RouteWatch => {
  const calls = metrics.counter(upstreamCalls)
  const seconds = metrics.histogram(upstreamSeconds)
  const fellBack = metrics.counter(fallbacks)
  const open = metrics.gauge(breakerOpen)
  const breakers = new Map<string, Breaker>()
  const states = providerStates(metrics)

  const count = ({ provider }: ModelRoute, outcome: Outcome, status_class: StatusClass) =>
    calls.inc({ provider: provider.name, outcome, status_class })
  const breakerOf = (route: Pick<ModelRoute, "provider" | "model">) => breakers.get(keyOf(route)) ?? closedBreaker
  const set = (route: Pick<ModelRoute, "provider" | "model">, breaker: Breaker) => {
    const before = breakerOf(route)
    breakers.set(keyOf(route), breaker)
    if ((before.openUntilMs === null) !== (breaker.openUntilMs === null)) {
      open.set({ provider: route.provider.name, model: route.model }, breaker.openUntilMs === null ? 0 : 1)
    }
  }
  return {
    waitMs: (route, nowMs) => breakerWaitMs(breakerOf(route), nowMs),
    attempted: (route, nowMs) => set(route, afterAttempt(breakerOf(route), nowMs, probeMsMax)),
    took: ({ provider }, ms) => seconds.observe({ provider: provider.name }, ms / 1_000),
    answered: (route, nowMs) => {
      count(route, "answered", "2xx")
      set(route, closedBreaker)
      states.answered(route, nowMs)
    },
    cancelled: (route) => {
      count(route, "cancelled", "none")
      set(route, afterNothing(breakerOf(route)))
    },
    failed: (route, { isProviders, isWorthAnother, statusClass }, nowMs) => {
      count(route, isProviders ? "failed" : isWorthAnother ? "limited" : "refused", statusClass)
      // A provider that refuses a request is alive.
      set(route, isProviders ? afterProviderFailure(breakerOf(route), nowMs) : closedBreaker)
      if (isProviders) states.failed(route, statusClass, nowMs)
      else states.answered(route, nowMs)
    },
    brokeOff: (route, { isProviders, statusClass }, nowMs) => {
      count(route, "broken off", statusClass)
      if (!isProviders) return
      set(route, afterProviderFailure(breakerOf(route), nowMs))
      states.failed(route, statusClass, nowMs)
    },
    isProven: states.isProven,
    checked: (provider, found, nowMs) => {
      for (const model of states.checked(provider, found, nowMs)) set({ provider, model }, closedBreaker)
    },
    faultsOf: states.faultsOf,
    fellBack: (provider) => fellBack.inc({ provider }),
    counted: ({ outcome, ...call }, nowMs) => {
      if (outcome !== undefined) uptime.count({ ...call, outcome }, nowMs)
    }
  }
}

const afterProviderFailure = (breaker: Breaker, nowMs: number) => afterFailure(breaker, nowMs, providerBreakerLimits)

const keyOf = ({ provider, model }: Pick<ModelRoute, "provider" | "model">) => `${provider.name} ${model}`

/** A failed attempt is cut off at once, not when the call ends. */
const ownScope = Effect.fnUntraced(function* <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* Effect.onError(Effect.provideService(attempt, Scope.Scope, scope), (cause) =>
    Scope.close(scope, Exit.failCause(cause))
  )
})
