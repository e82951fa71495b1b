/** A rig that settles, with good payments, and changes of the token behind their back. */
import { Effect } from "effect"
import type { EvmPayment } from "../../../../../libs/x402/chains/evm/payment.ts"
import { readQuantity } from "../../../../../libs/x402/chains/evm/encoding.ts"
import { balanceOf } from "../../../../../libs/x402/chains/evm/token.ts"
import { newPayer, payment, requirementsOf } from "../../../../../dev/fixtures/evm/payments.ts"
import { checked, type Rig, startRig } from "../../../../../dev/fixtures/evm/fixture.ts"

export const amount = 25_685n

export const startSettlingRig = () => startRig({ settlerCount: 4 })

/** A test's change of the rig, which exists only when the test runs. */
export const settlingOn = (rigOf: () => Rig) => {
  const funded = async (units = amount) => {
    const payer = newPayer()
    await rigOf().run(rigOf().chain.fund(payer.address, units))
    return payer
  }
  const signedPayment = async (lastsSeconds = 600) => {
    const payer = await funded()
    const requirements = requirementsOf()
    // The chain's time is moved by tests; a payer's clock is the chain's here.
    const nowMs = Math.max(await rigOf().nowMs(), Date.now())
    const nowSeconds = Math.floor(nowMs / 1_000)
    const payload = await payment(payer, requirements, {
      nowSeconds,
      signed: { validBefore: String(nowSeconds + lastsSeconds) }
    })
    return { payer, payload, good: checked(rigOf().scheme, payload, requirements, nowMs) }
  }
  const settle = (good: EvmPayment, settler = 0) =>
    Effect.gen(function* () {
      const lease = yield* Effect.promise(() => rigOf().lease(settler))
      const prepared = yield* rigOf().scheme.prepare(good, lease)
      return yield* rigOf().scheme.broadcast(prepared, good)
    })
  const balance = async (address: string) =>
    readQuantity(await rigOf().run(rigOf().scheme.node.call(rigOf().chain.asset, balanceOf(address))))
  const send = (from: string, to: string, data: string) =>
    rigOf().run(
      Effect.andThen(
        rigOf().chain.rpc("anvil_impersonateAccount", [from]),
        Effect.andThen(
          rigOf().chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"]),
          rigOf().chain.rpc("eth_sendTransactionSync", [{ from, to, data }])
        )
      )
    ) as Promise<{ readonly transactionHash: string }>
  return { signedPayment, settle, balance, send }
}
