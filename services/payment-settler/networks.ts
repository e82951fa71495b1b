/**
 * The chains that payments are settled on, each with the keys that this process may sign with. Keys are read from the
 * environment; a key that is missing or cannot be read stops the start, and is never shown.
 */
import { Context, Effect, Layer, Option, Redacted, Result } from "effect"
import { Mailbox } from "#bus"
import { Configuration, type ConfigurationFault, Environment, InvalidConfiguration, secretFromEnv } from "#runtime"
import { type OpenNetwork, openNetworks, type SettlerKey } from "#x402"
import { keyFaultsOf } from "./key-faults.ts"
import { type SignerPool, openSignerPool } from "./signer-pool.ts"

export interface SettlingNetwork extends OpenNetwork {
  readonly pool: SignerPool
}

const nothing = Redacted.make(new Uint8Array(0))

export class Networks extends Context.Service<Networks, ReadonlyMap<string, SettlingNetwork>>()(
  "starling/payment-settler/Networks"
) {
  static readonly layer = Layer.effect(
    Networks,
    Effect.gen(function* () {
      const { Payments, PaymentSettler } = yield* Configuration
      const { instance } = yield* Mailbox
      const opened = [...(yield* openNetworks(Payments)).values()]
      const read = yield* Effect.forEach(opened, (network, index) => Effect.result(keysOf(network, index)))
      const faults = read.flatMap((one) => (Result.isFailure(one) ? one.failure : []))
      if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
      const pooled = yield* Effect.forEach(opened, (network, index) => {
        const own = read[index]
        const keys = own !== undefined && Result.isSuccess(own) ? own.success : []
        const pool = openSignerPool({ network, keys, holder: instance, heldMax: PaymentSettler.KeysHeldMax }, nothing)
        return Effect.map(pool, (pool): readonly [string, SettlingNetwork] => [
          network.entry.Network,
          { ...network, pool }
        ])
      })
      return new Map(pooled)
    })
  )
}

/** The keys of all configured networks; every fault is reported at once. */
const keysOf = Effect.fnUntraced(function* (
  { entry, scheme, isRemote }: OpenNetwork,
  index: number
): Effect.fn.Return<ReadonlyArray<SettlerKey>, ReadonlyArray<ConfigurationFault>> {
  if (isRemote) return []
  const faults = keyFaultsOf({ ...entry }, index, yield* Environment)
  if (faults.length > 0) return yield* Effect.fail(faults)
  const secrets = yield* Effect.forEach(entry.SettlerKeyEnvVars, (variable, at) =>
    Effect.mapError(
      secretFromEnv(variable, `Payments.Networks[${index}].SettlerKeyEnvVars[${at}]`),
      (fault): ReadonlyArray<ConfigurationFault> => [fault]
    )
  )
  return secrets.flatMap((secret) => Option.toArray(Result.getSuccess(scheme.readKey(secret))))
})
