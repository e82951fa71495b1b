/** A paid gateway of a test's own whose payments can be given back, and the operators' console beside it. */
import { Effect, type Scope } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { Receipt } from "#payments/contract"
import { HttpListener } from "#http"
import { type Call, consoleOn, callerOf, type Json } from "./console.ts"
import { type ChannelFleet, withChannels } from "./channel-fleet.ts"
import { evmBalance } from "./paid-fleet.ts"
import type { Parts, PaymentFleetOptions } from "./payment-fleet.ts"

/** An account that pays refunds, with nothing on it yet. */
export const refunder = () => {
  const key = generatePrivateKey()
  return { key, address: privateKeyToAccount(key).address }
}
export type Refunder = ReturnType<typeof refunder>

/** All ways to pay, and refunds from this account. */
export const givingBack =
  ({ key, address }: Refunder) =>
  ({ chain, configuration, environment }: Parts) => {
    const { Payments } = configuration as { readonly Payments: { readonly Networks: ReadonlyArray<Json> } }
    const Networks = Payments.Networks.map((entry) => ({
      ...entry,
      Schemes: ["exact", "upto"],
      FacilitatorAddresses: chain.settlers.map((settler) => settler.address)
    }))
    const Refunds = [{ Network: chain.network, Account: address, KeyEnvVar: "TEST_REFUNDER" }]
    return {
      configuration: { ...configuration, Payments: { ...Payments, Networks, Refunds } },
      environment: { ...environment, TEST_REFUNDER: key }
    }
  }

export interface RefundFleet extends ChannelFleet {
  readonly call: Call
  readonly refunder: Refunder
  readonly balanceOf: (address: string) => Effect.Effect<bigint>
  /** The place of the payer's newest settled receipt, as the console has it. */
  readonly newestOf: (payer: string) => Effect.Effect<number>
  /** The refunds on the books. */
  readonly refunded: Effect.Effect<ReadonlyArray<Receipt>>
}

export const withRefunds = <A, E>(
  test: (fleet: RefundFleet) => Effect.Effect<A, E, Scope.Scope>,
  options: PaymentFleetOptions = {}
) => {
  const account = refunder()
  return withChannels(
    (fleet) =>
      Effect.gen(function* () {
        const { chain, server, configuration, receipts } = fleet
        const { Payments } = configuration as { readonly Payments: Json }
        return yield* Effect.gen(function* () {
          const call = yield* callerOf
          yield* HttpListener
          return yield* test({
            ...fleet,
            call,
            refunder: account,
            balanceOf: (address) => Effect.promise(() => evmBalance(chain.rpcUrl, chain.asset, address)),
            newestOf: (payer) =>
              Effect.map(call(`GET /receipts?network=${chain.network}&payer=${payer}&outcome=settled`), ({ body }) =>
                Number((body["items"] as ReadonlyArray<Json>)[0]?.["sequence"])
              ),
            refunded: Effect.map(receipts, (all) => all.filter(({ outcome }) => outcome === "refunded"))
          })
        }).pipe(Effect.provide(consoleOn(server, { Payments })))
      }),
    { ...options, configure: givingBack(account) }
  )
}
