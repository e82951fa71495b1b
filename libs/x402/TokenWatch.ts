/**
 * Checks that the token of each network is the configured one: at the start, whenever the chain comes back, and from
 * time to time, for a node can be set to another chain. While the token differs, nothing is sold on that network, and
 * the log, readiness and a metric say so. A chain that does not answer says nothing of its token.
 */
import { Context, Deferred, Effect, Layer, Result } from "effect"
import { Health, Metrics, supervise } from "#runtime"
import type { ChainMismatch, ChainUnavailable } from "./errors.ts"
import { tokenMismatch } from "./metrics.ts"
import type { OpenNetwork } from "./networks.ts"

type Watched = Pick<OpenNetwork, "entry" | "scheme">

interface TokenWatchOptions {
  /** Whether a process whose token differs is unready: a rollout of it then stops. */
  readonly isNeeded: boolean
  /** The time between two checks of a chain that answers. */
  readonly everyMs?: number
}

// Five short questions each time. A wrong token costs nobody money meanwhile, for the chain refuses the payment.
const everyMsUsual = 60_000
// For a chain that is away: at first almost no wait, at last as long as its breaker waits.
const awayMsMin = 500
const awayMsMax = 15_000
// The start waits no longer than this for a chain.
const firstLookMs = 2_000

export class TokenWatch extends Context.Service<
  TokenWatch,
  {
    /** The reason why nothing is sold on a network; undefined while it sells. */
    readonly stopped: (network: string) => string | undefined
  }
>()("starling/x402/TokenWatch") {
  static readonly layer = (networks: Iterable<Watched>, options: TokenWatchOptions) =>
    Layer.effect(TokenWatch, watchAll([...networks], options))
}

const watchAll = Effect.fnUntraced(function* (networks: ReadonlyArray<Watched>, options: TokenWatchOptions) {
  const stops = new Map<string, string>()
  const first = yield* Effect.forEach(networks, (network) => watch(network, stops, options))
  yield* Effect.forEach(first, (looked) => Effect.timeoutOption(Deferred.await(looked), firstLookMs), {
    concurrency: "unbounded",
    discard: true
  })
  return TokenWatch.of({ stopped: (network) => stops.get(network) })
})

/** Returns an effect that completes once the chain was asked for the first time, answer or not. */
const watch = Effect.fnUntraced(function* (
  { entry, scheme }: Watched,
  stops: Map<string, string>,
  { isNeeded, everyMs = everyMsUsual }: TokenWatchOptions
) {
  const network = entry.Network
  const terms = { name: entry.AssetName, version: entry.AssetVersion, decimals: entry.AssetDecimals }
  const gauge = (yield* Metrics).gauge(tokenMismatch)
  gauge.set({ network }, 0)
  const looked = yield* Deferred.make<void>()
  const note = Effect.fnUntraced(function* (verdict: Result.Result<void, ChainMismatch | ChainUnavailable>) {
    const before = stops.get(network)
    const after = stopAfter(before, verdict)
    if (after === undefined) stops.delete(network)
    else stops.set(network, after)
    gauge.set({ network }, after === undefined ? 0 : 1)
    if (after !== undefined && after !== before) yield* Effect.logError(`nothing is sold on ${network}: ${after}`)
    if (after === undefined && before !== undefined) yield* Effect.logInfo(`${network} is as it is configured again`)
  })
  const loop = Effect.gen(function* () {
    let awayMs = awayMsMin
    while (true) {
      const verdict = yield* Effect.result(scheme.probe(terms))
      yield* note(verdict)
      Deferred.doneUnsafe(looked, Effect.void)
      const isAway = Result.isFailure(verdict) && verdict.failure._tag === "ChainUnavailable"
      yield* Effect.sleep(isAway ? awayMs : everyMs)
      awayMs = isAway ? Math.min(2 * awayMs, awayMsMax) : awayMsMin
    }
  })
  yield* Effect.forkScoped(supervise(`token ${network}`, loop))
  yield* tell(network, stops, isNeeded)
  return looked
})

const tell = Effect.fnUntraced(function* (network: string, stops: ReadonlyMap<string, string>, isNeeded: boolean) {
  const health = yield* Health
  const name = `token of ${network}`
  const stop = Effect.sync(() => stops.get(network))
  if (!isNeeded) return yield* health.remark(name, stop)
  yield* health.readiness(
    name,
    Effect.flatMap(stop, (text) => (text === undefined ? Effect.void : Effect.fail(text)))
  )
})

/** A chain that is away leaves the last finding as it was. Pure. */
export const stopAfter = (
  before: string | undefined,
  verdict: Result.Result<void, ChainMismatch | ChainUnavailable>
): string | undefined => {
  if (Result.isSuccess(verdict)) return undefined
  return verdict.failure._tag === "ChainMismatch" ? verdict.failure.detail : before
}
