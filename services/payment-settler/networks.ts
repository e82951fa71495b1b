/**
 * The chains that payments are settled on, each with the keys that this process can sign with. A missing or unreadable
 * key prevents the start.
 */
import { Context, Effect, Layer, Result } from "effect"
import { Mailbox } from "#bus"
import { inOneCase, type PaymentNetwork } from "#payments/contract"
import { Configuration } from "#configuration"
import { InvalidConfiguration } from "#runtime"
import { type OpenNetwork, openNetworks, type SettlerKey } from "#payments"
import { SettlerKeys } from "./settler-keys.ts"
import { type SignerPool, openSignerPool } from "./signer-pool.ts"

export interface SettlingNetwork extends OpenNetwork {
  readonly pool: SignerPool
  /** The addresses whose keys this process has. */
  readonly addresses: ReadonlyArray<string>
}

/** Payers are told to name these accounts; another settler must have the keys that this one lacks. */
const warnOfForeign = (
  { Network, FacilitatorAddresses, RetiringAddresses }: PaymentNetwork,
  keys: ReadonlyArray<SettlerKey>
) => {
  const own = new Set(keys.map(({ address }) => inOneCase(Network, address)))
  const named = [...FacilitatorAddresses, ...RetiringAddresses]
  const foreign = named.filter((address) => !own.has(inOneCase(Network, address)))
  if (foreign.length === 0) return Effect.void
  return Effect.annotateLogs(
    Effect.logWarning(
      "no key of this settler belongs to some of the FacilitatorAddresses or RetiringAddresses: it cannot settle for them"
    ),
    { network: Network, addresses: foreign.join(" ") }
  )
}

export class Networks extends Context.Service<Networks, ReadonlyMap<string, SettlingNetwork>>()(
  "starling/payment-settler/Networks"
) {
  static readonly layer = Layer.effect(
    Networks,
    Effect.gen(function* () {
      const { Payments, PaymentSettler } = yield* Configuration
      const { instance } = yield* Mailbox
      const opened = [...(yield* openNetworks(Payments)).values()]
      const { keysOf } = yield* SettlerKeys
      const read = yield* Effect.forEach(opened, ({ entry, isRemote }, index) =>
        Effect.result(isRemote ? Effect.succeed([]) : keysOf(entry, index))
      )
      const faults = read.flatMap((one) => (Result.isFailure(one) ? one.failure : []))
      if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
      yield* Effect.forEach(opened, ({ entry, isRemote }, index) => {
        const own = read[index]
        const keys = own !== undefined && Result.isSuccess(own) ? own.success : []
        return isRemote ? Effect.void : warnOfForeign(entry, keys)
      })
      const pooled = yield* Effect.forEach(opened, (network, index) => {
        const own = read[index]
        const keys = own !== undefined && Result.isSuccess(own) ? own.success : []
        const pool = openSignerPool({ network, keys, holder: instance, heldMax: PaymentSettler.KeysHeldMax })
        return Effect.map(pool, (pool): readonly [string, SettlingNetwork] => [
          network.entry.Network,
          { ...network, pool, addresses: keys.map(({ address }) => address) }
        ])
      })
      return new Map(pooled)
    })
  )
}
