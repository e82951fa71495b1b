/** The chains that payments are taken on, as this role speaks to them: by their CAIP-2 names. */
import { Context, Effect, Layer } from "effect"
import { Configuration } from "#runtime"
import { type OpenNetwork, openNetworks } from "#x402"

export class Networks extends Context.Service<Networks, ReadonlyMap<string, OpenNetwork>>()(
  "starling/payment-verifier/Networks"
) {
  static readonly layer = Layer.effect(
    Networks,
    Effect.flatMap(Configuration, ({ Payments }) => openNetworks(Payments))
  )
}
