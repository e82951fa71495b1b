/**
 * The verifier decides whether a call is paid for. It first checks the payment's own fields without a remote call, then
 * takes the claim, so that one payment is used by one call, and asks the chain. For a payment that this process sees
 * for the first time, the chain is asked in parallel with the claim; for any other, after the claim, so that a storm of
 * replays does not reach the chain. If only the chain can tell whether the payer signed, it is asked before the claim:
 * an unknown caller must not tie up the payer's money.
 *
 * If the payer has other claims that have not ended, or have just ended, the chain also reports the payer's balance: it
 * must cover all of them together. When the chain refuses or cannot be asked, the claim is released before the answer.
 * A question that cannot be decided now is answered `Unavailable`, never with a refusal or an acceptance.
 */
import { Clock, Context, Effect, Fiber, Layer, Result } from "effect"
import {
  channelScheme,
  type PaymentPayload,
  type PaymentRequirements,
  type VerifyAnswer,
  type VerifyRequest
} from "#payments/contract"
import { Configuration } from "#configuration"
import { Metrics, timed } from "#runtime"
import {
  type ReadFunds,
  type Call,
  ChainUnavailable,
  type CheckedPayment,
  type Claim,
  ClaimMove,
  claimRefusalAnswer,
  Claims,
  factsOf,
  type OpenNetwork,
  openNetworks,
  paymentReason,
  type PaymentRefused,
  type PaymentScheme,
  TokenWatch
} from "#payments"
import { verifications, verificationSeconds, verificationsRunning } from "./metrics.ts"

type Refused = Extract<VerifyAnswer, { readonly _tag: "Refused" }>
type Unavailable = Extract<VerifyAnswer, { readonly _tag: "Unavailable" }>

/** A payment that can be claimed, and the scheme of its chain. */
export interface Checked {
  readonly scheme: PaymentScheme
  readonly payment: CheckedPayment
}

// A chain with a brief fault is usually back within a few blocks.
const retryAfterSeconds = 2

export class Verifier extends Context.Service<
  Verifier,
  {
    /** Takes a claim; for the gateway. */
    readonly verify: (request: VerifyRequest) => Effect.Effect<VerifyAnswer>
    /** Takes no claim: whether the payment would be settled now. Two callers get the same answer. */
    readonly wouldSettle: (
      payload: PaymentPayload,
      requirements: PaymentRequirements
    ) => Effect.Effect<Checked, Refused | Unavailable>
    /** The local checks, without a remote call. */
    readonly check: (payload: PaymentPayload, requirements: PaymentRequirements) => Effect.Effect<Checked, Refused>
  }
>()("starling/payment-verifier/Verifier") {
  static readonly layer = Layer.effect(
    Verifier,
    Effect.gen(function* () {
      const deps = yield* dependenciesOfVerifier
      return Verifier.of({
        verify: (request) => verify(deps, request),
        check: (payload, requirements) => check(deps, payload, requirements),
        wouldSettle: (payload, requirements) =>
          Effect.tap(check(deps, payload, requirements), (checked) => simulate(deps, checked))
      })
    })
  )
}

/** The services that a verification uses. */
interface Dependencies extends Effect.Success<typeof dependenciesOfVerifier> {}

const dependenciesOfVerifier = Effect.gen(function* () {
  const { stopped } = yield* TokenWatch
  const { PaymentVerifier } = yield* Configuration
  const metrics = yield* Metrics
  const networks = yield* Networks
  const outcomes = metrics.counter(verifications)
  for (const network of networks.keys()) {
    for (const outcome of ["verified", "unavailable"] as const) outcomes.inc({ network, outcome, code: "" }, 0)
  }
  return {
    networks,
    claims: yield* Claims,
    stopped,
    deadlineMs: PaymentVerifier.DeadlineSeconds * 1_000,
    outcomes,
    seconds: metrics.histogram(verificationSeconds),
    running: metrics.gauge(verificationsRunning),
    now: { running: 0 }
  }
})

const outcomeOf = { Verified: "verified", Refused: "refused", Unavailable: "unavailable" } as const

const verify = Effect.fn("Verifier.verify")(function* (deps: Dependencies, request: VerifyRequest) {
  const { networks, outcomes, running, now } = deps
  running.set({}, ++now.running)
  const answer = yield* verifyOne(deps, request).pipe(
    Effect.catch((refusal) => Effect.succeed<VerifyAnswer>(refusal)),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("a verification died", defect), unavailable("an unexpected error"))
    ),
    Effect.ensuring(Effect.sync(() => running.set({}, --now.running)))
  )
  const network = networks.has(request.requirements.network) ? request.requirements.network : "unknown"
  outcomes.inc({
    network,
    outcome: outcomeOf[answer._tag],
    code: answer._tag === "Refused" ? answer.code : ""
  })
  return answer
})

const verifyOne = Effect.fnUntraced(function* (deps: Dependencies, { payload, requirements, ...call }: VerifyRequest) {
  const checked = yield* check(deps, payload, requirements)
  if (checked.payment.isUnproven === true) yield* simulate(deps, checked)
  const isFirstSeen = yield* deps.claims.isFirstSeen(checked.payment)
  // Nothing may interrupt between the claim and the guarantee to release it.
  return yield* Effect.uninterruptibleMask((restore) => claimAndSimulate(deps, { checked, call, isFirstSeen, restore }))
})

const check = Effect.fnUntraced(function* (
  deps: Dependencies,
  payload: PaymentPayload,
  requirements: PaymentRequirements
): Effect.fn.Return<Checked, Refused> {
  const network = deps.networks.get(requirements.network)
  if (network === undefined) return yield* Effect.fail(unknownNetwork(requirements))
  // Gateways accept payments by channel themselves, and settle them by orders.
  const scheme = requirements.scheme === channelScheme ? undefined : network.schemes[requirements.scheme]
  if (scheme === undefined) return yield* Effect.fail(unknownScheme(requirements))
  const stop = deps.stopped(requirements.network)
  if (stop !== undefined) return yield* Effect.fail(stoppedNetwork(requirements, stop))
  const nowMs = yield* Clock.currentTimeMillis
  const checked = Effect.sync(() => scheme.check(payload, requirements, nowMs))
  const payment = yield* inStage(deps, { network: requirements.network, stage: "check" }, checked)
  if (Result.isFailure(payment)) return yield* Effect.fail(refusedAnswer(payment.failure))
  return { scheme, payment: payment.success }
})

interface Claiming {
  readonly checked: Checked
  readonly call: Call
  /** This process sees the payment for the first time. */
  readonly isFirstSeen: boolean
}

interface RestoredClaiming extends Claiming {
  readonly restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const claimAndSimulate = Effect.fnUntraced(function* (deps: Dependencies, { restore, ...claiming }: RestoredClaiming) {
  const { checked, isFirstSeen } = claiming
  // Started at once, because the chain takes longer than the claim.
  const simulating = Effect.forkChild(Effect.interruptible(simulate(deps, checked)), { startImmediately: true })
  const background = isFirstSeen ? yield* simulating : undefined
  const end = background === undefined ? Effect.void : Fiber.interrupt(background)
  const claim = yield* Effect.onError(claimed(deps, claiming), () => end)
  const simulated = background === undefined ? simulate(deps, checked) : Fiber.join(background)
  yield* restore(simulated).pipe(Effect.onError(() => Effect.andThen(end, release(deps, claim))))
  return verifiedAnswer(claim)
})

const claimed = (deps: Dependencies, { checked, call, isFirstSeen }: Claiming) =>
  inStage(
    deps,
    { network: checked.payment.network, stage: "claim" },
    deps.claims.claim(checked.payment, call, { isFirstSeen, readFunds: readFunds(deps, checked) })
  ).pipe(
    Effect.mapError((error) => (error._tag === "ClaimRefused" ? claimRefusalAnswer(error) : unavailable(error.message)))
  )

/** Claims are taken uninterruptibly; this part is interruptible and ends by itself. */
const readFunds =
  (deps: Dependencies, { scheme, payment }: Checked): ReadFunds =>
  (claimKeys) =>
    inStage(deps, { network: payment.network, stage: "funds" }, scheme.funds(payment, claimKeys)).pipe(
      Effect.timeoutOrElse({
        duration: deps.deadlineMs,
        orElse: () => Effect.fail(new ChainUnavailable({ operation: "read a balance", detail: "no answer in time" }))
      }),
      Effect.interruptible
    )

const simulate = (deps: Dependencies, { scheme, payment }: Checked): Effect.Effect<void, Refused | Unavailable> =>
  inStage(deps, { network: payment.network, stage: "simulate" }, scheme.simulate(payment)).pipe(
    Effect.mapError((error) => (error._tag === "PaymentRefused" ? refusedAnswer(error) : unavailable(error.message))),
    Effect.timeoutOrElse({
      duration: deps.deadlineMs,
      orElse: () => Effect.fail(unavailable("the chain did not answer in time"))
    })
  )

/** If a claim cannot be released now, the sweep releases it when its lease expires. */
const release = ({ claims }: Dependencies, claim: Claim) =>
  Effect.ignore(claims.moveAsRead(claim, ClaimMove.Release({ reason: "not verified" })))

const inStage = <A, E, R>(
  { seconds }: Dependencies,
  labels: { readonly network: string; readonly stage: string },
  work: Effect.Effect<A, E, R>
) => timed((took) => seconds.observe(labels, took), work)

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

const unknownScheme = ({ scheme, network }: PaymentRequirements): Refused => ({
  ...unknownNetwork({ network }),
  reason: paymentReason.invalidScheme,
  detail: `${scheme} is not verified on ${network}`
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

/** The chains that payments are accepted on, keyed by their CAIP-2 names. */
export class Networks extends Context.Service<Networks, ReadonlyMap<string, OpenNetwork>>()(
  "starling/payment-verifier/Networks"
) {
  static readonly layer = Layer.effect(
    Networks,
    Effect.flatMap(Configuration, ({ Payments }) => openNetworks(Payments))
  )
}
