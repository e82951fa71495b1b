/**
 * Payments that are held for calls in work. A claim is renewed as long as its call lasts; it is let go before a
 * failure is told, or settled once the answer is made. A stream whose payment would end before it does is settled
 * while it goes on; from then on nothing is given back.
 */
import { Clock, Context, Effect, Fiber, Layer } from "effect"
import { Configuration, Metrics, timed } from "#runtime"
import { type Claim, Claims } from "#x402"
import type { PaidCall } from "../Till.ts"
import type { HeldCall, Hold, HoldParts } from "./held-call.ts"
import { tillCalls, tillSeconds } from "./metrics.ts"
import { PaidAnswers } from "./PaidAnswers.ts"
import { collectByMs } from "./payment-times.ts"
import { releaseHeld, settleHeld } from "./settle-held.ts"
import { SettlementDesk } from "./SettlementDesk.ts"
import { unavailable } from "./till-replies.ts"

export class HeldPayments extends Context.Service<
  HeldPayments,
  { readonly hold: (held: HeldCall) => Effect.Effect<PaidCall> }
>()("starling/model-gateway/HeldPayments") {
  static readonly layer = Layer.effect(
    HeldPayments,
    Effect.gen(function* () {
      const { Payments } = yield* Configuration
      const metrics = yield* Metrics
      const counter = metrics.counter(tillCalls)
      const seconds = metrics.histogram(tillSeconds)
      const parts: HoldParts = {
        claims: yield* Claims,
        answers: yield* PaidAnswers,
        desk: yield* SettlementDesk,
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
    asked: yield* Effect.cached(Effect.suspend(() => parts.desk.ask(state.claim, state.answerKept))),
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
