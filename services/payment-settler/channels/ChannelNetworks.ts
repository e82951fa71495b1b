/**
 * The networks whose payment channels are claimed here, each with its contract, the key that signs claims and refunds,
 * and the pool of keys that send them. A key that is missing, unreadable or another address's prevents the start.
 */
import { Context, Effect, Layer, Result } from "effect"
import { type ChannelConfig, isSameAddress, type PaymentChannels, type PaymentNetwork } from "#payments/contract"
import { Configuration } from "#configuration"
import { InvalidConfiguration } from "#runtime"
import {
  type CallOutcome,
  type ChainUnavailable,
  type ChannelContract,
  openChannelContract,
  type SettlerKey,
  type SettlementPending
} from "#payments"
import { Networks } from "../networks.ts"
import { SettlerKeys } from "../settler-keys.ts"
import type { SignerPool } from "../signer-pool.ts"

export interface ChannelNetwork {
  readonly name: string
  readonly terms: PaymentChannels
  readonly entry: PaymentNetwork
  readonly contract: ChannelContract
  /** Signs for a channel's receiver, and sends nothing; undefined for an authorizer whose key is not ours. */
  readonly authorizerOf: (config: Pick<ChannelConfig, "receiverAuthorizer">) => SettlerKey | undefined
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
      const { authorizersOf } = yield* SettlerKeys
      const opened: Array<readonly [string, ChannelNetwork]> = []
      for (const [index, terms] of Payments.Channels.entries()) {
        const settling = networks.get(terms.Network)
        if (settling === undefined) continue
        const authorizers = yield* Effect.mapError(
          authorizersOf(terms, index),
          (faults) => new InvalidConfiguration({ faults })
        )
        const authorizerOf: ChannelNetwork["authorizerOf"] = ({ receiverAuthorizer }) =>
          authorizers.find(({ address }) => isSameAddress(terms.Network, address, receiverAuthorizer))
        const contract = yield* openChannelContract({ network: terms.Network, rpcUrls: settling.entry.RpcUrls })
        const { entry, pool } = settling
        opened.push([terms.Network, { name: terms.Network, terms, entry, contract, authorizerOf, pool }])
      }
      return new Map(opened)
    })
  )
}

// A dead settler's keys are free three seconds later, and its orders arrive here sooner.
const keyWithin = "6 seconds"

interface Transaction<E> {
  readonly data: Uint8Array
  readonly gas: bigint
  /** Records the transaction's name before it is sent. */
  readonly noted?: (transaction: string) => Effect.Effect<void, E>
}

/** Sends a contract call with one of our keys, and awaits it. The key's lease is ended whatever happens. */
export const transact = <E = never>(
  { pool, contract }: Pick<ChannelNetwork, "pool" | "contract">,
  { noted = () => Effect.void, ...call }: Transaction<E>
): Effect.Effect<CallOutcome, SettlementPending | ChainUnavailable | E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      yield* Effect.timeoutOption(restore(pool.some.await), keyWithin)
      const signer = yield* pool.take(null)
      const preparing = Effect.tap(contract.prepare(call, signer.lease), ({ transaction }) => noted(transaction))
      const prepared = yield* Effect.onError(restore(preparing), () => signer.end("unsent"))
      const sent = yield* Effect.onInterrupt(Effect.result(restore(contract.send(prepared))), () =>
        signer.end("unknown")
      )
      if (Result.isFailure(sent)) yield* signer.end(sent.failure._tag === "ChainUnavailable" ? "unsent" : "unknown")
      else yield* signer.end("used")
      return yield* Effect.fromResult(sent)
    })
  )
