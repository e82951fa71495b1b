/**
 * Payments that other x402 servers want settled: claimed here, settled by the settlers, awaited for a while. What was
 * answered as pending may be asked for again and is then told its end; anything else that comes twice is a duplicate,
 * for each answer of success is a grant somewhere.
 */
import { createHash, randomBytes } from "node:crypto"
import { Context, Deferred, Effect, Layer, Option, Result, Semaphore } from "effect"
import { type BusError, Mailbox } from "#bus"
import type { FacilitatorRequest, SettlementOutcome } from "#contracts"
import { Configuration } from "#runtime"
import { type AskFunds, type Claim, type ClaimLost, ClaimMove, Claims, keepAsking, settlementOutcomeCodec } from "#x402"
import type { Checked } from "./verifier.ts"

// Forgotten oldest first; a server asks again within seconds.
const pendingMax = 10_000

export class Settlements extends Context.Service<
  Settlements,
  { readonly settle: (request: FacilitatorRequest, checked: Checked) => Effect.Effect<SettlementOutcome> }
>()("starling/payment-verifier/Settlements") {
  static readonly layer = Layer.effect(
    Settlements,
    Effect.gen(function* () {
      const claims = yield* Claims
      const mailbox = yield* Mailbox
      const { PaymentVerifier } = yield* Configuration
      const ownScope = yield* Effect.scope
      const asksAgain = yield* Semaphore.make(asksAgainMax)
      const pending = new Set<string>()
      const waitMs = PaymentVerifier.FacilitatorSettleSeconds * 1_000

      const askAndWait = Effect.fnUntraced(function* (claim: Claim) {
        const told = yield* Deferred.make<SettlementOutcome>()
        const session = newTicket()
        yield* mailbox.open(session, (data) => {
          const outcome = settlementOutcomeCodec.decode({ data, header: () => undefined })
          if (Result.isSuccess(outcome)) Deferred.doneUnsafe(told, Effect.succeed(outcome.success))
        })
        const replyTo = { instance: mailbox.instance, session }
        const settling = yield* claims.move(claim, ClaimMove.Settle())
        // A broker that restarts: from here on the payment is asked for until it is, at last by the sweep.
        yield* Effect.catchTag(claims.ask(settling, replyTo), "BusUnavailable", () =>
          Effect.forkIn(asksAgain.withPermitsIfAvailable(1)(keepAsking(claims, settling, replyTo)), ownScope)
        )
        const outcome = yield* Effect.timeoutOption(Deferred.await(told), waitMs)
        return Option.getOrUndefined(outcome) ?? (yield* standing(claim.key))
      }, Effect.scoped)

      const standing = (claimKey: string): Effect.Effect<SettlementOutcome, BusError> =>
        Effect.map(claims.read(claimKey), (found) => outcomeOf(Option.getOrUndefined(found)))

      const again = Effect.fnUntraced(function* (claimKey: string) {
        if (!pending.has(claimKey)) return duplicate
        return yield* standing(claimKey)
      })

      const settle = Effect.fn("Settlements.settle")(function* (
        request: FacilitatorRequest,
        { payment, scheme }: Checked
      ) {
        const binding = createHash("sha256").update(JSON.stringify(request.paymentPayload.payload)).digest("hex")
        const call = { binding, kind: "whole", holder: mailbox.instance, ticket: newTicket() } as const
        const askFunds: AskFunds = (claimKeys) => scheme.funds(payment, claimKeys)
        const outcome = yield* claims.claim(payment, call, { askFunds }).pipe(
          Effect.flatMap(askAndWait),
          Effect.catchTag("ClaimRefused", (refused) =>
            refused.why === "replay"
              ? again(payment.claimKey)
              : Effect.succeed<SettlementOutcome>({ _tag: "Refused", code: refused.code, reason: refused.reason })
          ),
          // Nothing was asked for: the chain does not say what the payer holds.
          Effect.catchTag("ChainUnavailable", (error) =>
            Effect.as(Effect.logWarning("a payment could not be claimed", error), unclaimed)
          ),
          // What has been asked for stays asked for: nobody knows.
          Effect.catch((error: BusError | ClaimLost) =>
            Effect.as(Effect.logWarning("a settlement's end is not known", error), unknown)
          )
        )
        if (outcome._tag === "Pending") remember(pending, payment.claimKey)
        else pending.delete(payment.claimKey)
        return outcome
      })
      return Settlements.of({ settle })
    })
  )
}

// As many as may be asked for while a broker restarts; what is beyond is left to the sweep.
const asksAgainMax = 256

const newTicket = () => randomBytes(12).toString("base64url")

const unknown: SettlementOutcome = { _tag: "Pending", transaction: null }
const unclaimed: SettlementOutcome = { _tag: "Refused", code: "PAYMENT_INVALID", reason: "unexpected_settle_error" }
const duplicate: SettlementOutcome = { _tag: "Refused", code: "PAYMENT_REPLAY", reason: "duplicate_settlement" }

const outcomeOf = (claim: Claim | undefined): SettlementOutcome => {
  const transaction = claim?.record.transactions.at(-1) ?? null
  if (claim?.record.state === "SETTLED" && transaction !== null) return { _tag: "Settled", transaction }
  if (claim?.record.state === "UNCOLLECTED") {
    return { _tag: "Refused", code: "PAYMENT_INVALID", reason: claim.record.reason ?? "transaction_failed" }
  }
  return { _tag: "Pending", transaction }
}

const remember = (pending: Set<string>, claimKey: string) => {
  pending.add(claimKey)
  const [oldest] = pending
  if (pending.size > pendingMax && oldest !== undefined) pending.delete(oldest)
}
