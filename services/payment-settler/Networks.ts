/**
 * The chains that payments are settled on, each with the keys that this process may sign with. Keys are read from the
 * environment; a key that is missing or cannot be read stops the start, and is never shown.
 */
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { Mailbox } from "#bus"
import type { PaymentNetwork } from "#contracts"
import { Configuration, type ConfigurationFault, InvalidConfiguration, secretFromEnv } from "#runtime"
import { type OpenNetwork, openNetworks, type SettlerKey } from "#x402"
import { type KeyRing, openKeyRing } from "./KeyRing.ts"

export interface SettlingNetwork extends OpenNetwork {
  readonly ring: KeyRing
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
      const faults = read.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
      if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
      const ringed = yield* Effect.forEach(opened, (network, index) => {
        const own = read[index]
        const keys = own !== undefined && Result.isSuccess(own) ? own.success : []
        const ring = openKeyRing({ network, keys, holder: instance, heldMax: PaymentSettler.KeysHeldMax }, nothing)
        return Effect.map(ring, (ring): readonly [string, SettlingNetwork] => [
          network.entry.Network,
          { ...network, ring }
        ])
      })
      return new Map(ringed)
    })
  )
}

const pathOf = (index: number, key: string) => `Payments.Networks[${index}].${key}`

const keysOf = Effect.fnUntraced(function* (
  { entry, scheme, isRemote }: OpenNetwork,
  index: number
): Effect.fn.Return<ReadonlyArray<SettlerKey>, ConfigurationFault> {
  if (isRemote) return []
  if (entry.SettlerKeyEnvVars.length === 0) {
    return yield* Effect.fail({ path: pathOf(index, "SettlerKeyEnvVars"), message: "names no key to settle with" })
  }
  const keys = yield* Effect.forEach(entry.SettlerKeyEnvVars, (variable, at) =>
    Effect.flatMap(secretFromEnv(variable, pathOf(index, `SettlerKeyEnvVars[${at}]`)), (secret) => {
      const key = scheme.readKey(secret)
      if (Result.isSuccess(key)) return Effect.succeed(key.success)
      return Effect.fail({ path: pathOf(index, `SettlerKeyEnvVars[${at}]`), message: `${variable}: ${key.failure}` })
    })
  )
  const fault = feePayerFault(entry, keys)
  if (fault !== undefined) return yield* Effect.fail({ path: pathOf(index, "FeePayer"), message: fault })
  return keys
})

const feePayerFault = ({ Network, FeePayer }: PaymentNetwork, keys: ReadonlyArray<SettlerKey>) =>
  Network.startsWith("solana:") && !keys.some(({ address }) => address === FeePayer)
    ? `no key of SettlerKeyEnvVars is that of ${FeePayer}`
    : undefined
