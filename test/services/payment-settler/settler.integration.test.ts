import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Result, type Scope } from "effect"
import { StreamReader } from "#bus"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { ClaimMove, type CheckedPayment, type Claim, Claims, openEvmScheme, readPayment } from "#payments"
import { fundedKey, payWith, signFor } from "../../support/attacker.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { chat } from "../../support/gateway.ts"
import { busOf } from "../../../dev/fixtures/payment-bus.ts"
import { balanced, type PaymentFleet, withPayments } from "../../support/payment-fleet.ts"
import { testCall } from "../../support/payments.ts"
import { type SignerKind, signerKinds } from "../../support/settler-signers.ts"
import { creditOf } from "../../../dev/fixtures/payment-accounts.ts"

const body = chat("hello")

/** Signed by a payer with money, and checked as a verifier checks it. */
const checkedOn = Effect.fnUntraced(function* (fleet: PaymentFleet) {
  const { chain } = fleet
  const header = yield* signFor(fleet, body, yield* fundedKey(fleet))
  const payload = Result.getOrThrow(readPayment({ "payment-signature": [header], "x-payment": [] }))
  if (payload === null) throw new Error("no payment")
  const options = { network: chain.network, asset: chain.asset, payTo: "", rpcUrls: [chain.rpcUrl] }
  const scheme = yield* openEvmScheme(options)
  return Result.getOrThrow(scheme.check(payload, payload.accepted, yield* Clock.currentTimeMillis)) as CheckedPayment
})

/** As a gateway that has requested a settlement before any settler exists. */
const asked = <A, E>(
  signer: SignerKind,
  test: (fleet: PaymentFleet, checked: CheckedPayment) => Effect.Effect<A, E, Claims | StreamReader | Scope.Scope>
) =>
  withPayments(
    (fleet) =>
      Effect.gen(function* () {
        const claims = Claims.layer({ credit: creditOf(1), keptMs: 86_400_000 })
        const parts = Layer.mergeAll(claims, ConfiguredHttp.layer).pipe(
          Layer.provideMerge(Layer.succeedContext(yield* busOf(fleet.server))),
          Layer.provideMerge(Metrics.layerTest)
        )
        return yield* Effect.provide(
          Effect.flatMap(checkedOn(fleet), (checked) => test(fleet, checked)),
          parts
        )
      }),
    { roles: ["payment-verifier", "model-gateway"], signer }
  )

/** As a job from another gateway would be. */
const withOtherSignature = (claim: Claim): Claim => {
  const { payment } = claim.record
  if (payment === null) throw new Error("a claim that has ended")
  const signed = payment.payload.payload as { readonly signature: string }
  const signature = `0x${signed.signature.slice(4, 66)}${signed.signature.slice(2, 4)}${signed.signature.slice(66)}`
  const payload = { ...payment.payload, payload: { ...signed, signature } }
  return { ...claim, record: { ...claim.record, payment: { ...payment, payload } } }
}

const noJobs = Effect.gen(function* () {
  const { messages } = yield* (yield* StreamReader).bounds("SETTLEMENTS")
  return messages === 0
})

describe.each(signerKinds)(
  "a requested payment whose claim is still the gateway's, of a settler whose key is in: %s",
  (signer) => {
    it.live("becomes SETTLING and is settled by the settler that takes the job", () =>
      asked(signer, (fleet, checked) =>
        Effect.gen(function* () {
          const claims = yield* Claims
          const claim = yield* claims.claim(checked, testCall())
          yield* claims.requestSettlement(claim, null)
          assert.deepStrictEqual(yield* fleet.claimStates, ["CLAIMED"])
          yield* fleet.start("payment-settler")
          assert.strictEqual(yield* balanced(fleet), 1)
        })
      )
    )

    it.live("is settled even when its claim was renewed meanwhile", () =>
      asked(signer, (fleet, checked) =>
        Effect.gen(function* () {
          const claims = yield* Claims
          const claim = yield* claims.claim(checked, testCall())
          yield* claims.requestSettlement(claim, null)
          yield* claims.move(claim, ClaimMove.Renew())
          yield* fleet.start("payment-settler")
          assert.strictEqual(yield* balanced(fleet), 1)
        })
      )
    )

    it.live("is not settled when its claim was released before a settler came, nor when another call has it", () =>
      asked(signer, (fleet, checked) =>
        Effect.gen(function* () {
          const claims = yield* Claims
          const claim = yield* claims.claim(checked, testCall())
          yield* claims.requestSettlement(claim, null)
          yield* claims.move(claim, ClaimMove.Release({ reason: "lease ended" }))
          const other = yield* claims.claim(checked, testCall())
          yield* fleet.start("payment-settler")
          yield* eventually(noJobs)
          assert.deepStrictEqual(yield* fleet.transfers, [])
          assert.deepStrictEqual(yield* fleet.receipts, [])
          assert.deepStrictEqual(yield* fleet.claimStates, ["CLAIMED"])
          yield* claims.requestSettlement(other, null)
          assert.strictEqual(yield* balanced(fleet), 1)
        })
      )
    )
  }
)

describe.each(signerKinds)("a job with a forged signature, of a settler whose key is in: %s", (signer) => {
  it.live("reaches no chain as a transaction: the check comes first", () =>
    asked(signer, (fleet, checked) =>
      Effect.gen(function* () {
        const claims = yield* Claims
        const claim = yield* claims.claim(checked, testCall())
        yield* claims.requestSettlement(withOtherSignature(claim), null)
        const block = fleet.chain.rpc("eth_blockNumber", [])
        const before = yield* block
        yield* fleet.start("payment-settler")
        yield* eventually(noJobs)
        assert.deepStrictEqual(yield* fleet.transfers, [])
        assert.deepStrictEqual(
          (yield* fleet.receipts).map(({ outcome, reason }) => ({ outcome, reason })),
          [{ outcome: "uncollected", reason: "invalid_exact_evm_signature" }]
        )
        // One is made for each transaction.
        assert.strictEqual(yield* block, before)
      })
    )
  )
})

describe.each(signerKinds)("a gateway without a settler, whose key will be in: %s", (signer) => {
  it.live("makes the payment SETTLING itself before it delivers an answer ahead of it", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const response = yield* payWith(fleet, body, yield* signFor(fleet, body, yield* fundedKey(fleet)))
          assert.deepStrictEqual([response.status, response.headers.get("x-payment-settled")], [200, "false"])
          assert.deepStrictEqual(yield* fleet.claimStates, ["SETTLING"])
          yield* fleet.start("payment-settler")
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      { roles: ["payment-verifier", "model-gateway"], payments: { SettleWaitSeconds: 0.5 }, signer }
    )
  )
})
