/**
 * Payments that are held for calls in work. A claim is renewed as long as its call lasts; it is let go before a
 * failure is told, or settled once the answer is made. A stream whose payment would end before it does is settled
 * while it goes on; from then on nothing is given back.
 */
import { Clock, Context, Effect, Fiber, Layer, type Scope, Schedule } from "effect"
import { Configuration, Metrics, timed, acquireLightly } from "#runtime"
import { type Claim, Claims, type Quote, settledHeaders, settlementFailed, unsettledHeaders } from "#x402"
import type { PaidCall, PayableCall, PaymentRefusal, SettledCall } from "./PaymentGate.ts"
import { paymentOutcomes, paymentSeconds } from "./metrics.ts"
import { PaidAnswers } from "./KeptCalls.ts"
import { collectByMs } from "./quote.ts"
import { Settlements, type Asked, type NotCommitted } from "./Settlements.ts"
import { unavailable, refusalOf, stillSettling } from "./replies.ts"
import type { BusError } from "#bus"
import type { SettlementOutcome } from "#contracts"
import { fault, type GatewayFault } from "../errors/GatewayFault.ts"

export class HeldPayments extends Context.Service<
  HeldPayments,
  { readonly hold: (held: HeldCall) => Effect.Effect<PaidCall> }
>()("starling/model-gateway/HeldPayments") {
  static readonly layer = Layer.effect(
    HeldPayments,
    Effect.gen(function* () {
      const { Payments } = yield* Configuration
      const metrics = yield* Metrics
      const counter = metrics.counter(paymentOutcomes)
      const seconds = metrics.histogram(paymentSeconds)
      const parts: HoldParts = {
        claims: yield* Claims,
        answers: yield* PaidAnswers,
        settlements: yield* Settlements,
        scope: yield* Effect.scope,
        renewEveryMs: (Payments.LeaseSeconds * 1_000) / 3,
        waitMs: Payments.SettleWaitSeconds * 1_000,
        count: (outcome, code = "") => Effect.sync(() => counter.inc({ outcome, code })),
        timed: (stage, work) => timed((took) => seconds.observe({ stage }, took), work)
      }
      return HeldPayments.of({ hold: (held) => hold(parts, held) })
    })
  )
}

const hold = Effect.fnUntraced(function* (parts: HoldParts, held: HeldCall): Effect.fn.Return<PaidCall> {
  const { call } = held
  const beside: Array<Fiber.Fiber<void>> = []
  const state: Hold = {
    ...held,
    stage: "claimed",
    isForced: false,
    answerKept: Effect.void,
    asked: yield* Effect.cached(Effect.suspend(() => parts.settlements.ask(state.claim, state.answerKept))),
    stop: Effect.suspend(() => {
      state.stage = "over"
      return Effect.forEach(beside, (fiber) => Effect.forkIn(Fiber.interrupt(fiber), parts.scope), { discard: true })
    })
  }
  const renewing = yield* Effect.forkIn(renew(parts, state), parts.scope)
  beside.push(renewing)
  const { network, validBeforeMs } = held.claim.record
  const leftMs = Math.max(0, collectByMs(network, validBeforeMs) - (yield* Clock.currentTimeMillis))
  if (call.kind === "stream") {
    beside.push(yield* Effect.forkIn(Effect.delay(force(parts, state, renewing), leftMs), parts.scope))
  }
  return {
    answerMsMax: leftMs,
    release: releaseHeld(parts, state),
    serve: serve(parts, state),
    settle: (answer) => settleHeld(parts, state, answer)
  }
})

/** A renewal and another move may end in any order. */
const advance = (state: Hold, next: Claim) =>
  Effect.sync(() => {
    if (next.revision > state.claim.revision) state.claim = next
  })

/** Until the claim is somebody else's to move. */
const renew = ({ claims, renewEveryMs }: HoldParts, state: Hold): Effect.Effect<never> =>
  Effect.suspend(() => claims.renew(state.claim)).pipe(
    Effect.tap((next) => advance(state, next)),
    Effect.catchTag("ClaimLost", (error) =>
      Effect.andThen(Effect.logWarning("a claim was lost", error), Effect.interrupt)
    ),
    Effect.catch((error) => Effect.logWarning("a claim could not be renewed", error)),
    Effect.delay(renewEveryMs),
    Effect.forever
  )

/** The last moment to have the payment: what is left of the stream goes out all the same. */
const force = Effect.fnUntraced(
  function* ({ count }: HoldParts, state: Hold, renewing: Fiber.Fiber<unknown>) {
    if (state.stage !== "serving") return
    state.isForced = true
    yield* Fiber.interrupt(renewing)
    yield* count("forced")
    yield* state.asked
  },
  Effect.catch((error) => Effect.logError("a stream could not be settled before its payment ends", error))
)

const serve = (parts: HoldParts, state: Hold) =>
  Effect.suspend(() => parts.claims.serve(state.claim)).pipe(
    Effect.tap((next) => advance(state, next)),
    Effect.tap(() => Effect.sync(() => void (state.stage = "serving"))),
    Effect.asVoid,
    Effect.tapError((error) => Effect.logWarning("a stream cannot be begun", error)),
    Effect.catch(() =>
      Effect.andThen(
        releaseHeld(parts, state),
        Effect.fail(unavailable(state.call.shape, "The payment could not be held", 1))
      )
    )
  )

/** A payment that is held for one call, and the parts that its moves need. */
interface HeldCall {
  readonly call: PayableCall
  readonly quote: Quote
  readonly claim: Claim
  readonly identifier: string | null
}

/** A held call while it goes on. */
interface Hold extends HeldCall {
  /** As it was moved last. */
  claim: Claim
  stage: "claimed" | "serving" | "over"
  /** Settled while it was still given out: nothing is given back any more. */
  isForced: boolean
  /** Before the payment is asked for; nothing of a stream. */
  answerKept: Effect.Effect<void, BusError>
  /** Once, whoever asks first. */
  readonly asked: Effect.Effect<Asked, NotCommitted>
  /** Ends what goes on beside the call. */
  readonly stop: Effect.Effect<void>
}

interface HoldParts {
  readonly claims: Claims["Service"]
  readonly answers: PaidAnswers["Service"]
  readonly settlements: Settlements["Service"]
  readonly scope: Scope.Scope
  readonly renewEveryMs: number
  readonly waitMs: number
  readonly count: (outcome: string, code?: string) => Effect.Effect<void>
  readonly timed: <A, E>(stage: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

// A stream's last event is not held back for long: what it says is only the receipt.
const streamWaitMsMax = 5_000
// A broker that is away for a moment must not cost a payer the payment; the sweep lets it go otherwise.
const releaseTries = { times: 3, schedule: Schedule.spaced("200 millis") }

/**
 * The end of a call that is answered: its answer is kept, its payment asked for and awaited. A whole answer goes out
 * paid, or as the one answer that a payer may have before the chain has spoken; what the chain refuses is not given.
 */
const releaseHeld = Effect.fn("PaymentGate.release")(function* ({ claims, count }: HoldParts, hold: Hold) {
  yield* hold.stop
  if (hold.isForced) return yield* Effect.logWarning("a stream that failed was settled before it did")
  yield* count("released")
  yield* claims.release(hold.claim, "the call failed").pipe(
    Effect.retry({ ...releaseTries, while: ({ _tag }) => _tag === "BusUnavailable" }),
    Effect.catch((error) => Effect.logWarning("a payment is let go when its lease ends", error))
  )
})

const settleHeld = Effect.fn("PaymentGate.settle")(function* (
  parts: HoldParts,
  hold: Hold,
  answer: Uint8Array | null
): Effect.fn.Return<SettledCall, PaymentRefusal> {
  const asked = yield* askToSettle(parts, hold, answer)
  yield* hold.stop
  const outcome = yield* parts.timed("settle", outcomeOf(parts, hold, asked))
  return yield* outcome._tag === "Pending" && answer !== null ? unpaid(parts, hold) : answered(parts, hold, outcome)
})

const askToSettle = (parts: HoldParts, hold: Hold, answer: Uint8Array | null) => {
  const { claim, identifier } = hold
  const label = { identifier, binding: claim.record.binding }
  if (answer !== null) hold.answerKept = parts.timed("store", parts.answers.keep(claim.key, { label, body: answer }))
  return hold.asked.pipe(
    Effect.tapError((error) => Effect.logWarning("a payment could not be asked for", error)),
    Effect.catch(() => Effect.andThen(releaseHeld(parts, hold), Effect.fail(unasked(hold))))
  )
}

const unasked = ({ call }: Hold) => unavailable(call.shape, "The payment could not be settled; nothing was charged", 1)

const pending: SettlementOutcome = { _tag: "Pending", transaction: null }

const outcomeOf = ({ waitMs }: HoldParts, hold: Hold, { outcome, close }: Asked) =>
  outcome(hold.call.kind === "stream" ? Math.min(waitMs, streamWaitMsMax) : waitMs).pipe(
    Effect.ensuring(close),
    Effect.tapError((error) => Effect.logWarning("an outcome could not be read", error)),
    Effect.catch(({ _tag }: NotCommitted) =>
      _tag === "ClaimLost" ? Effect.fail(unasked(hold)) : Effect.succeed(pending)
    )
  )

/**
 * The payer's one place for an unpaid answer; then the claim once more, for a settler may have given it up, or none have
 * taken it: nothing is given out for a payment that could still be let go.
 */
const unpaid = (parts: HoldParts, hold: Hold) =>
  parts.claims.expose(hold.claim).pipe(
    Effect.andThen(parts.settlements.standing(hold.claim)),
    Effect.catch(({ _tag }) =>
      _tag === "ClaimLost"
        ? Effect.fail(unasked(hold))
        : Effect.andThen(parts.count("pending"), Effect.fail(stillSettling(hold.call.shape)))
    ),
    Effect.flatMap((outcome) => answered(parts, hold, outcome))
  )

const answered = (
  { count }: HoldParts,
  { call, quote, claim }: Hold,
  outcome: SettlementOutcome
): Effect.Effect<SettledCall, PaymentRefusal> => {
  const { network, payer } = claim.record
  if (outcome._tag === "Settled") {
    const headers = settledHeaders({ transaction: outcome.transaction, network, payer })
    return Effect.as(count("settled"), { headers })
  }
  if (outcome._tag === "Refused") {
    const { code, reason } = outcome
    const reply = settlementFailed(quote, call.shape, { code, reason, payer, network, transaction: null })
    return Effect.andThen(count("settlement_refused", code), Effect.fail(refusalOf(code, reply)))
  }
  return Effect.as(count("pending"), { headers: unsettledHeaders("settlement_pending") })
}

/**
 * A paid call from its payment to its end, whatever happens between: it is released or settled exactly once.
 * Who leaves before the first byte pays nothing; who leaves after it pays. Ends with the call's scope.
 */
export interface PaymentCourse {
  /** As the payment gate says. */
  readonly answerMsMax?: number
  /** Also of a stream that broke off through no fault of the caller. */
  readonly release: Effect.Effect<void>
  readonly serve: Effect.Effect<void, PaymentRefusal>
  readonly settle: (answer: Uint8Array | null) => Effect.Effect<SettledCall, PaymentRefusal>
}

/** An answer that comes too late could not be paid for any more. */
export const withinPayment = <A, R>({ answerMsMax }: PaymentCourse, answer: Effect.Effect<A, GatewayFault, R>) =>
  answerMsMax === undefined
    ? answer
    : Effect.timeoutOrElse(answer, { duration: answerMsMax, orElse: () => Effect.fail(fault("TIMEOUT")) })

const nothingOwed: SettledCall = { headers: {} }

/** Of a call that costs nothing. */
export const freeCourse: PaymentCourse = {
  release: Effect.void,
  serve: Effect.void,
  settle: () => Effect.succeed({ headers: { "x-free-model": "true" } })
}

/** Ends with the call: nothing can come between the payment and the promise to end it. */
export const paymentCourse = <E>(pay: Effect.Effect<PaidCall, E>): Effect.Effect<PaymentCourse, E, Scope.Scope> =>
  acquireLightly(openCourse(pay), (course) => course.leave)

interface OpenCourse extends PaymentCourse {
  /** The caller is gone: who was given something pays for it. */
  readonly leave: Effect.Effect<void>
}

/** One that whoever opens it ends. */
export const openCourse = <E>(pay: Effect.Effect<PaidCall, E>): Effect.Effect<OpenCourse, E> =>
  Effect.map(pay, (paid) => {
    let stage: "claimed" | "serving" | "ended" = "claimed"
    const ending = <A, F>(effect: Effect.Effect<A, F>) => {
      stage = "ended"
      return Effect.uninterruptible(effect)
    }
    const release = Effect.suspend(() => (stage === "ended" ? Effect.void : ending(paid.release)))
    return {
      ...(paid.answerMsMax === undefined ? {} : { answerMsMax: paid.answerMsMax }),
      release,
      serve: Effect.suspend(() => {
        if (stage !== "claimed") return Effect.void
        return Effect.uninterruptible(Effect.tap(paid.serve, () => Effect.sync(() => void (stage = "serving"))))
      }),
      settle: (answer) =>
        Effect.suspend(() => (stage === "ended" ? Effect.succeed(nothingOwed) : ending(paid.settle(answer)))),
      leave: Effect.suspend(() => {
        if (stage !== "serving") return release
        // Nobody is there to be told that this failed.
        return Effect.catch(ending(paid.settle(null)), ({ code }) =>
          Effect.annotateLogs(Effect.logWarning("a stream that was left could not be settled"), { code })
        )
      })
    }
  })
