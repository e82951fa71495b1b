/**
 * The payment gate quotes a call, reads and matches its payment, asks a verifier, and holds what is verified until the
 * call has ended. Every 402 carries a fresh quote. Nothing is charged before an answer is made. A payment that no
 * verifier can check now is answered with 503, so that it can be sent again. Calls to free models never come here.
 */
import { createHash, hash } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { type BusError, Mailbox, Requests } from "#bus"
import {
  channelScheme,
  type PaymentNetwork,
  type PaymentPayload,
  type PaymentRequirements,
  type VerifyAnswer,
  type VerifyRequest
} from "#payments/contract"
import { subjects } from "#base"
import { sanitise } from "#egress"
import { Configuration } from "#configuration"
import { type CounterOf, inSpan, Metrics, timed } from "#runtime"
import {
  bringsPayment,
  ClaimMove,
  claimOptionsOf,
  Claims,
  codeOf,
  matchOffer,
  newTicket,
  openChains,
  paymentIdentifier,
  type PaymentRefused,
  type Quote,
  readPayment,
  requirementsFor,
  settledHeaders,
  Settlements,
  statedClaimKey,
  statedEndMs,
  statedPayer,
  TokenWatch,
  verificationFailed,
  verifiedClaim,
  verifyAnswerCodec,
  verifyRequestCodec
} from "#payments"
import { bazaarTexts } from "../discovery.ts"
import { gatewayOrigin } from "../origin.ts"
import { ChannelCalls, type RefundedChannel } from "./ChannelCalls.ts"
import { PaidCalls } from "./PaidCalls.ts"
import { CallNames, keptCall, type KeptCalls, lostHolders, PaidAnswers, PaidJobs } from "./kept-calls.ts"
import { type PaymentOutcome, paymentOutcomes, paymentSeconds } from "../metrics.ts"
import type { PaidCall } from "./paid-call.ts"
import { neededMs, type PayableCall, quoteCall, refundQuote } from "./quote.ts"
import {
  exposureReached,
  identifierTaken,
  paidBefore,
  type PaymentRefusal,
  quoteWriter,
  refusalOf,
  stillAnswering,
  stillMaking,
  stillSettling,
  unavailable
} from "./replies.ts"

export class PaymentGate extends Context.Service<
  PaymentGate,
  {
    /** The quote for a call that brings no payment; undefined where there is more to do. */
    readonly quote: (call: PayableCall) => PaymentRefusal | undefined
    /** Fails with a quote when the call brings no payment. */
    readonly pay: (call: PayableCall) => Effect.Effect<PaidCall, PaymentRefusal>
    /** Gives back what a channel was not charged; undefined where no channels are taken. */
    readonly refund: (call: RefundCall) => Effect.Effect<RefundedChannel | undefined, PaymentRefusal>
  }
>()("starling/model-gateway/PaymentGate") {}

interface RefundCall {
  readonly path: string
  readonly payment: PayableCall["payment"]
}

interface Parts {
  readonly settings: Pick<Configuration["Service"], "ModelGateway" | "Payments">
  readonly requests: Requests["Service"]
  readonly claims: Claims["Service"]
  readonly calls: PaidCalls["Service"]
  readonly channelCalls: ChannelCalls["Service"]
  readonly kept: KeptCalls
  readonly names: CallNames["Service"]
  readonly jobs: PaidJobs["Service"]
  /** This gateway's name in its claims. */
  readonly instance: string
  /** Whether the gateway that held a payment is gone. */
  readonly isLost: (holder: string | undefined) => Effect.Effect<boolean>
  /** The address by which callers reach this gateway. */
  readonly origin: () => string
  readonly isOffered: (network: PaymentNetwork) => boolean
  /** Counts the quotes, which name our settlers in turn; the paid call of a quote has no turn of its own. */
  readonly nextTurn: (isUnpaid: boolean) => number
  readonly writeQuote: ReturnType<typeof quoteWriter>
  readonly counter: CounterOf<typeof paymentOutcomes>
  readonly count: (outcome: PaymentOutcome, code?: string) => Effect.Effect<void>
  readonly verifySeconds: (took: number) => void
}

/** A payment that fits its call's quote, as far as the gateway can tell alone. */
interface Offered {
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
type Unavailable = Extract<VerifyAnswer, { readonly _tag: "Unavailable" }>

/** The quote for a call without a payment is made in one step: it is the commonest answer, and costs its caller nothing. */
const quoteAtOnce = (parts: Parts, call: PayableCall): PaymentRefusal | undefined => {
  if (bringsPayment(call.payment)) return undefined
  const quote = quoteOf(parts, call, true)
  if (quote === undefined) return undefined
  parts.counter.inc({ outcome: "quoted", code: "" })
  return parts.writeQuote(quote, call.shape)
}

const quoteOf = ({ settings, isOffered, nextTurn, origin }: Parts, call: PayableCall, isUnpaid: boolean) =>
  quoteCall(call, { payments: settings.Payments, origin: origin(), isOffered, turn: nextTurn(isUnpaid) })

const pay = (parts: Parts, call: PayableCall): Effect.Effect<PaidCall, PaymentRefusal> =>
  Effect.suspend(() => {
    const unpaid = quoteAtOnce(parts, call)
    if (unpaid !== undefined) return Effect.fail(unpaid)
    const quote = quoteOf(parts, call, false)
    if (quote === undefined) return Effect.fail(unavailable(call.shape, "No such chain is taken here just now", 60))
    const read = readPayment(call.payment)
    if (Result.isFailure(read)) return refuse(parts, { call, quote }, read.failure)
    if (read.success === null) return Effect.fail(parts.writeQuote(quote, call.shape))
    return payOffered(parts, { call, quote, payload: read.success })
  })

const payOffered = Effect.fnUntraced(function* (
  parts: Parts,
  given: Pick<Offered, "call" | "quote" | "payload">
): Effect.fn.Return<PaidCall, PaymentRefusal> {
  const offered = yield* readOffered(parts, given)
  if (offered.requirements.scheme === channelScheme) return yield* parts.channelCalls.pay(offered)
  const tooShort = yield* endsTooSoon(parts, offered)
  if (tooShort !== undefined) return yield* answerEnding(parts, offered, tooShort)
  const answer = yield* verify(parts, offered)
  switch (answer._tag) {
    case "Verified":
      return yield* hold(parts, offered, answer)
    case "Unavailable":
      return yield* turnAway(parts, given.call, answer)
    case "Refused":
      return yield* answer.code === "PAYMENT_REPLAY"
        ? answerReplay(parts, offered, answer)
        : refuse(parts, offered, answer)
  }
}, inSpan("PaymentGate.pay"))

const readOffered = Effect.fnUntraced(function* (
  parts: Parts,
  { call, quote, payload }: Pick<Offered, "call" | "quote" | "payload">
): Effect.fn.Return<Offered, PaymentRefusal> {
  const refused = (error: PaymentRefused) => refuse(parts, { call, quote }, error)
  const offers = quote.offers.map((offer) => requirementsFor(offer, payload))
  const requirements = yield* Effect.catch(Effect.fromResult(matchOffer(payload, offers)), refused)
  const identifier = yield* Effect.catch(Effect.fromResult(paymentIdentifier(payload)), refused)
  const binding = bindingOf(call)
  return { call, quote, payload, requirements, identifier, binding }
})

// Of a short text the hash is made in half the time in one go; a long one is not copied for that.
const hashedAtOnceMax = 16_384

/** The request, by its hash. */
const bindingOf = ({ method, path, body }: Pick<PayableCall, "method" | "path" | "body">): string => {
  const head = `${method} ${path}\n`
  return body.length > hashedAtOnceMax
    ? createHash("sha256").update(head).update(body).digest("hex")
    : hash("sha256", Buffer.concat([Buffer.from(head), body]), "hex")
}

const refund = Effect.fn("PaymentGate.refund")(function* (
  parts: Parts,
  { path, payment }: RefundCall
): Effect.fn.Return<RefundedChannel | undefined, PaymentRefusal> {
  const { settings, isOffered } = parts
  const quote = refundQuote(path, { payments: settings.Payments, origin: parts.origin(), isOffered })
  if (quote === undefined) return undefined
  const prices = { inputMicroUsdPerMillionTokens: 0, outputMicroUsdPerMillionTokens: 0, flatMicroUsd: undefined }
  const prompt = { textBytes: 0, images: 0 }
  const call = { shape: "chat", kind: "whole", model: "", prices, prompt, count: 0 } as const
  const refused = (error: PaymentRefused) => refuse(parts, { call, quote }, error)
  const payload = yield* Effect.catch(Effect.fromResult(readPayment(payment)), refused)
  if (payload === null) return yield* Effect.fail(parts.writeQuote(quote, call.shape))
  const offers = quote.offers.map(({ requirements }) => requirements)
  const requirements = yield* Effect.catch(Effect.fromResult(matchOffer(payload, offers)), refused)
  return yield* parts.channelCalls.refund({ call, quote, payload, requirements })
})

const refuse = (
  { count }: Parts,
  { call, quote, payload }: Refusable,
  { code, reason, payer, detail }: Omit<Refused, "claimKey" | "holder">
) => {
  const failure = { code, reason, payer: payer ?? statedPayer(payload), detail }
  return Effect.andThen(
    count("refused", code),
    Effect.fail(refusalOf(code, verificationFailed(quote, call.shape, failure)))
  )
}

interface Refusable {
  readonly call: Pick<PayableCall, "shape">
  readonly quote: Quote
  /** Undefined for what could not be read as one. */
  readonly payload?: PaymentPayload
}

/** The refusal of a payment that ends too soon for a new call. */
const endsTooSoon = Effect.fnUntraced(function* ({ settings }: Parts, { call, payload, requirements }: Offered) {
  const leftMs = (statedEndMs(payload) ?? Infinity) - (yield* Clock.currentTimeMillis)
  const wantedMs = neededMs(settings.ModelGateway, settings.Payments, call.kind)
  return leftMs < wantedMs ? tooShort(tooShortReason(requirements), leftMs, wantedMs) : undefined
})

// A voucher has no end.
const tooShortReason = ({ scheme }: PaymentRequirements) =>
  scheme === "upto" ? "permit2_deadline_expired" : "invalid_exact_evm_payload_authorization_valid_before"
const inSeconds = (ms: number) => `${Math.max(0, Math.floor(ms / 1_000))} s`
const tooShort = (reason: string, leftMs: number, neededMs: number): Refused => ({
  code: codeOf(reason),
  reason,
  payer: null,
  detail: `the authorization ends before the answer could be paid for: it is good for ${inSeconds(leftMs)}, and this call needs ${inSeconds(neededMs)}; sign a fresh one, nothing was charged`
})

/** A payment that is about to end buys no new call, but fetches the answer of its own call until long after its end. */
const answerEnding = Effect.fnUntraced(function* (
  parts: Parts,
  offered: Offered,
  refusal: Refused
): Effect.fn.Return<never, PaymentRefusal> {
  const claimKey = statedClaimKey(offered.payload, offered.requirements)
  if (claimKey === undefined) return yield* refuse(parts, offered, refusal)
  const found =
    offered.identifier === null ? yield* Effect.orElseSucceed(parts.claims.read(claimKey), Option.none) : Option.none()
  const holder = Option.isSome(found) ? { holder: found.value.record.holder } : {}
  return yield* answerReplay(parts, offered, { ...refusal, claimKey, ...holder })
})

const verify = Effect.fnUntraced(function* (
  { requests, instance, count, verifySeconds }: Parts,
  { call, payload, requirements, binding }: Offered
) {
  const ticket = newTicket()
  const { kind, model } = call
  const request = { payload, requirements, binding, kind, holder: instance, ticket, model }
  const asking = askVerifier(requests, request, count("asked_again")).pipe(
    Effect.tapError((error) => Effect.logWarning("no verifier answered", error)),
    Effect.mapError(() =>
      unavailable(call.shape, "Payments cannot be verified just now; send the same payment again", 2)
    ),
    Effect.tapError(({ code }) => count("refused", code))
  )
  return yield* timed(verifySeconds, asking)
})

// One question to a chain is enough for most answers; a verifier's own deadline is shorter than the second wait.
const firstMs = 2_000
const secondMs = 10_000

/**
 * Asks a verifier, and asks again when the one that has the question falls silent: it may have died. The second
 * verifier takes over whatever claim the first has made, for the question is the same; a later move of the first is
 * refused.
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

const turnAway = Effect.fnUntraced(function* (
  { count }: Parts,
  { shape }: PayableCall,
  answer: Unavailable
): Effect.fn.Return<never, PaymentRefusal> {
  if (answer.why === "exposure") {
    yield* count("refused", "PAYMENT_EXPOSURE_LIMIT")
    return yield* Effect.fail(exposureReached(shape, answer.retryAfterSeconds, answer.reason))
  }
  yield* count("refused", "PAYMENT_VERIFICATION_UNAVAILABLE")
  // The reason may come from a chain's node or a facilitator; it must not name which one.
  const reason = sanitise(answer.reason, { secrets: [], names: [] }) ?? "the reason is not known"
  const message = `The payment cannot be taken just now: ${reason}`
  return yield* Effect.fail(unavailable(shape, message, answer.retryAfterSeconds))
})

/** A payment that was used before: the very same call gets its answer again, or hears how far it is. */
const answerReplay = Effect.fnUntraced(function* (
  parts: Parts,
  offered: Offered,
  refused: Refused
): Effect.fn.Return<never, PaymentRefusal> {
  const { call, binding, identifier } = offered
  const { claimKey } = refused
  const isImage = call.jobId !== undefined
  const isHolderLost = identifier === null && !isImage && (yield* parts.isLost(refused.holder))
  const isHeard = identifier !== null || isImage || isHolderLost
  if (claimKey === undefined || !isHeard) return yield* refuse(parts, offered, refused)
  const busy = () => unavailable(call.shape, "The answer cannot be looked for just now; send the same payment again", 2)
  const payment = { claimKey, isImage, isHolderLost, identifier, binding }
  const replayed = yield* Effect.mapError(keptCall(parts.kept, payment), busy)
  switch (replayed._tag) {
    case "Used":
      return yield* refuse(parts, offered, refused)
    case "Free":
      return yield* refused.code === "PAYMENT_REPLAY" ? Effect.fail(busy()) : refuse(parts, offered, refused)
    case "NameTaken":
      return yield* Effect.fail(identifierTaken(call.shape))
    case "Answering":
      return yield* Effect.fail(stillAnswering(call.shape))
    case "Settling":
      return yield* Effect.fail(stillSettling(call.shape))
    case "Making":
      return yield* Effect.fail(stillMaking(call.shape, replayed.jobId))
    case "Paid":
      yield* parts.count("given_again")
      return yield* Effect.fail(paidBefore({ answer: replayed.answer, headers: settledHeaders(replayed) }))
  }
})

const hold = Effect.fnUntraced(function* (parts: Parts, offered: Offered, verified: Verified) {
  const { call, quote, identifier, binding } = offered
  const { claimKey } = verified
  // The first move of the claim shows whether it is still ours; nothing is given out before that.
  const claim = verifiedClaim(offered, verified)
  const letGo = Effect.ignore(parts.claims.move(claim, ClaimMove.Release({ reason: "its call was not begun" })))
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
    yield* held(parts.jobs.put(claimKey, { jobId: call.jobId, ticket: claim.record.ticket }))
  }
  yield* parts.count("verified")
  return yield* parts.calls.open({ call, quote, claim, identifier })
})

const make = Effect.gen(function* () {
  const settings = yield* Configuration
  const claims = yield* Claims
  const jobs = yield* PaidJobs
  const { stopped } = yield* TokenWatch
  const mailbox = yield* Mailbox
  const metrics = yield* Metrics
  const counter = metrics.counter(paymentOutcomes)
  for (const outcome of paymentOutcomes.values.outcome) counter.inc({ outcome, code: "" }, 0)
  const seconds = metrics.histogram(paymentSeconds)
  let turn = 0
  const parts: Parts = {
    settings,
    requests: yield* Requests,
    claims,
    calls: yield* PaidCalls,
    channelCalls: yield* ChannelCalls,
    kept: { claims, jobs, answers: yield* PaidAnswers },
    names: yield* CallNames,
    jobs,
    instance: mailbox.instance,
    isLost: lostHolders(mailbox),
    origin: yield* gatewayOrigin,
    isOffered: ({ Network }) => stopped(Network) === undefined,
    // Bounded, so that it stays a whole number.
    nextTurn: (isUnpaid) => (turn = isUnpaid ? (turn + 1) % turnsMax : turn),
    writeQuote: quoteWriter(bazaarTexts(settings.ModelGateway.Bazaar)),
    counter,
    count: (outcome, code = "") => Effect.sync(() => counter.inc({ outcome, code })),
    verifySeconds: (took) => seconds.observe({ stage: "verify" }, took)
  }
  return PaymentGate.of({
    quote: (call) => quoteAtOnce(parts, call),
    pay: (call) => pay(parts, call),
    refund: (call) => refund(parts, call)
  })
})

const turnsMax = 1_000_000

// Other payees, and callers that pay nothing, are still served.
const tokens = Layer.unwrap(
  Effect.gen(function* () {
    const { Payments } = yield* Configuration
    return TokenWatch.layer(yield* openChains(Payments), { isNeeded: false })
  })
)

const configuredClaims = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments)))
)

const configuredSettlements = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => Settlements.layer(Payments.LeaseSeconds * 1_000))
)

const openGate = Layer.effect(PaymentGate, make).pipe(
  Layer.provide(Layer.mergeAll(PaidCalls.layer, ChannelCalls.layer)),
  Layer.provide(Layer.mergeAll(PaidAnswers.layer, PaidJobs.layer, CallNames.layer, configuredSettlements)),
  Layer.provide(Layer.mergeAll(configuredClaims, tokens))
)

/** Sells only where payments are configured. Needs the bus, the egress and the runtime. */
export const configuredPaymentGate = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => (Payments.Networks.length === 0 ? closedGate : openGate))
)

const message = "Payments are not set up here; only free models are served"
const retryAfterSeconds = 60

/** The gate without configured payments: with no way to be paid, paid models are not served. */
const closedGate = Layer.succeed(PaymentGate, {
  quote: () => undefined,
  pay: ({ shape }) => Effect.fail(unavailable(shape, message, retryAfterSeconds)),
  refund: () => Effect.undefined
})
