/**
 * What a paid call does with its claim. The claim is renewed as long as the call lasts. It is released before a failure
 * is reported, or settled once the answer is made. A stream whose payment would end before the stream does is settled
 * while it goes on.
 *
 * A whole answer goes out once it is paid, or as one of the unpaid answers that a payer may have before the settlement
 * is confirmed. An answer whose settlement the chain refuses is not given out. `paid-call.ts` says when each of this
 * happens.
 *
 * Where the charge follows the use, it is written into the claim with each of its moves, from the first byte on: if this
 * gateway dies, what it has last written is charged.
 */
import { Clock, Context, Effect, Fiber, Layer, Schedule, type Scope } from "effect"
import type { BusError } from "#bus"
import type { SettlementOutcome } from "#payments/contract"
import { Configuration } from "#configuration"
import { Metrics, timed } from "#runtime"
import {
  atomicAmount,
  chargeOf,
  type Claim,
  ClaimMove,
  Claims,
  collectByMs,
  type NotCommitted,
  type Quote,
  type RequestedSettlement,
  settledHeaders,
  settlementFailed,
  Settlements,
  type Tariff,
  tariffOf,
  unsettledHeaders
} from "#payments"
import { PaidAnswers } from "./kept-calls.ts"
import { charged, type PaymentOutcome, paymentOutcomes, paymentSeconds, signedAndCharged } from "../metrics.ts"
import { heldTo, leastPrice, nothingUsed, type Used, usedPrice } from "./charge.ts"
import { type CallTasks, type EndedAnswer, NotAsked, openCall, type PaidCall, type SettledCall } from "./paid-call.ts"
import type { PayableCall } from "./quote.ts"
import { type PaymentRefusal, refusalOf, stillSettling, unavailable } from "./replies.ts"

/** A call whose payment a verifier has claimed for it. */
export interface VerifiedCall {
  readonly call: PayableCall
  readonly quote: Quote
  readonly claim: Claim
  readonly identifier: string | null
}

export class PaidCalls extends Context.Service<
  PaidCalls,
  { readonly open: (verified: VerifiedCall) => Effect.Effect<PaidCall> }
>()("starling/model-gateway/PaidCalls") {
  static readonly layer = Layer.effect(
    PaidCalls,
    Effect.gen(function* () {
      const { Payments } = yield* Configuration
      const metrics = yield* Metrics
      const counter = metrics.counter(paymentOutcomes)
      const seconds = metrics.histogram(paymentSeconds)
      const revenue = metrics.counter(charged)
      const bySchemes = metrics.counter(signedAndCharged)
      const decimals = new Map(Payments.Networks.map((entry) => [entry.Network, entry.AssetDecimals]))
      const decimalsOf = ({ record }: Claim) => decimals.get(record.network) ?? 6
      const parts: Parts = {
        claims: yield* Claims,
        answers: yield* PaidAnswers,
        settlements: yield* Settlements,
        scope: yield* Effect.scope,
        renewEveryMs: (Payments.LeaseSeconds * 1_000) / 3,
        waitMs: Payments.SettleWaitSeconds * 1_000,
        count: (outcome, code = "") => Effect.sync(() => counter.inc({ outcome, code })),
        earned: ({ call, claim }, outcome) =>
          Effect.sync(() => {
            const usdOf = (units: bigint) => Number(units) / 10 ** decimalsOf(claim)
            const [signed, paid] = [usdOf(BigInt(claim.record.amount)), usdOf(chargeOf(claim.record))]
            const scheme = claim.record.payment?.requirements.scheme ?? "exact"
            revenue.inc({ model: call.model, outcome }, paid)
            bySchemes.inc({ scheme, part: "signed" }, signed)
            bySchemes.inc({ scheme, part: "charged" }, paid)
          }),
        tariff: tariffOf(Payments),
        unitsOf: (microUsd, claim) => atomicAmount(microUsd, decimalsOf(claim)),
        timed: (stage, work) => timed((took) => seconds.observe({ stage }, took), work)
      }
      return PaidCalls.of({ open: (verified) => open(parts, verified) })
    })
  )
}

interface Parts {
  readonly claims: Claims["Service"]
  readonly answers: PaidAnswers["Service"]
  readonly settlements: Settlements["Service"]
  readonly scope: Scope.Scope
  readonly renewEveryMs: number
  readonly waitMs: number
  readonly count: (outcome: PaymentOutcome, code?: string) => Effect.Effect<void>
  /** Counts the price of a call that was answered. */
  readonly earned: (call: Pick<VerifiedCall, "call" | "claim">, outcome: "settled" | "pending") => Effect.Effect<void>
  /** Dollars in the smallest unit of a claim's asset. */
  readonly unitsOf: (microUsd: bigint, claim: Claim) => bigint
  readonly tariff: Tariff
  readonly timed: <A, E>(stage: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/** The claim of a call that is going on. */
interface Hold extends VerifiedCall {
  /** The claim after its last move. */
  claim: Claim
  /** Keeps the answer before the payment is asked for; does nothing for a stream. */
  answerKept: Effect.Effect<void, BusError>
  /** What the provider took, once the answer is whole; in the units of the amount. */
  providerCost?: string
  /** What is charged for all that was given out; only where the charge follows the use. */
  charge?: bigint
  /** Nothing more may be given out: the settlement is requested, with the charge as it was. */
  isClosed: boolean
  /** Runs once, for the first caller; the others share its result. */
  readonly requested: Effect.Effect<RequestedSettlement, NotCommitted>
  renewing?: Fiber.Fiber<void>
  forcing?: Fiber.Fiber<void>
}

const open = Effect.fnUntraced(function* (parts: Parts, verified: VerifiedCall): Effect.fn.Return<PaidCall> {
  const { network, validBeforeMs } = verified.claim.record
  const leftMs = Math.max(0, collectByMs(network, validBeforeMs) - (yield* Clock.currentTimeMillis))
  const hold: Hold = {
    ...verified,
    ...(isMetered(verified) ? { charge: chargeFor(parts, verified, nothingUsed) } : {}),
    isClosed: false,
    answerKept: Effect.void,
    requested: yield* Effect.cached(
      Effect.suspend(() => parts.settlements.request({ claim: withFigures(hold), answerKept: hold.answerKept }))
    )
  }
  const call = openCall(tasksOf(parts, hold), leftMs)
  hold.renewing = yield* Effect.forkIn(renew(parts, hold), parts.scope)
  if (verified.call.kind === "stream") {
    hold.forcing = yield* Effect.forkIn(Effect.delay(call.force, leftMs), parts.scope)
  }
  return call
})

const tasksOf = (parts: Parts, hold: Hold): CallTasks => ({
  serve: serve(parts, hold),
  force: force(parts, hold),
  release: release(parts, hold, ClaimMove.Release({ reason: "the call failed" })),
  abandon: release(parts, hold, ClaimMove.Release({ reason: "its caller left", isPayersDoing: true })),
  keep: Effect.andThen(stop(parts, hold), Effect.logWarning("a stream that failed was settled before it did")),
  measure: (used) => measure(parts, hold, used),
  settle: (answer) => settle(parts, hold, answer)
})

/** Whether the charge follows the use. */
const isMetered = ({ claim }: Pick<VerifiedCall, "claim">) => claim.record.payment?.requirements.scheme === "upto"

const chargeFor = ({ tariff, unitsOf }: Parts, { call, claim }: VerifiedCall, used: Used) =>
  heldTo(unitsOf(usedPrice(tariff, call, used), claim), BigInt(claim.record.amount))

const measure = (parts: Parts, hold: Hold, used: Used): boolean => {
  if (!isMetered(hold)) return true
  const { call, claim } = hold
  const least = parts.unitsOf(leastPrice(parts.tariff, call, used), claim)
  if (hold.isClosed || least > BigInt(claim.record.amount)) return false
  hold.charge = chargeFor(parts, hold, used)
  return true
}

/** The claim with the figures of its call, which go along to the receipt: what is charged, and what it has cost. */
const withFigures = ({ claim, providerCost, charge }: Hold): Claim => ({
  ...claim,
  record: {
    ...claim.record,
    ...(providerCost === undefined ? {} : { providerCost }),
    ...(charge === undefined ? {} : { charge: charge.toString() })
  }
})

/** Tolerates a renewal and another move that end in any order. */
const advance = (hold: Hold, next: Claim) =>
  Effect.sync(() => {
    if (next.revision > hold.claim.revision) hold.claim = next
  })

/** Renews until the claim is lost to another mover. */
const renew = ({ claims, renewEveryMs }: Parts, hold: Hold): Effect.Effect<never> =>
  Effect.suspend(() => claims.move(withFigures(hold), ClaimMove.Renew())).pipe(
    Effect.tap((next) => advance(hold, next)),
    Effect.catchTag("ClaimLost", (error) =>
      Effect.andThen(Effect.logWarning("a claim was lost", error), Effect.interrupt)
    ),
    Effect.catch((error) => Effect.logWarning("a claim could not be renewed", error)),
    Effect.delay(renewEveryMs),
    Effect.forever
  )

/** Ends the background work of the call. */
const stop = ({ scope }: Parts, { renewing, forcing }: Hold) => {
  const background = [renewing, forcing].filter((fiber) => fiber !== undefined)
  return Effect.forEach(background, (fiber) => Effect.forkIn(Fiber.interrupt(fiber), scope), { discard: true })
}

const serve = ({ claims }: Parts, hold: Hold): Effect.Effect<void, PaymentRefusal> =>
  Effect.suspend(() => claims.move(withFigures(hold), ClaimMove.Serve())).pipe(
    Effect.flatMap((next) => advance(hold, next)),
    Effect.tapError((error) => Effect.logWarning("a stream cannot be begun", error)),
    Effect.mapError(() => unavailable(hold.call.shape, "The payment could not be held", 1))
  )

const force = Effect.fnUntraced(
  function* ({ count }: Parts, hold: Hold) {
    if (hold.renewing !== undefined) yield* Fiber.interrupt(hold.renewing)
    hold.isClosed = true
    yield* count("forced")
    yield* hold.requested
  },
  Effect.catch((error) => Effect.logError("a stream could not be settled before its payment ends", error))
)

// A broker that is away for a moment must not cost a payer the payment. The sweep releases what these tries do not.
const releaseTries = { times: 3, schedule: Schedule.spaced("200 millis") }

const release = Effect.fn("PaymentGate.release")(function* (parts: Parts, hold: Hold, move: ClaimMove) {
  yield* stop(parts, hold)
  yield* parts.count("released")
  yield* parts.claims.move(hold.claim, move).pipe(
    Effect.retry({ ...releaseTries, while: ({ _tag }) => _tag === "BusUnavailable" }),
    Effect.catch((error) => Effect.logWarning("a payment is let go when its lease ends", error))
  )
})

const settle = Effect.fn("PaymentGate.settle")(function* (
  parts: Parts,
  hold: Hold,
  { body, costMicroUsd, used }: EndedAnswer
): Effect.fn.Return<SettledCall, PaymentRefusal | NotAsked> {
  const { claim, identifier } = hold
  const label = { identifier, binding: claim.record.binding }
  if (body !== null) hold.answerKept = parts.timed("store", parts.answers.keep(claim.key, { label, body }))
  if (costMicroUsd !== null) hold.providerCost = parts.unitsOf(costMicroUsd, claim).toString()
  if (used !== null && isMetered(hold) && !hold.isClosed) hold.charge = chargeFor(parts, hold, used)
  hold.isClosed = true
  const requested = yield* hold.requested.pipe(
    Effect.tapError((error) => Effect.logWarning("a payment could not be asked for", error)),
    Effect.mapError(() => new NotAsked({ refusal: unasked(hold) }))
  )
  yield* stop(parts, hold)
  const outcome = yield* parts.timed("settle", outcomeOf(parts, hold, requested))
  return yield* outcome._tag === "Pending" && body !== null ? unpaid(parts, hold) : answered(parts, hold, outcome)
})

const unasked = ({ call }: Hold) => unavailable(call.shape, "The payment could not be settled; nothing was charged", 1)

const pending: SettlementOutcome = { _tag: "Pending", transaction: null }
// A stream's last event waits only this long, for it carries no more than the receipt.
const streamWaitMsMax = 5_000

const outcomeOf = ({ waitMs }: Parts, hold: Hold, { outcome, close }: RequestedSettlement) =>
  outcome(hold.call.kind === "stream" ? Math.min(waitMs, streamWaitMsMax) : waitMs).pipe(
    Effect.ensuring(close),
    Effect.tapError((error) => Effect.logWarning("an outcome could not be read", error)),
    Effect.catch(({ _tag }: NotCommitted) =>
      _tag === "ClaimLost" ? Effect.fail(unasked(hold)) : Effect.succeed(pending)
    )
  )

/**
 * Takes the payer's one place for an unpaid answer, then moves the claim once more, for a settler may have given it up,
 * or none may have taken it. No answer goes out for a payment that could still be released.
 */
const unpaid = (parts: Parts, hold: Hold) =>
  parts.claims.expose(hold.claim).pipe(
    Effect.andThen(parts.settlements.standing(withFigures(hold))),
    Effect.catch(({ _tag }) =>
      _tag === "ClaimLost"
        ? Effect.fail(unasked(hold))
        : Effect.andThen(parts.count("pending"), Effect.fail(stillSettling(hold.call.shape)))
    ),
    Effect.flatMap((outcome) => answered(parts, hold, outcome))
  )

const answered = (
  { count, earned }: Parts,
  hold: Hold,
  outcome: SettlementOutcome
): Effect.Effect<SettledCall, PaymentRefusal> => {
  const { call, quote, claim } = hold
  const { network, payer } = claim.record
  if (outcome._tag === "Settled") {
    const amount = hold.charge === undefined ? {} : { amount: hold.charge.toString() }
    const headers = settledHeaders({ transaction: outcome.transaction, network, payer, ...amount })
    return Effect.as(Effect.andThen(count("settled"), earned({ call, claim: withFigures(hold) }, "settled")), {
      headers
    })
  }
  if (outcome._tag === "Refused") {
    const { code, reason } = outcome
    const reply = settlementFailed(quote, call.shape, { code, reason, payer, network, transaction: null })
    return Effect.andThen(count("settlement_refused", code), Effect.fail(refusalOf(code, reply)))
  }
  const counted = Effect.andThen(count("pending"), earned({ call, claim: withFigures(hold) }, "pending"))
  return Effect.as(counted, { headers: unsettledHeaders("settlement_pending") })
}
