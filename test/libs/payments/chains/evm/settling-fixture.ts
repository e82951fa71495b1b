/** A fixture that settles, with good payments, and changes of the token behind their back. */
import { Effect } from "effect"
import type { EvmPayment } from "../../../../../libs/payments/chains/evm/payment.ts"
import { readQuantity } from "../../../../../libs/payments/chains/evm/encoding.ts"
import { balanceOf } from "../../../../../libs/payments/chains/evm/token.ts"
import { newPayer, payment, requirementsOf } from "../../../../../dev/fixtures/evm/payments.ts"
import { checked, type EvmFixture, startEvmFixture } from "../../../../../dev/fixtures/evm/fixture.ts"

export const amount = 25_685n

export const startSettlingFixture = () => startEvmFixture({ settlerCount: 4 })

/** A test's change of the fixture, which exists only when the test runs. */
export const settlingOn = (fixtureOf: () => EvmFixture) => {
  const funded = async (units = amount) => {
    const payer = newPayer()
    await fixtureOf().run(fixtureOf().chain.fund(payer.address, units))
    return payer
  }
  const signedPayment = async (lastsSeconds = 600) => {
    const payer = await funded()
    const requirements = requirementsOf()
    // The chain's time is moved by tests; a payer's clock is the chain's here.
    const nowMs = Math.max(await fixtureOf().nowMs(), Date.now())
    const nowSeconds = Math.floor(nowMs / 1_000)
    const payload = await payment(payer, requirements, {
      nowSeconds,
      signed: { validBefore: String(nowSeconds + lastsSeconds) }
    })
    return { payer, payload, good: checked(fixtureOf().scheme, payload, requirements, nowMs) }
  }
  const settle = (good: EvmPayment, settler = 0) =>
    Effect.gen(function* () {
      const lease = yield* Effect.promise(() => fixtureOf().lease(settler))
      const prepared = yield* fixtureOf().scheme.prepare(good, lease)
      return yield* fixtureOf().scheme.broadcast(prepared, good)
    })
  const balance = async (address: string) =>
    readQuantity(await fixtureOf().run(fixtureOf().scheme.node.call(fixtureOf().chain.asset, balanceOf(address))))
  const send = (from: string, to: string, data: string) =>
    fixtureOf().run(
      Effect.andThen(
        fixtureOf().chain.rpc("anvil_impersonateAccount", [from]),
        Effect.andThen(
          fixtureOf().chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"]),
          fixtureOf().chain.rpc("eth_sendTransactionSync", [{ from, to, data }])
        )
      )
    ) as Promise<{ readonly transactionHash: string }>
  return { signedPayment, settle, balance, send }
}
