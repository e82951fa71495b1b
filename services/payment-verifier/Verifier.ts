/**
 * Says whether a call is paid for: the payment's own marks first, which cost nobody anything, then the claim, so that
 * one payment is used by one call, and the chain. The chain is asked beside the claim for a payment that this process
 * meets for the first time, after it for any other: a storm of replays asks no chain. Where the payer's other claims have
 * not ended, or just have, the chain also says what it holds: all of them together must be covered. A chain that refuses
 * or cannot be asked lets the claim go again before it is told. What nobody can say now is `Unavailable`, never a refusal or a yes.
 */
import { Clock, Context, Effect, Fiber, Layer, Result } from "effect"
import { type PaymentPayload, type PaymentRequirements, type VerifyAnswer, type VerifyRequest } from "#contracts"
import { Configuration, Metrics, timed } from "#runtime"
import {
  ClaimMove,
  type AskFunds,
  type Call,
  ChainUnavailable,
  type CheckedPayment,
  type Claim,
  claimRefusalAnswer,
  Claims,
  factsOf,
  paymentReason,
  type PaymentRefused,
  type PaymentScheme,
  TokenWatch
} from "#x402"
import { verifications, verificationSeconds, verificationsRunning } from "./metrics.ts"
import { Networks } from "./Networks.ts"

type Refused = Extract<VerifyAnswer, { readonly _tag: "Refused" }>
type Unavailable = Extract<VerifyAnswer, { readonly _tag: "Unavailable" }>

/** A payment that may be claimed, and how its chain is spoken to. */
export interface Checked {
  readonly scheme: PaymentScheme
  readonly payment: CheckedPayment
}

// A chain that stumbles is usually back within a few blocks.
const retryAfterSeconds = 2

export class Verifier extends Context.Service<
  Verifier,
  {
    /** With a claim; for the gateway. */
    readonly verify: (request: VerifyRequest) => Effect.Effect<VerifyAnswer>
    /** Without one: whether it would be settled now. Two who ask hear the same. */
    readonly wouldSettle: (
      payload: PaymentPayload,
      requirements: PaymentRequirements
    ) => Effect.Effect<Checked, Refused | Unavailable>
    /** What can be said without asking anybody. */
    readonly check: (payload: PaymentPayload, requirements: PaymentRequirements) => Effect.Effect<Checked, Refused>
  }
>()("starling/payment-verifier/Verifier") {
  static readonly layer = Layer.effect(
    Verifier,
    Effect.gen(function* () {
      const networks = yield* Networks
      const { stopped } = yield* TokenWatch
      const claims = yield* Claims
      const { PaymentVerifier } = yield* Configuration
      const metrics = yield* Metrics
      const outcomes = metrics.counter(verifications)
      const seconds = metrics.histogram(verificationSeconds)
      const running = metrics.gauge(verificationsRunning)
      let count = 0

      const inStage = <A, E, R>(network: string, stage: string, work: Effect.Effect<A, E, R>) =>
        timed((took) => seconds.observe({ network, stage }, took), work)

      const check = Effect.fnUntraced(function* (payload: PaymentPayload, requirements: PaymentRequirements) {
        const { scheme } = networks.get(requirements.network) ?? {}
        if (scheme === undefined) return yield* Effect.fail(unknownNetwork(requirements))
        const stop = stopped(requirements.network)
        if (stop !== undefined) return yield* Effect.fail(stoppedNetwork(requirements, stop))
        const nowMs = yield* Clock.currentTimeMillis
        const checked = Effect.sync(() => scheme.check(payload, requirements, nowMs))
        const payment = yield* inStage(requirements.network, "check", checked)
        if (Result.isFailure(payment)) return yield* Effect.fail(refusedAnswer(payment.failure))
        return { scheme, payment: payment.success }
      })

      /** Claims are taken where nothing may come between; this may, and ends by itself. */
      const askFunds =
        ({ scheme, payment }: Checked): AskFunds =>
        (claimKeys) =>
          inStage(payment.network, "funds", scheme.funds(payment, claimKeys)).pipe(
            Effect.timeoutOrElse({
              duration: PaymentVerifier.DeadlineSeconds * 1_000,
              orElse: () =>
                Effect.fail(new ChainUnavailable({ operation: "read a balance", detail: "no answer in time" }))
            }),
            Effect.interruptible
          )

      const claimed = (checked: Checked, call: Call, isUnmet: boolean) =>
        inStage(
          checked.payment.network,
          "claim",
          claims.claim(checked.payment, call, { isUnmet, askFunds: askFunds(checked) })
        ).pipe(
          Effect.mapError((error) =>
            error._tag === "ClaimRefused" ? claimRefusalAnswer(error) : unavailable(error.message)
          )
        )

      const simulate = ({ scheme, payment }: Checked): Effect.Effect<void, Refused | Unavailable> =>
        inStage(payment.network, "simulate", scheme.simulate(payment)).pipe(
          Effect.mapError((error) =>
            error._tag === "PaymentRefused" ? refusedAnswer(error) : unavailable(error.message)
          ),
          Effect.timeoutOrElse({
            duration: PaymentVerifier.DeadlineSeconds * 1_000,
            orElse: () => Effect.fail(unavailable("the chain did not answer in time"))
          })
        )

      /** What cannot be let go now is let go by the sweep when the lease ends. */
      const letGo = (claim: Claim) =>
        Effect.ignore(claims.moveAsRead(claim, ClaimMove.Release({ reason: "not verified" })))

      const verifyOne = Effect.fnUntraced(function* ({ payload, requirements, ...call }: VerifyRequest) {
        const checked = yield* check(payload, requirements)
        const isUnmet = yield* claims.meet(checked.payment)
        // Nothing may come between the claim and the promise to let it go.
        return yield* Effect.uninterruptibleMask((restore) => claimBeside(checked, call, isUnmet, restore))
      })

      const claimBeside = Effect.fnUntraced(function* (
        checked: Checked,
        call: Call,
        isUnmet: boolean,
        restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
      ) {
        // At once: the chain takes longer than the claim.
        const simulating = Effect.forkChild(Effect.interruptible(simulate(checked)), { startImmediately: true })
        const beside = isUnmet ? yield* simulating : undefined
        const end = beside === undefined ? Effect.void : Fiber.interrupt(beside)
        const claim = yield* Effect.onError(claimed(checked, call, isUnmet), () => end)
        const simulated = beside === undefined ? simulate(checked) : Fiber.join(beside)
        yield* restore(simulated).pipe(Effect.onError(() => Effect.andThen(end, letGo(claim))))
        return verifiedAnswer(claim)
      })

      const verify = Effect.fn("Verifier.verify")(function* (request: VerifyRequest) {
        running.set({}, ++count)
        const answer = yield* verifyOne(request).pipe(
          Effect.catch((refusal) => Effect.succeed<VerifyAnswer>(refusal)),
          Effect.catchDefect((defect) =>
            Effect.as(Effect.logError("a verification died", defect), unavailable("an unexpected error"))
          ),
          Effect.ensuring(Effect.sync(() => running.set({}, --count)))
        )
        const network = networks.has(request.requirements.network) ? request.requirements.network : "unknown"
        outcomes.inc({
          network,
          outcome: answer._tag.toLowerCase(),
          code: answer._tag === "Refused" ? answer.code : ""
        })
        return answer
      })

      return Verifier.of({
        verify,
        check,
        wouldSettle: (payload, requirements) => Effect.tap(check(payload, requirements), simulate)
      })
    })
  )
}

const verifiedAnswer = (claim: Claim): VerifyAnswer => ({
  _tag: "Verified",
  claimKey: claim.key,
  claim: factsOf(claim)
})

const refusedAnswer = ({ code, reason, payer, detail }: PaymentRefused): Refused => ({
  _tag: "Refused",
  code,
  reason: reason.slice(0, 256),
  payer,
  ...(detail === undefined ? {} : { detail: detail.slice(0, 1_024) })
})

const unknownNetwork = ({ network }: Pick<PaymentRequirements, "network">): Refused => ({
  _tag: "Refused",
  code: "PAYMENT_INVALID",
  reason: paymentReason.invalidNetwork,
  payer: null,
  detail: `${network} is not configured here`
})

const stoppedNetwork = ({ network }: PaymentRequirements, why: string): Refused => ({
  ...unknownNetwork({ network }),
  detail: `nothing is sold on ${network} now: ${why}`.slice(0, 1_024)
})

const unavailable = (reason: string): Unavailable => ({
  _tag: "Unavailable",
  retryAfterSeconds,
  reason: reason.slice(0, 256)
})
