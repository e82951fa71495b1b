/**
 * Payments that other x402 servers want settled: claimed here, settled by the settlers, and awaited for a while. A
 * payment that was answered as pending can be sent again and then gets its result. Any other repetition is a duplicate,
 * because each answer of success is a grant somewhere.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option } from "effect"
import { type BusError, Mailbox } from "#bus"
import type { FacilitatorRequest, SettlementOutcome } from "#payments/contract"
import { Configuration } from "#configuration"
import {
  type ReadFunds,
  type Claim,
  type ClaimLost,
  ClaimMove,
  Claims,
  newTicket,
  outcomeOfClaim,
  Settlements
} from "#payments"
import type { Checked } from "../verifier.ts"

// The oldest is dropped first; a server asks again within seconds.
const pendingMax = 10_000

export class FacilitatorSettlements extends Context.Service<
  FacilitatorSettlements,
  { readonly settle: (request: FacilitatorRequest, checked: Checked) => Effect.Effect<SettlementOutcome> }
>()("starling/payment-verifier/FacilitatorSettlements") {
  static readonly layer = Layer.effect(
    FacilitatorSettlements,
    Effect.gen(function* () {
      const claims = yield* Claims
      const settlements = yield* Settlements
      const { instance } = yield* Mailbox
      const { PaymentVerifier } = yield* Configuration
      const pending = new Set<string>()
      const waitMs = PaymentVerifier.FacilitatorSettleSeconds * 1_000

      const requestAndWait = Effect.fnUntraced(function* (taken: Claim, charge: bigint) {
        const isFullCharge = charge === BigInt(taken.record.amount)
        const claim = isFullCharge ? taken : { ...taken, record: { ...taken.record, charge: charge.toString() } }
        // From here on the payment is never released, even if its caller leaves.
        const settling = yield* claims.move(claim, ClaimMove.Settle())
        const request = { claim: settling, answerKept: Effect.void, mayBePending: true } as const
        const { outcome, close } = yield* settlements.request(request)
        return yield* Effect.ensuring(outcome(waitMs), close)
      })

      const again = Effect.fnUntraced(function* (claimKey: string) {
        if (!pending.has(claimKey)) return duplicate
        return Option.match(yield* claims.read(claimKey), { onNone: () => unknown, onSome: outcomeOfClaim })
      })

      const settle = Effect.fn("FacilitatorSettlements.settle")(function* (
        request: FacilitatorRequest,
        { payment, scheme }: Checked
      ) {
        const binding = createHash("sha256").update(JSON.stringify(request.paymentPayload.payload)).digest("hex")
        const call = { binding, kind: "whole", holder: instance, ticket: newTicket() } as const
        const readFunds: ReadFunds = (claimKeys) => scheme.funds(payment, claimKeys)
        const outcome = yield* claims.claim(payment, call, { readFunds, isSettledFirst: true }).pipe(
          Effect.flatMap((claim) => requestAndWait(claim, payment.charge)),
          Effect.catchTag("ClaimRefused", (refused) =>
            refused.why === "replay"
              ? again(payment.claimKey)
              : Effect.succeed<SettlementOutcome>({ _tag: "Refused", code: refused.code, reason: refused.reason })
          ),
          // Nothing was requested yet: the chain does not report what the payer holds.
          Effect.catchTag("ChainUnavailable", (error) =>
            Effect.as(Effect.logWarning("a payment could not be claimed", error), unclaimed)
          ),
          // The settlement was requested and stays requested; its outcome is unknown.
          Effect.catch((error: BusError | ClaimLost) =>
            Effect.as(Effect.logWarning("a settlement's end is not known", error), unknown)
          )
        )
        if (outcome._tag === "Pending") remember(pending, payment.claimKey)
        else pending.delete(payment.claimKey)
        return outcome
      })
      return FacilitatorSettlements.of({ settle })
    })
  ).pipe(
    Layer.provide(
      Layer.unwrap(Effect.map(Configuration, ({ Payments }) => Settlements.layer(Payments.LeaseSeconds * 1_000)))
    )
  )
}

const unknown: SettlementOutcome = { _tag: "Pending", transaction: null }
const unclaimed: SettlementOutcome = { _tag: "Refused", code: "PAYMENT_INVALID", reason: "unexpected_settle_error" }
const duplicate: SettlementOutcome = { _tag: "Refused", code: "PAYMENT_REPLAY", reason: "duplicate_settlement" }

const remember = (pending: Set<string>, claimKey: string) => {
  pending.add(claimKey)
  const [oldest] = pending
  if (pending.size > pendingMax && oldest !== undefined) pending.delete(oldest)
}
