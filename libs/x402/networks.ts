/**
 * Every configured network with its scheme: our own, or one whose payments a facilitator verifies and settles. Opened
 * once for each role that handles payments; opening asks the chains nothing.
 */
import { Effect, type Scope } from "effect"
import type { PaymentNetwork, Payments } from "#contracts"
import type { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { type OpenScheme, openScheme } from "./chains/families.ts"
import { openFacilitator, remoteScheme } from "./facilitator/Facilitator.ts"
import { facilitatorUnconfirmed } from "./metrics.ts"

/** `account` is null too where a facilitator signs. */
export interface OpenNetwork extends OpenScheme {
  readonly entry: PaymentNetwork
  /** A facilitator signs and sends for us. */
  readonly isRemote: boolean
}

// Connections of one role to one facilitator: as many as its calls at once.
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

/** The chains alone, for roles that ask no facilitator. */
export const openChains = Effect.fn("openChains")(function* (
  section: Pick<Payments, "Networks">
): Effect.fn.Return<ReadonlyArray<Pick<OpenNetwork, "entry" | "scheme">>, never, Needs> {
  return yield* Effect.forEach(section.Networks, (entry) =>
    Effect.map(openScheme(entry), ({ scheme }) => ({ entry, scheme }))
  )
})

const openNetwork = Effect.fnUntraced(function* (
  section: Payments,
  entry: PaymentNetwork
): Effect.fn.Return<OpenNetwork, never, Needs> {
  const own = yield* openScheme(entry)
  if (entry.FacilitatorUrl === undefined) return { entry, ...own, isRemote: false }
  const facilitator = yield* openFacilitator({
    url: entry.FacilitatorUrl,
    timeoutMs: section.FacilitatorTimeoutSeconds * 1_000,
    connectionsMax: facilitatorConnectionsMax
  })
  const unconfirmed = (yield* Metrics).counter(facilitatorUnconfirmed)
  unconfirmed.begin({ network: entry.Network })
  const onUnconfirmed = () => unconfirmed.inc({ network: entry.Network })
  const scheme = remoteScheme(own.scheme, facilitator, { confirmMs: facilitatorConfirmMs, onUnconfirmed })
  return { entry, scheme, account: null, isRemote: true }
})
