/**
 * The till where payments are set up: quotes a call, reads and matches its payment, asks a verifier, and holds what is
 * verified until the call has ended. Every 402 carries a fresh quote. Nothing is charged before an answer is made,
 * and what nobody can verify now is 503, so that the same payment can be sent again.
 */
import { createHash, randomBytes } from "node:crypto"
import { Clock, Effect, Layer, Option, Schedule } from "effect"
import { Mailbox, Requests } from "#bus"
import type { PaymentPayload, PaymentRequirements, VerifyAnswer } from "#contracts"
import { Addresses, Configuration, Metrics, timed } from "#runtime"
import {
  claimOptionsOf,
  Claims,
  codeOf,
  matchOffer,
  paymentIdentifier,
  type PaymentRefused,
  paymentRequired,
  type Quote,
  readPayment,
  settledHeaders,
  verificationFailed,
  verifiedClaim
} from "#x402"
import { type CallFacts, type PayableCall, PaymentRefusal, Till } from "../Till.ts"
import { askVerifier } from "./ask-verifier.ts"
import { CallNames } from "./CallNames.ts"
import { HeldPayments } from "./HeldPayments.ts"
import { tillCalls, tillSeconds } from "./metrics.ts"
import { PaidAnswers } from "./PaidAnswers.ts"
import { neededMs, validBeforeMsOf } from "./payment-times.ts"
import { quoteCall } from "./quote-call.ts"
import { SettlementDesk } from "./SettlementDesk.ts"
import { identifierTaken, refusalOf, stillSettling, unavailable } from "./till-replies.ts"

interface Brought {
  readonly call: PayableCall
  readonly quote: Quote
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
  readonly identifier: string | null
  readonly binding: string
}

type Refused = Extract<VerifyAnswer, { readonly _tag: "Refused" }>
type Verified = Extract<VerifyAnswer, { readonly _tag: "Verified" }>

const tooShort = "invalid_exact_evm_payload_authorization_valid_before"

const make = Effect.gen(function* () {
  const { ModelGateway, Payments } = yield* Configuration
  const requests = yield* Requests
  const claims = yield* Claims
  const answers = yield* PaidAnswers
  const names = yield* CallNames
  const held = yield* HeldPayments
  const { instance } = yield* Mailbox
  const addresses = yield* Addresses
  const metrics = yield* Metrics
  const counter = metrics.counter(tillCalls)
  const seconds = metrics.histogram(tillSeconds)
  const count = (outcome: string, code = "") => Effect.sync(() => counter.inc({ outcome, code }))

  /** Where any free port is taken, only the listener knows how callers reach it. */
  const origin =
    ModelGateway.Port !== 0
      ? Effect.succeed(ModelGateway.Origin)
      : Effect.map(addresses.all, (all) => all.get("model-gateway") ?? ModelGateway.Origin)

  const quote = Effect.fnUntraced(function* (facts: CallFacts, shape: PayableCall["shape"]) {
    const made = quoteCall(Payments, yield* origin, facts)
    return made ?? (yield* Effect.fail(unavailable(shape, "No such chain is taken here", 60)))
  })

  const refuse = (
    { call, quote }: Pick<Brought, "call" | "quote">,
    { code, reason, payer, detail }: Pick<PaymentRefused, "code" | "reason" | "payer"> & { readonly detail?: string }
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
    const validBeforeMs = validBeforeMsOf(payload)
    const untilMs = (yield* Clock.currentTimeMillis) + neededMs(ModelGateway, Payments, call.kind)
    if (validBeforeMs !== undefined && validBeforeMs < untilMs) {
      const detail = "the authorization ends before the answer could be paid for"
      return yield* refuse({ call, quote }, { code: codeOf(tooShort), reason: tooShort, payer: null, detail })
    }
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

  /** A payment that was used: whoever lost the answer to the very same call is given it again. */
  const givenAgain = Effect.fnUntraced(function* (brought: Brought, refused: Refused) {
    const { call, binding, identifier } = brought
    const isImage = call.path.endsWith("/images/generations")
    if (refused.claimKey === undefined || (identifier === null && !isImage)) return yield* refuse(brought, refused)
    const { claimKey } = refused
    const busy = () =>
      unavailable(call.shape, "The answer cannot be looked for just now; send the same payment again", 2)
    const answer = Option.getOrUndefined(yield* Effect.mapError(answers.find(claimKey), busy))
    const claim = Option.getOrUndefined(yield* Effect.mapError(endSoon(claimKey), busy))
    const isSameName = identifier !== null && answer?.label.identifier === identifier
    if (isSameName && answer?.label.binding !== binding) return yield* Effect.fail(identifierTaken(call.shape))
    const isSame = answer?.label.binding === binding && (isSameName || (isImage && identifier === null))
    if (!isSame || answer === undefined || claim === undefined) return yield* refuse(brought, refused)
    const { network, payer, state, transactions } = claim.record
    const transaction = transactions.at(-1)
    if (state === "SETTLING") return yield* Effect.fail(stillSettling(call.shape))
    if (state !== "SETTLED" || transaction === undefined) return yield* refuse(brought, refused)
    yield* count("given_again")
    const headers = { "content-type": "application/json", ...settledHeaders({ transaction, network, payer }) }
    const body = Buffer.from(answer.body).toString("utf8")
    return yield* Effect.fail(new PaymentRefusal({ status: 200, code: "PAID_BEFORE", headers, body }))
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
    yield* count("verified")
    return yield* held.hold({ call, quote, claim, identifier })
  })

  const pay = Effect.fn("Till.pay")(function* (call: PayableCall) {
    const payment = yield* brought(call, yield* quote(call, call.shape))
    const answer = yield* ask(payment)
    if (answer._tag === "Verified") return yield* holdIt(payment, answer)
    if (answer._tag === "Unavailable") {
      yield* count("refused", "PAYMENT_VERIFICATION_UNAVAILABLE")
      const message = `The payment cannot be taken just now: ${answer.reason}`
      return yield* Effect.fail(unavailable(call.shape, message, answer.retryAfterSeconds))
    }
    return yield* answer.code === "PAYMENT_REPLAY" ? givenAgain(payment, answer) : refuse(payment, answer)
  })
  return Till.of({ quote: (facts) => quote(facts, "chat"), pay })
})

const claims = Layer.unwrap(Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments))))

/** Needs the bus and the runtime. */
export const paymentTill = Layer.effect(Till, make).pipe(
  Layer.provide(HeldPayments.layer),
  Layer.provide(Layer.mergeAll(PaidAnswers.layer, CallNames.layer, SettlementDesk.layer)),
  Layer.provide(claims)
)

/** Sells only where payments are set up. */
export const configuredTill = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => (Payments.Networks.length === 0 ? Till.layerClosed : paymentTill))
)
