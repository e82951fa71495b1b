/**
 * Every configured network with its schemes: our own, or ones whose payments a facilitator verifies and settles; and
 * the watch over its token and over what it is reached by. Networks are opened once for each role that handles payments; opening makes no call to the
 * chains.
 */
import { Context, Deferred, Effect, Layer, Result, type Scope } from "effect"
import type { PaymentNetwork, Payments } from "#payments/contract"
import type { ConfiguredHttp } from "#egress"
import { check, Health, Metrics, supervise } from "#runtime"
import { openChain, type OpenChain } from "./chains/families.ts"
import { type Facilitator, openFacilitator, remoteScheme } from "./facilitator/Facilitator.ts"
import { facilitatorUnconfirmed, tokenMismatch } from "./metrics.ts"
import type { ChainMismatch, ChainUnavailable } from "./errors.ts"
import type { PaymentScheme, PaymentSchemes } from "./scheme.ts"

/** `account` is null also if a facilitator signs. */
export interface OpenNetwork extends OpenChain {
  readonly entry: PaymentNetwork
  /** A facilitator signs and sends for us. */
  readonly isRemote: boolean
  readonly facilitator?: Pick<Facilitator, "reach">
}

// One role's connections to one facilitator: as many as its calls at once.
const facilitatorConnectionsMax = 256
// A settled transfer is in a block, and our nodes are a block or two behind at most.
const facilitatorConfirmMs = 5_000

type Needs = ConfiguredHttp | Metrics | Scope.Scope

/** Keyed by the network's name. */
export const openNetworks = Effect.fn("openNetworks")(function* (
  section: Payments
): Effect.fn.Return<ReadonlyMap<string, OpenNetwork>, never, Needs> {
  const opened = yield* Effect.forEach(section.Networks, (entry) => openNetwork(section, entry))
  return new Map(opened.map((one) => [one.entry.Network, one]))
})

/** Only the chains, for roles that call no facilitator. */
export const openChains = Effect.fn("openChains")(function* (
  section: Pick<Payments, "Networks">
): Effect.fn.Return<ReadonlyArray<Pick<OpenNetwork, "entry" | "chain">>, never, Needs> {
  return yield* Effect.forEach(section.Networks, (entry) =>
    Effect.map(openChain(entry), ({ chain }) => ({ entry, chain }))
  )
})

const openNetwork = Effect.fnUntraced(function* (
  section: Payments,
  entry: PaymentNetwork
): Effect.fn.Return<OpenNetwork, never, Needs> {
  const own = yield* openChain(entry)
  if (entry.FacilitatorUrl === undefined) return { entry, ...own, isRemote: false }
  const facilitator = yield* openFacilitator({
    network: entry.Network,
    url: entry.FacilitatorUrl,
    timeoutMs: section.FacilitatorTimeoutSeconds * 1_000,
    connectionsMax: facilitatorConnectionsMax
  })
  const unconfirmed = (yield* Metrics).counter(facilitatorUnconfirmed)
  unconfirmed.begin({ network: entry.Network })
  const onUnconfirmed = () => unconfirmed.inc({ network: entry.Network })
  const options = { confirmMs: facilitatorConfirmMs, onUnconfirmed }
  const remote = (scheme: PaymentScheme) => remoteScheme(scheme, facilitator, options)
  const schemes = mapSchemes(own.schemes, remote)
  return { entry, chain: own.chain, schemes, account: null, isRemote: true, facilitator }
})

const mapSchemes = (schemes: PaymentSchemes, change: (scheme: PaymentScheme) => PaymentScheme): PaymentSchemes =>
  Object.fromEntries(Object.entries(schemes).map(([name, scheme]) => [name, change(scheme)]))

/** Whether nodes and facilitators answer. It is only shown: another replica would reach them no better. */
export const networkChecks = (networks: Iterable<OpenNetwork>) =>
  Effect.forEach(
    networks,
    Effect.fnUntraced(function* ({ entry: { Network: subject }, chain, facilitator }) {
      yield* check({ name: "chain", subject, run: chain.reach })
      if (facilitator !== undefined) yield* check({ name: "facilitator", subject, run: facilitator.reach })
    }),
    { discard: true }
  )

type Watched = Pick<OpenNetwork, "entry" | "chain">

interface TokenWatchOptions {
  /** Whether a token mismatch makes the process unready, which stops a rollout of it. */
  readonly isNeeded: boolean
  /** The time between two checks of a chain that answers. */
  readonly everyMs?: number
}

// Five short questions each time. A wrong token costs no one money in the meantime, because the chain refuses the
// payment.
const everyMsUsual = 60_000
// For an unavailable chain: almost no wait at first, and in the end as long as its breaker waits.
const retryMsMin = 500
const retryMsMax = 15_000
// The start waits at most this long for a chain.
const firstLookMs = 2_000

/**
 * Checks that each network's token is the configured one: at the start, whenever the chain comes back, and
 * periodically, because a node can be switched to another chain. While the token differs, nothing is sold on that
 * network, and the log, readiness and a metric report it. A chain that does not answer says nothing about its token.
 */
export class TokenWatch extends Context.Service<
  TokenWatch,
  {
    /** The reason why nothing is sold on a network; undefined while it sells. */
    readonly stopped: (network: string) => string | undefined
  }
>()("starling/payments/TokenWatch") {
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

/** Returns an effect that completes once the chain has been asked for the first time, whether it answered or not. */
const watch = Effect.fnUntraced(function* (
  { entry, chain }: Watched,
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
    let awayMs = retryMsMin
    while (true) {
      const verdict = yield* Effect.result(chain.probe(terms))
      yield* note(verdict)
      Deferred.doneUnsafe(looked, Effect.void)
      const isUnavailable = Result.isFailure(verdict) && verdict.failure._tag === "ChainUnavailable"
      yield* Effect.sleep(isUnavailable ? awayMs : everyMs)
      awayMs = isUnavailable ? Math.min(2 * awayMs, retryMsMax) : retryMsMin
    }
  })
  yield* Effect.forkScoped(supervise(`token ${network}`, loop))
  yield* report(network, stops, isNeeded)
  return looked
})

const report = Effect.fnUntraced(function* (network: string, stops: ReadonlyMap<string, string>, isNeeded: boolean) {
  const health = yield* Health
  const name = `token of ${network}`
  const stop = Effect.sync(() => stops.get(network))
  if (!isNeeded) return yield* health.remark(name, stop)
  yield* health.readiness(
    name,
    Effect.flatMap(stop, (text) => (text === undefined ? Effect.void : Effect.fail(text)))
  )
})

/** An unavailable chain leaves the last finding unchanged. Pure. */
export const stopAfter = (
  before: string | undefined,
  verdict: Result.Result<void, ChainMismatch | ChainUnavailable>
): string | undefined => {
  if (Result.isSuccess(verdict)) return undefined
  return verdict.failure._tag === "ChainMismatch" ? verdict.failure.detail : before
}
