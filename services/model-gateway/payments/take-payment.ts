/**
 * The payment gate where payments are set up: quotes a call, reads and matches its payment, asks a verifier, and holds what is
 * verified until the call has ended. Every 402 carries a fresh quote. Nothing is charged before an answer is made,
 * and what nobody can verify now is 503, so that the same payment can be sent again.
 */
import { createHash, randomBytes } from "node:crypto"
import { Clock, Effect, Layer, Option, Schedule } from "effect"
import { Mailbox, Requests, type BusError } from "#bus"
import { sanitise } from "#egress"
import {
  type PaymentNetwork,
  type PaymentPayload,
  type PaymentRequirements,
  type VerifyAnswer,
  subjects,
  type VerifyRequest
} from "#contracts"
import { Configuration, Metrics, timed } from "#runtime"
import {
  claimOptionsOf,
  Claims,
  codeOf,
  matchOffer,
  openChains,
  paymentIdentifier,
  type PaymentRefused,
  paymentRequired,
  type Quote,
  readPayment,
  TokenWatch,
  verificationFailed,
  verifiedClaim,
  verifyAnswerCodec,
  verifyRequestCodec
} from "#x402"
import { type CallFacts, type PayableCall, PaymentGate } from "./PaymentGate.ts"
import { gatewayOrigin } from "../origin.ts"
import { CallNames, PaidAnswers, PaidJobs } from "./KeptCalls.ts"
import { HeldPayments } from "./paid-call.ts"
import { paymentOutcomes, paymentSeconds } from "./metrics.ts"
import { lostHolders, claimKeyFor, replayedCall } from "./replay.ts"
import { neededMs, validBeforeMsOf, quoteCall } from "./quote.ts"
import { Settlements } from "./Settlements.ts"
import {
  exposureReached,
  identifierTaken,
  paidBefore,
  refusalOf,
  stillAnswering,
  stillMaking,
  stillSettling,
  unavailable
} from "./replies.ts"

interface Brought {
  readonly call: PayableCall
  readonly quote: Quote
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
  readonly identifier: string | null
  readonly binding: string
}

type Refused = Pick<
  Extract<VerifyAnswer, { readonly _tag: "Refused" }>,
  "code" | "reason" | "payer" | "detail" | "claimKey" | "holder"
>
type Verified = Extract<VerifyAnswer, { readonly _tag: "Verified" }>

const tooShortReason = "invalid_exact_evm_payload_authorization_valid_before"
const inSeconds = (ms: number) => `${Math.max(0, Math.floor(ms / 1_000))} s`
const tooShort = (leftMs: number, neededMs: number): Refused => ({
  code: codeOf(tooShortReason),
  reason: tooShortReason,
  payer: null,
  detail: `the authorization ends before the answer could be paid for: it is good for ${inSeconds(leftMs)}, and this call needs ${inSeconds(neededMs)}; sign a fresh one, nothing was charged`
})

const make = Effect.gen(function* () {
  const { ModelGateway, Payments } = yield* Configuration
  const requests = yield* Requests
  const claims = yield* Claims
  const answers = yield* PaidAnswers
  const jobs = yield* PaidJobs
  const names = yield* CallNames
  const held = yield* HeldPayments
  const { stopped } = yield* TokenWatch
  const mailbox = yield* Mailbox
  const { instance } = mailbox
  const isLost = lostHolders(mailbox)
  const origin = yield* gatewayOrigin
  const metrics = yield* Metrics
  const counter = metrics.counter(paymentOutcomes)
  const seconds = metrics.histogram(paymentSeconds)
  const count = (outcome: string, code = "") => Effect.sync(() => counter.inc({ outcome, code }))

  const isOffered = ({ Network }: PaymentNetwork) => stopped(Network) === undefined

  const quote = Effect.fnUntraced(function* (facts: CallFacts, shape: PayableCall["shape"]) {
    const made = quoteCall(Payments, yield* origin, facts, isOffered)
    return made ?? (yield* Effect.fail(unavailable(shape, "No such chain is taken here just now", 60)))
  })

  const refuse = (
    { call, quote }: Pick<Brought, "call" | "quote">,
    { code, reason, payer, detail }: Omit<Refused, "claimKey" | "holder">
  ) =>
    Effect.andThen(
      count("refused", code),
      Effect.fail(refusalOf(code, verificationFailed(quote, call.shape, { code, reason, payer, detail })))
    )

  /** What can be said of a payment without asking anybody. */
  const brought = Effect.fnUntraced(function* (call: PayableCall, quote: Quote) {
    const refused = (error: PaymentRefused) => refuse({ call, quote }, error)
    const payload = yield* Effect.catch(Effect.fromResult(readPayment(call.payment)), refused)
    if (payload === null) {
      yield* count("quoted")
      return yield* Effect.fail(refusalOf("PAYMENT_REQUIRED", paymentRequired(quote, call.shape)))
    }
    const offers = quote.offers.map(({ requirements }) => requirements)
    const requirements = yield* Effect.catch(Effect.fromResult(matchOffer(payload, offers)), refused)
    const identifier = yield* Effect.catch(Effect.fromResult(paymentIdentifier(payload)), refused)
    const binding = createHash("sha256").update(`${call.method} ${call.path}\n`).update(call.body).digest("hex")
    return { call, quote, payload, requirements, identifier, binding } satisfies Brought
  })

  const ask = Effect.fnUntraced(function* ({ call, payload, requirements, binding }: Brought) {
    const ticket = randomBytes(12).toString("base64url")
    const request = { payload, requirements, binding, kind: call.kind, holder: instance, ticket }
    const asking = askVerifier(requests, request, count("asked_again")).pipe(
      Effect.tapError((error) => Effect.logWarning("no verifier answered", error)),
      Effect.mapError(() =>
        unavailable(call.shape, "Payments cannot be verified just now; send the same payment again", 2)
      ),
      Effect.tapError(({ code }) => count("refused", code))
    )
    return yield* timed((took) => seconds.observe({ stage: "verify" }, took), asking)
  })

  /** An answer goes out when the chain has its payment, a moment before that is written down. */
  const endSoon = (claimKey: string) =>
    Effect.repeat(claims.read(claimKey), {
      schedule: Schedule.spaced("50 millis"),
      times: 5,
      while: (found) => Option.isSome(found) && found.value.record.state === "SETTLING"
    })

  /** A payment that was used: whoever sends the very same call again is given its answer, or told how far it is. */
  const givenAgain = Effect.fnUntraced(function* (brought: Brought, refused: Refused) {
    const { call, binding, identifier } = brought
    const { claimKey } = refused
    const isImage = call.jobId !== undefined
    const isHolderLost = identifier === null && !isImage && (yield* isLost(refused.holder))
    const isHeard = identifier !== null || isImage || isHolderLost
    if (claimKey === undefined || !isHeard) return yield* refuse(brought, refused)
    const busy = () =>
      unavailable(call.shape, "The answer cannot be looked for just now; send the same payment again", 2)
    const looked = { answer: answers.find(claimKey), claim: endSoon(claimKey), job: jobs.find(claimKey) }
    const found = yield* Effect.mapError(Effect.all(looked, { concurrency: 3 }), busy)
    const record = Option.getOrUndefined(found.claim)?.record
    const answer = Option.getOrUndefined(found.answer)
    const job = Option.getOrUndefined(found.job)
    const replayed = replayedCall({ isImage, isHolderLost, identifier, binding, record, answer, job })
    switch (replayed._tag) {
      case "Used":
        return yield* refuse(brought, refused)
      case "Free":
        return yield* refused.code === "PAYMENT_REPLAY" ? Effect.fail(busy()) : refuse(brought, refused)
      case "NameTaken":
        return yield* Effect.fail(identifierTaken(call.shape))
      case "Answering":
        return yield* Effect.fail(stillAnswering(call.shape))
      case "Settling":
        return yield* Effect.fail(stillSettling(call.shape))
      case "Making":
        return yield* Effect.fail(stillMaking(call.shape, replayed.jobId))
      case "Paid":
        yield* count("given_again")
        return yield* Effect.fail(paidBefore(replayed))
    }
  })

  const holdIt = Effect.fnUntraced(function* (brought: Brought, verified: Verified) {
    const { call, quote, identifier, binding } = brought
    const { claimKey } = verified
    // Whether it still is ours is told by its first move: nothing is given out before that.
    const claim = verifiedClaim(brought, verified)
    const letGo = Effect.ignore(claims.release(claim, "its call was not begun"))
    if (identifier !== null) {
      const isOurs = yield* names.take(verified.claim, identifier, { claimKey, binding }).pipe(
        Effect.mapError(() => unavailable(call.shape, "The payment could not be held; send it again", 1)),
        Effect.tapError(() => letGo)
      )
      if (!isOurs) return yield* Effect.andThen(letGo, Effect.fail(identifierTaken(call.shape)))
    }
    if (call.jobId !== undefined) {
      yield* jobs.note(claimKey, { jobId: call.jobId, ticket: claim.record.ticket }).pipe(
        Effect.mapError(() => unavailable(call.shape, "The payment could not be held; send it again", 1)),
        Effect.tapError(() => letGo)
      )
    }
    yield* count("verified")
    return yield* held.hold({ call, quote, claim, identifier })
  })

  /** The refusal of a payment that does not last for a new call. */
  const endsTooSoon = Effect.fnUntraced(function* ({ call, payload }: Brought) {
    const leftMs = (validBeforeMsOf(payload) ?? Infinity) - (yield* Clock.currentTimeMillis)
    const wantedMs = neededMs(ModelGateway, Payments, call.kind)
    return leftMs < wantedMs ? tooShort(leftMs, wantedMs) : undefined
  })

  const pay = Effect.fn("PaymentGate.pay")(function* (call: PayableCall) {
    const payment = yield* brought(call, yield* quote(call, call.shape))
    const refusal = yield* endsTooSoon(payment)
    if (refusal !== undefined) {
      // No new call; but the one that it has paid for may be asked for until long after its end.
      const claimKey = claimKeyFor(payment.payload, payment.requirements)
      if (claimKey === undefined) return yield* refuse(payment, refusal)
      const found =
        payment.identifier === null ? yield* Effect.orElseSucceed(claims.read(claimKey), Option.none) : Option.none()
      const holder = Option.isSome(found) ? { holder: found.value.record.holder } : {}
      return yield* givenAgain(payment, { ...refusal, claimKey, ...holder })
    }
    const answer = yield* ask(payment)
    if (answer._tag === "Verified") return yield* holdIt(payment, answer)
    if (answer._tag === "Unavailable" && answer.why === "exposure") {
      yield* count("refused", "PAYMENT_EXPOSURE_LIMIT")
      return yield* Effect.fail(exposureReached(call.shape, answer.retryAfterSeconds))
    }
    if (answer._tag === "Unavailable") {
      yield* count("refused", "PAYMENT_VERIFICATION_UNAVAILABLE")
      // Of a chain's node or a facilitator: nothing of which one it is.
      const reason = sanitise(answer.reason, { secrets: [], names: [] }) ?? "nobody can say"
      const message = `The payment cannot be taken just now: ${reason}`
      return yield* Effect.fail(unavailable(call.shape, message, answer.retryAfterSeconds))
    }
    return yield* answer.code === "PAYMENT_REPLAY" ? givenAgain(payment, answer) : refuse(payment, answer)
  })
  return PaymentGate.of({ quote: (facts) => quote(facts, "chat"), pay })
})

const claims = Layer.unwrap(Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments))))

// Whoever else is paid here, and whoever pays nothing, is served on.
const tokens = Layer.unwrap(
  Effect.gen(function* () {
    const { Payments } = yield* Configuration
    return TokenWatch.layer(yield* openChains(Payments), { isNeeded: false })
  })
)

/** Needs the bus, the egress and the runtime. */
const paymentGate = Layer.effect(PaymentGate, make).pipe(
  Layer.provide(HeldPayments.layer),
  Layer.provide(Layer.mergeAll(PaidAnswers.layer, PaidJobs.layer, CallNames.layer, Settlements.layer)),
  Layer.provide(Layer.mergeAll(claims, tokens))
)

/** Sells only where payments are set up. */
export const configuredPaymentGate = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => (Payments.Networks.length === 0 ? closedPaymentGate : paymentGate))
)

const message = "Payments are not set up here; only free models are served"
const retryAfterSeconds = 60

/** The payment gate where payments are not set up: without a way to be paid, paid models are not served. */
const closedPaymentGate = Layer.succeed(PaymentGate, {
  quote: () => Effect.fail(unavailable("chat", message, retryAfterSeconds)),
  pay: ({ shape }) => Effect.fail(unavailable(shape, message, retryAfterSeconds))
})

// Most answers come within one question to a chain; a verifier's own deadline is shorter than the second.
const firstMs = 2_000
const secondMs = 10_000

/**
 * Asks a verifier, and once more when the one that has the question falls silent: it may have died with it. The second
 * one takes over whatever claim the first has made, for the question is the same; what the first one still does about
 * it comes too late.
 */
const askVerifier = Effect.fnUntraced(function* (
  requests: Requests["Service"],
  request: VerifyRequest,
  onSilence: Effect.Effect<void>
): Effect.fn.Return<VerifyAnswer, BusError> {
  const ask = (isAgain: boolean) =>
    requests.ask(
      {
        subject: subjects.paymentsVerify,
        question: verifyRequestCodec,
        answer: verifyAnswerCodec,
        timeoutMs: secondMs,
        isAgain
      },
      request
    )
  const first = yield* Effect.timeoutOption(ask(false), firstMs)
  if (Option.isSome(first)) return first.value
  yield* onSilence
  return yield* ask(true)
})
