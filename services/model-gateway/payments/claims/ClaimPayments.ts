/**
 * Payment by claim, `exact` and `upto`: a payment is signed for one call, and a verifier claims it for that call. A
 * settler makes the charge. A complete answer is sent once it is paid, or as one of the unpaid answers that a payer may
 * have before the settlement is confirmed. An answer whose settlement the chain refuses is withheld.
 *
 * Under `upto` each move writes the call's charge into its claim.
 */
import { Context, Effect, Layer } from "effect"
import { type BusError, Mailbox, Requests } from "#bus"
import type { SettlementOutcome } from "#payments/contract"
import { Configuration } from "#configuration"
import { inSpan } from "#runtime"
import {
  type Claim,
  type ClaimLost,
  ClaimMove,
  Claims,
  collectByMs,
  type Quote,
  type RequestedSettlement,
  settledHeaders,
  settlementFailed,
  Settlements,
  unsettledHeaders,
  verifiedClaim
} from "#payments"
import { CallNames } from "../CallNames.ts"
import { lostHolders } from "../lost-holders.ts"
import { PaidAnswers } from "../PaidAnswers.ts"
import { PaidJobs } from "../PaidJobs.ts"
import { paymentFigures, refuse } from "../payment-figures.ts"
import {
  type ChargedAnswer,
  type ChargedPayment,
  type NotMoved,
  type OfferedPayment,
  type Payment,
  PaymentLost,
  type PaymentMethod
} from "../payment-method.ts"
import { identifierTaken, type PaymentRefusal, refusalOf, stillSettling, unavailable } from "../replies.ts"
import { answerEnding, answerUsed, type UsedPayments } from "./used-payment.ts"
import { type Asking, endsTooSoon, refuseUnverified, type Verified, verify } from "./verification.ts"

/** A payment that a verifier has claimed. */
export interface ClaimedPayment extends Payment {
  readonly quote: Quote
  readonly identifier: string | null
  /** The claim after its last move. */
  claim: Claim
}

export class ClaimPayments extends Context.Service<ClaimPayments, PaymentMethod<OfferedPayment, ClaimedPayment>>()(
  "starling/model-gateway/ClaimPayments"
) {
  static readonly layer = Layer.effect(
    ClaimPayments,
    Effect.gen(function* () {
      const settings = yield* Configuration
      const mailbox = yield* Mailbox
      const parts: Parts = {
        settings,
        claims: yield* Claims,
        jobs: yield* PaidJobs,
        answers: yield* PaidAnswers,
        figures: yield* paymentFigures,
        requests: yield* Requests,
        instance: mailbox.instance,
        isLost: lostHolders(mailbox),
        names: yield* CallNames,
        settlements: yield* Settlements,
        decimals: new Map(settings.Payments.Networks.map((entry) => [entry.Network, entry.AssetDecimals])),
        waitMs: settings.Payments.SettleWaitSeconds * 1_000
      }
      return ClaimPayments.of({
        take: (offered) => take(parts, offered),
        renew: (payment, charge) => move(parts, payment, { charge, step: ClaimMove.Renew() }),
        serve: (payment, charge) => move(parts, payment, { charge, step: ClaimMove.Serve() }),
        charge: (payment, answer) => charge(parts, payment, answer),
        release: (payment, isPayersDoing) => release(parts, payment, isPayersDoing),
        uncharged
      })
    })
  )
}

const uncharged = "The payment could not be settled; nothing was charged"

interface Parts extends Asking, UsedPayments {
  readonly settings: Pick<Configuration["Service"], "ModelGateway" | "Payments">
  readonly claims: Claims["Service"]
  readonly names: CallNames["Service"]
  readonly settlements: Settlements["Service"]
  readonly decimals: ReadonlyMap<string, number>
  readonly waitMs: number
}

const take = Effect.fnUntraced(function* (
  parts: Parts,
  offered: OfferedPayment
): Effect.fn.Return<ClaimedPayment, PaymentRefusal> {
  const tooShort = yield* endsTooSoon(parts.settings, offered)
  if (tooShort !== undefined) return yield* answerEnding(parts, offered, tooShort)
  const answer = yield* verify(parts, offered)
  switch (answer._tag) {
    case "Verified":
      return yield* claimed(parts, offered, answer)
    case "Unavailable":
      return yield* refuseUnverified(parts.figures, offered.call, answer)
    case "Refused":
      return yield* answer.code === "PAYMENT_REPLAY"
        ? answerUsed(parts, offered, answer)
        : refuse(parts.figures, offered, answer)
  }
})

const claimed = Effect.fnUntraced(function* (parts: Parts, offered: OfferedPayment, verified: Verified) {
  const { call, identifier, binding } = offered
  const { claimKey } = verified
  const { claims, jobs } = parts
  // The claim's first move shows whether it is still ours; nothing is sent before that.
  const claim = verifiedClaim(offered, verified)
  const letGo = Effect.ignore(claims.move(claim, ClaimMove.Release({ reason: "its call was not begun" })))
  const held = <A>(write: Effect.Effect<A, BusError>) =>
    write.pipe(
      Effect.mapError(() => unavailable(call.shape, "The payment could not be held; send it again", 1)),
      Effect.tapError(() => letGo)
    )
  if (identifier !== null) {
    const isOurs = yield* held(parts.names.take(verified.claim, identifier, { claimKey, binding }))
    if (!isOurs) return yield* Effect.andThen(letGo, Effect.fail(identifierTaken(call.shape)))
  }
  if (call.jobId !== undefined) {
    yield* held(jobs.put(claimKey, { jobId: call.jobId, ticket: claim.record.ticket }))
  }
  return claimedPayment(offered, claim, parts.decimals.get(claim.record.network))
})

export const claimedPayment = (
  { call, quote, identifier, requirements }: Pick<OfferedPayment, "call" | "quote" | "identifier" | "requirements">,
  claim: Claim,
  decimals = 6
): ClaimedPayment => {
  const { network, amount, validBeforeMs } = claim.record
  const scheme = requirements.scheme === "upto" ? "upto" : "exact"
  return {
    call,
    quote,
    identifier,
    scheme,
    decimals,
    ceiling: BigInt(amount),
    isMetered: scheme === "upto",
    endsAtMs: collectByMs(network, validBeforeMs),
    claim
  }
}

/** The claim with its call's figures for the receipt: what is charged, and what it has cost. */
const withFigures = (
  { claim, isMetered }: ClaimedPayment,
  { charge, cost }: Pick<ChargedAnswer, "charge" | "cost">
): Claim => ({
  ...claim,
  record: {
    ...claim.record,
    ...(cost === null ? {} : { providerCost: cost.toString() }),
    ...(isMetered ? { charge: charge.toString() } : {})
  }
})

const lost = (cause: ClaimLost) => Effect.fail(new PaymentLost({ cause, refusal: null }))

const move = (
  { claims }: Parts,
  payment: ClaimedPayment,
  { charge, step }: { readonly charge: bigint; readonly step: ClaimMove }
): Effect.Effect<void, NotMoved> =>
  claims.move(withFigures(payment, { charge, cost: null }), step).pipe(
    Effect.map((next) => {
      // A renewal and another move can end in any order.
      if (next.revision > payment.claim.revision) payment.claim = next
    }),
    Effect.catchTag("ClaimLost", lost)
  )

const release = ({ claims }: Parts, { claim }: ClaimedPayment, isPayersDoing: boolean) => {
  const step = isPayersDoing
    ? ClaimMove.Release({ reason: "its caller left", isPayersDoing })
    : ClaimMove.Release({ reason: "the call failed" })
  return claims.move(claim, step).pipe(Effect.asVoid, Effect.catchTag("ClaimLost", lost), inSpan("PaymentGate.release"))
}

const charge = Effect.fnUntraced(function* (
  parts: Parts,
  payment: ClaimedPayment,
  answer: ChargedAnswer
): Effect.fn.Return<Effect.Effect<ChargedPayment, PaymentRefusal>, NotMoved> {
  const { claim, identifier } = payment
  const { body } = answer
  const label = { identifier, binding: claim.record.binding }
  const keeping = body === null ? undefined : parts.answers.keep(claim.key, { label, body })
  const answerKept = keeping === undefined ? Effect.void : parts.figures.timed("store", keeping)
  const request = parts.settlements.request({ claim: withFigures(payment, answer), answerKept })
  const requested = yield* Effect.catchTag(request, "ClaimLost", lost)
  return inSpan("PaymentGate.outcome")(charged(parts, payment, { answer, requested }))
}, inSpan("PaymentGate.settle"))

interface Asked {
  readonly answer: ChargedAnswer
  readonly requested: RequestedSettlement
}

const charged = Effect.fnUntraced(function* (
  parts: Parts,
  payment: ClaimedPayment,
  { answer, requested }: Asked
): Effect.fn.Return<ChargedPayment, PaymentRefusal> {
  const { call, quote, isMetered, claim } = payment
  const { network, payer } = claim.record
  const found = yield* parts.figures.timed("settle", outcomeOf(parts, payment, requested))
  const outcome = found._tag === "Pending" && answer.body !== null ? yield* unpaid(parts, payment, answer) : found
  switch (outcome._tag) {
    case "Settled": {
      const amount = isMetered ? { amount: answer.charge.toString() } : {}
      const headers = settledHeaders({ transaction: outcome.transaction, network, payer, ...amount })
      return { outcome: "settled", headers }
    }
    case "Refused": {
      const { code, reason } = outcome
      yield* parts.figures.count("settlement_refused", code)
      const reply = settlementFailed(quote, call.shape, { code, reason, payer, network, transaction: null })
      return yield* Effect.fail(refusalOf(code, reply))
    }
    case "Pending":
      return { outcome: "pending", headers: unsettledHeaders("settlement_pending") }
  }
})

const pending: SettlementOutcome = { _tag: "Pending", transaction: null }
// A stream's last event waits only this long, because it carries only the receipt.
const streamWaitMsMax = 5_000

const outcomeOf = ({ waitMs }: Parts, { call }: ClaimedPayment, { outcome, close }: RequestedSettlement) =>
  outcome(call.kind === "stream" ? Math.min(waitMs, streamWaitMsMax) : waitMs).pipe(
    Effect.ensuring(close),
    Effect.tapError((error) => Effect.logWarning("an outcome could not be read", error)),
    Effect.catch(({ _tag }) =>
      _tag === "ClaimLost" ? Effect.fail(unavailable(call.shape, uncharged, 1)) : Effect.succeed(pending)
    )
  )

/**
 * Takes the payer's single place for an unpaid answer, then moves the claim once more, because a settler may have
 * abandoned it, or none may have taken it. No answer is sent for a payment that could still be released.
 */
const unpaid = ({ claims, settlements, figures }: Parts, payment: ClaimedPayment, answer: ChargedAnswer) => {
  const { shape } = payment.call
  return claims.expose(payment.claim).pipe(
    Effect.andThen(settlements.outcome(withFigures(payment, answer))),
    Effect.catch(({ _tag }) =>
      _tag === "ClaimLost"
        ? Effect.fail(unavailable(shape, uncharged, 1))
        : Effect.andThen(figures.count("pending"), Effect.fail(stillSettling(shape)))
    )
  )
}
