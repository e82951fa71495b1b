/**
 * The networks whose payment channels are claimed here, each with its contract, the key that signs claims and refunds,
 * and the pool of keys that send them. A key that is missing, cannot be read or is another's stops the start.
 */
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { isSameAddress, type PaymentChannels, type PaymentNetwork } from "#contracts"
import { Configuration, InvalidConfiguration, secretFromEnv } from "#runtime"
import {
  type CallOutcome,
  type ChainUnavailable,
  type ChannelContract,
  openChannelContract,
  readEvmKey,
  type SettlerKey,
  type SettlementPending
} from "#x402"
import { Networks } from "../networks.ts"
import type { SignerPool } from "../signer-pool.ts"

export interface ChannelNetwork {
  readonly name: string
  readonly terms: PaymentChannels
  readonly entry: PaymentNetwork
  readonly contract: ChannelContract
  /** Signs for the receiver, and sends nothing. */
  readonly authorizer: SettlerKey
  readonly pool: SignerPool
}

/** Keyed by the network's name. */
export class ChannelNetworks extends Context.Service<ChannelNetworks, ReadonlyMap<string, ChannelNetwork>>()(
  "starling/payment-settler/ChannelNetworks"
) {
  static readonly layer = Layer.effect(
    ChannelNetworks,
    Effect.gen(function* () {
      const { Payments } = yield* Configuration
      const networks = yield* Networks
      const opened: Array<readonly [string, ChannelNetwork]> = []
      for (const [index, terms] of Payments.Channels.entries()) {
        const settling = networks.get(terms.Network)
        if (settling === undefined) continue
        const authorizer = yield* authorizerOf(terms, `Payments.Channels[${index}].AuthorizerKeyEnvVar`)
        const contract = yield* openChannelContract({ network: terms.Network, rpcUrls: settling.entry.RpcUrls })
        const { entry, pool } = settling
        opened.push([terms.Network, { name: terms.Network, terms, entry, contract, authorizer, pool }])
      }
      return new Map(opened)
    })
  )
}

const authorizerOf = Effect.fnUntraced(function* (
  { Network, ReceiverAuthorizer, AuthorizerKeyEnvVar }: PaymentChannels,
  path: string
) {
  const fault = (message: string) => new InvalidConfiguration({ faults: [{ path, message }] })
  const secret = yield* Effect.mapError(secretFromEnv(AuthorizerKeyEnvVar, path), ({ message }) => fault(message))
  const key = readEvmKey(Network, secret)
  if (Result.isFailure(key)) return yield* fault(`${AuthorizerKeyEnvVar}: ${key.failure}`)
  if (!isSameAddress(Network, key.success.address, ReceiverAuthorizer)) {
    return yield* fault(`${AuthorizerKeyEnvVar} is the key of ${key.success.address}, not of ${ReceiverAuthorizer}`)
  }
  return key.success
})

/** Sends a call of the contract by one of our keys, and awaits it. The lease of the key is ended whatever comes. */
export const transact = (
  { pool, contract }: Pick<ChannelNetwork, "pool" | "contract">,
  call: { readonly data: Uint8Array; readonly gas: bigint }
): Effect.Effect<CallOutcome, SettlementPending | ChainUnavailable> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const signer = yield* pool.take(null)
      const sent = yield* Effect.onInterrupt(Effect.result(restore(contract.send(call, signer.lease))), () =>
        signer.end("unknown")
      )
      if (Result.isFailure(sent)) yield* signer.end(sent.failure._tag === "ChainUnavailable" ? "unsent" : "unknown")
      else yield* signer.end("used")
      return yield* Effect.fromResult(sent)
    })
  )

/** The receiver's signature of a digest, as the contract takes it. */
export const signedBy = (
  { secret }: SettlerKey,
  digest: Uint8Array,
  sign: (digest: Uint8Array, key: Uint8Array) => Buffer
) => sign(digest, Redacted.value(secret))
