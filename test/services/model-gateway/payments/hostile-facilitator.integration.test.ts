import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { LocalChain } from "../../../../dev/chain/evm/LocalEvmChain.ts"
import { fundedKey, payWith, signFor } from "../../../support/attacker.ts"
import { chat, eventsOf, type GatewayAnswer } from "../../../support/gateway.ts"
import {
  type Behaviour,
  honest,
  type HostileFacilitator,
  type Saying,
  startHostileFacilitator,
  valid
} from "../../../support/hostile-facilitator.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"

/** The gateway, with a remote facilitator that may do its worst. */
const withFacilitator = <A, E>(
  test: (fleet: PaymentFleet, facilitator: HostileFacilitator) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function* () {
    const chain: { current?: LocalChain } = {}
    const facilitator = yield* startHostileFacilitator(chain)
    return yield* withPayments(
      (fleet) => {
        chain.current = fleet.chain
        return test(fleet, facilitator)
      },
      {
        network: { FacilitatorUrl: facilitator.url, SettlerKeyEnvVars: [] },
        payments: { FacilitatorTimeoutSeconds: 0.5, SettleWaitSeconds: 1, UnpaidNewcomerUsd: 0, UnpaidPayerMaxUsd: 0 },
        verifier: { DeadlineSeconds: 2 }
      }
    )
  }).pipe(Effect.scoped)

const isAnswered = ({ body }: GatewayAnswer) => body["choices"] !== undefined
const streamed = ({ text }: GatewayAnswer) => eventsOf(text).data.some((data) => data.includes('"content":"hello"'))

const silentAfterSettling: ReadonlyArray<readonly [string, (payer: string, transaction: string) => Saying]> = [
  ["answers nothing", () => "nothing"],
  ["closes the connection", () => "closes"],
  ["answers 500", () => ({ status: 500, body: { error: "oh" } })],
  ["answers 502 with a page", () => ({ status: 502, body: "<html>bad gateway</html>" })],
  ["answers 200 with something else", () => ({ status: 200, body: { fine: true } })],
  [
    "says that it is pending",
    (payer, transaction) => ({
      status: 200,
      body: { success: false, errorReason: "settlement_pending", transaction, network: "eip155:84532", payer }
    })
  ],
  [
    "says 402 although the money has moved",
    (payer, transaction) => ({
      status: 402,
      body: { success: false, errorReason: "unexpected_settle_error", transaction, network: "eip155:84532", payer }
    })
  ]
]

describe("failure 7: a settlement with an unknown outcome", () => {
  it.live("the facilitator hides a transfer that was made: the answer is delivered, and no second payment is due", () =>
    withFacilitator((fleet, facilitator) =>
      Effect.gen(function* () {
        const body = chat("hello")
        for (const [how, settle] of silentAfterSettling) {
          facilitator.behaviour = { ...honest, settle }
          const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
          const said = yield* payWith(fleet, body, payment)
          assert.strictEqual(said.status, 200, `${how}: ${said.text}`)
          assert.isTrue(isAnswered(said), how)
          const isSettled = /^0x[0-9a-f]{64}$/u.test(said.headers.get("x-payment-receipt") ?? "")
          assert.isTrue(isSettled || said.headers.get("x-payment-settled") === "false", how)
          const again = yield* payWith(fleet, body, payment)
          assert.deepStrictEqual([again.status, again.body["code"]], [402, "PAYMENT_REPLAY"], how)
        }
        // It stays silent: the payment is found on the chain.
        assert.strictEqual(yield* balanced(fleet), silentAfterSettling.length)
      })
    )
  )

  it.live("the facilitator falls silent after a stream's transfer: one payment is recorded", () =>
    withFacilitator((fleet, facilitator) =>
      Effect.gen(function* () {
        facilitator.behaviour = { ...honest, settle: () => "closes" }
        const body = chat("hello", { stream: true })
        const said = yield* payWith(fleet, body, yield* signFor(fleet, body, yield* fundedKey(fleet)))
        assert.isTrue(streamed(said))
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )
})

const verifyOutages: ReadonlyArray<readonly [string, Behaviour["verify"]]> = [
  ["answers nothing", () => "nothing"],
  ["closes the connection", () => "closes"],
  ["answers 500", () => ({ status: 500, body: { isValid: true } })],
  ["answers 429", () => ({ status: 429, body: {} })],
  ["answers with a page", () => ({ status: 200, body: "<html></html>" })],
  ["says 503 and that all is well", (payer) => ({ status: 503, body: { isValid: true, payer } })],
  [
    "says that it failed itself",
    () => ({ status: 200, body: { isValid: false, invalidReason: "unexpected_verify_error" } })
  ]
]

describe("failure 9: no verifier answers", () => {
  it.live("the facilitator is silent, failing or lying: 503, no model call, and the payment is good afterwards", () =>
    withFacilitator((fleet, facilitator) =>
      Effect.gen(function* () {
        const key = yield* fundedKey(fleet)
        const bodies = [chat("hello"), chat("hello", { stream: true })]
        const payments = yield* Effect.forEach(bodies, (body) => signFor(fleet, body, key))
        for (const [how, verify] of verifyOutages) {
          facilitator.behaviour = { ...honest, verify }
          for (const [index, body] of bodies.entries()) {
            const said = yield* payWith(fleet, body, payments[index] ?? "")
            assert.deepStrictEqual([said.status, said.body["code"]], [503, "PAYMENT_VERIFICATION_UNAVAILABLE"], how)
            assert.isTrue(said.headers.has("retry-after"), how)
          }
          assert.deepStrictEqual(yield* fleet.claimStates, ["RELEASED", "RELEASED"], how)
        }
        assert.strictEqual(fleet.upstream.calls.length, 0)
        facilitator.behaviour = honest
        for (const [index, body] of bodies.entries()) {
          const said = yield* payWith(fleet, body, payments[index] ?? "")
          assert.strictEqual(said.status, 200, said.text)
          // The payer may have one call unpaid.
          assert.strictEqual(yield* balanced(fleet), index + 1)
        }
      })
    )
  )

  it.live("the facilitator refuses: 402 with its reason, and no model call", () =>
    withFacilitator((fleet, facilitator) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const verify = () => ({ status: 200, body: { isValid: false, invalidReason: "insufficient_funds" } })
        facilitator.behaviour = { ...honest, verify }
        const said = yield* payWith(fleet, body, yield* signFor(fleet, body, yield* fundedKey(fleet)))
        assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_UNFUNDED"])
        assert.include(String(said.body["debug"]), "insufficient_funds")
        assert.strictEqual(fleet.upstream.calls.length, 0)
      })
    )
  )
})

const emptySuccesses: ReadonlyArray<readonly [string, (payer: string) => Saying]> = [
  [
    "success without a transaction",
    (payer) => ({ status: 200, body: { success: true, transaction: "", network: "eip155:84532", payer } })
  ],
  [
    "success with an invented transaction",
    (payer) => ({
      status: 200,
      body: { success: true, transaction: `0x${"12".repeat(32)}`, network: "eip155:84532", payer }
    })
  ],
  [
    "success on another chain",
    (payer) => ({
      status: 200,
      body: { success: true, transaction: `0x${"12".repeat(32)}`, network: "eip155:8453", payer }
    })
  ],
  [
    "success with a status of failure",
    (payer) => ({
      status: 500,
      body: { success: true, transaction: `0x${"12".repeat(32)}`, network: "eip155:84532", payer }
    })
  ]
]

describe("failure 11: a false success", () => {
  it.live("the facilitator reports success without a transfer: no receipt, and at most one answer to a payer", () =>
    withFacilitator((fleet, facilitator) =>
      Effect.gen(function* () {
        const body = chat("hello")
        for (const [how, settle] of emptySuccesses) {
          facilitator.behaviour = { verify: valid, settles: false, settle }
          const key = yield* fundedKey(fleet)
          const payments = yield* Effect.forEach([1, 2, 3], () => signFor(fleet, body, key))
          const said = yield* Effect.forEach(payments, (payment) => payWith(fleet, body, payment), { concurrency: 3 })
          assert.isAtMost(said.filter(isAnswered).length, 1, how)
          for (const one of said) {
            assert.notStrictEqual(one.status, 402, how)
            assert.isFalse(one.headers.has("x-payment-receipt"), how)
          }
          const later = yield* payWith(fleet, body, yield* signFor(fleet, body, key))
          assert.isFalse(isAnswered(later), how)
        }
        assert.deepStrictEqual(yield* fleet.receipts, [])
        assert.deepStrictEqual(yield* fleet.transfers, [])
        // The requested settlement happens as soon as a settler can.
        facilitator.behaviour = honest
        assert.isAtLeast(yield* balanced(fleet), emptySuccesses.length)
      })
    )
  )

  it.live("the facilitator says 200 and success: false: 402, no answer, no transfer", () =>
    withFacilitator((fleet, facilitator) =>
      Effect.gen(function* () {
        const refusal = { success: false, errorReason: "insufficient_funds", transaction: "", network: "eip155:84532" }
        facilitator.behaviour = { verify: valid, settles: false, settle: () => ({ status: 200, body: refusal }) }
        const body = chat("hello")
        const said = yield* payWith(fleet, body, yield* signFor(fleet, body, yield* fundedKey(fleet)))
        assert.deepStrictEqual([said.status, said.body["error"]], [402, "Payment settlement failed"])
        assert.isFalse(isAnswered(said))
        const response = Buffer.from(said.headers.get("payment-response") ?? "", "base64").toString("utf8")
        assert.include(response, '"success":false')
        assert.deepStrictEqual(yield* fleet.transfers, [])
      })
    )
  )
})
