/**
 * A paid call, by any payment method. Its payment is taken before its provider is called, and renewed as long as the
 * call lasts. It is released before a failure is reported, or charged once the answer is complete; a stream whose
 * payment would end before the stream does is charged while it continues. `paid-call.ts` defines when each of these
 * happens, and a `PaymentMethod` how.
 *
 * If the charge follows the use, each step from the first byte on records it: if this gateway dies, the last recorded
 * charge applies.
 */
import { Clock, Context, Effect, Layer, type Scope } from "effect"
import { Configuration } from "#configuration"
import { Metrics, supervise } from "#runtime"
import { atomicAmount, type Tariff, tariffOf } from "#payments"
import { charged, signedAndCharged } from "../metrics.ts"
import { capped, leastPrice, noUsage, type Used, usedPrice } from "./charge.ts"
import { type CallTasks, type EndedAnswer, NotAsked, openCall, type PaidCall, type SettledCall } from "./paid-call.ts"
import { patiently } from "./patiently.ts"
import { type PaymentFigures, paymentFigures } from "./payment-figures.ts"
import type { ChargedAnswer, ChargedPayment, NotMoved, Payment, PaymentMethod } from "./payment-method.ts"
import { type PaymentRefusal, unavailable } from "./replies.ts"

export class PaidCalls extends Context.Service<
  PaidCalls,
  {
    readonly pay: <Offered, Taken extends Payment>(
      method: PaymentMethod<Offered, Taken>,
      offered: Offered
    ) => Effect.Effect<PaidCall, PaymentRefusal>
  }
>()("starling/model-gateway/PaidCalls") {
  static readonly layer = Layer.effect(
    PaidCalls,
    Effect.gen(function* () {
      const { Payments } = yield* Configuration
      const metrics = yield* Metrics
      const revenue = metrics.counter(charged)
      const bySchemes = metrics.counter(signedAndCharged)
      const parts: Parts = {
        ...(yield* paymentFigures),
        tariff: tariffOf(Payments),
        leaseMs: Payments.LeaseSeconds * 1_000,
        calls: new Set(),
        scope: yield* Effect.scope,
        earned: ({ payment, charge }, outcome) =>
          Effect.sync(() => {
            const { call, scheme, ceiling, decimals } = payment
            const usdOf = (units: bigint) => Number(units) / 10 ** decimals
            revenue.inc({ model: call.model, outcome }, usdOf(charge))
            bySchemes.inc({ scheme, part: "signed" }, usdOf(ceiling))
            bySchemes.inc({ scheme, part: "charged" }, usdOf(charge))
          })
      }
      yield* Effect.forkScoped(supervise("leases of paid calls", lookAfterAll(parts)))
      return PaidCalls.of({ pay: (method, offered) => pay(parts, method, offered) })
    })
  )
}

interface Parts extends PaymentFigures {
  readonly tariff: Tariff
  readonly leaseMs: number
  /** The calls whose payments are held. */
  readonly calls: Set<OpenCall>
  readonly scope: Scope.Scope
  /** Counts the price of a call that was answered. */
  readonly earned: (call: OpenCall, outcome: ChargedPayment["outcome"]) => Effect.Effect<void>
}

/** A call in progress, and its payment with the method that took it. */
interface OpenCall {
  readonly method: PaymentMethod<never, Payment>
  readonly payment: Payment
  /** The charge for everything sent so far. */
  charge: bigint
  answer: Omit<ChargedAnswer, "charge">
  /** Requests the charge; runs once, for the first caller. */
  ask: ReturnType<PaymentMethod<never, Payment>["charge"]>
  /** The charge was requested as it was: nothing more may be sent. */
  isClosed: boolean
  /** Another process has the payment, which was never stored for this call: there is nothing to release. */
  isLost: boolean
  onLost: (refusal: PaymentRefusal) => void
  renewAtMs: number
  isRenewing: boolean
  /** For a stream whose payment has an end: it is charged then, although the stream continues. */
  ending: { readonly atMs: number; readonly force: Effect.Effect<void> } | undefined
}

const pay = Effect.fnUntraced(function* <Offered, Taken extends Payment>(
  parts: Parts,
  method: PaymentMethod<Offered, Taken>,
  offered: Offered
): Effect.fn.Return<PaidCall, PaymentRefusal> {
  const payment = yield* method.take(offered)
  yield* parts.count("verified")
  const { call, endsAtMs, storedWithinMs } = payment
  const nowMs = yield* Clock.currentTimeMillis
  const held: OpenCall = {
    method,
    payment,
    charge: chargeFor(parts, payment, noUsage),
    answer: { cost: null, body: null },
    ask: Effect.suspend(() => method.charge(payment, { ...held.answer, charge: held.charge })),
    isClosed: false,
    isLost: false,
    onLost: () => undefined,
    renewAtMs: nowMs + Math.min(parts.leaseMs * shareOfLease, storedWithinMs ?? parts.leaseMs),
    isRenewing: false,
    ending: undefined
  }
  parts.calls.add(held)
  const tasks = tasksOf(parts, held)
  if (endsAtMs === undefined) {
    const paid = openCall(tasks)
    return storedWithinMs === undefined ? paid : { ...paid, lost: (onLost) => void (held.onLost = onLost) }
  }
  // The charge of a payment with an end can be requested twice.
  held.ask = yield* Effect.cached(held.ask)
  const paid = openCall(tasks, Math.max(0, endsAtMs - nowMs))
  if (call.kind === "stream") held.ending = { atMs: endsAtMs, force: paid.force }
  return paid
})

const chargeFor = ({ tariff }: Parts, { call, ceiling, decimals, isMetered }: Payment, used: Used): bigint =>
  isMetered ? capped(atomicAmount(usedPrice(tariff, call, used), decimals), ceiling) : ceiling

const tasksOf = (parts: Parts, held: OpenCall): CallTasks => ({
  serve: serve(held),
  force: force(parts, held),
  release: release(parts, held, false),
  abandon: release(parts, held, true),
  keep: Effect.andThen(letGo(parts, held), Effect.logWarning("a stream that failed was settled before it did")),
  measure: (used) => measure(parts, held, used),
  settle: (answer) => settle(parts, held, answer)
})

/** False if even the minimum that it can cost is more than was signed: then nothing more may be sent. */
const measure = (parts: Parts, held: OpenCall, used: Used): boolean => {
  const { call, ceiling, decimals, isMetered } = held.payment
  if (!isMetered) return true
  if (held.isClosed || atomicAmount(leastPrice(parts.tariff, call, used), decimals) > ceiling) return false
  held.charge = chargeFor(parts, held.payment, used)
  return true
}

const letGo = ({ calls }: Parts, held: OpenCall) => Effect.sync(() => calls.delete(held))

// A missed renewal can be made up for twice before the lease expires.
const shareOfLease = 1 / 4
// How late a renewal can be.
const roundMsMax = 125

/** One loop serves all calls: most of them end before it reaches them. */
const lookAfterAll = ({ calls, leaseMs, scope }: Parts) => {
  const round = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    for (const held of calls) {
      const { ending } = held
      if (ending !== undefined && nowMs >= ending.atMs) {
        held.ending = undefined
        yield* Effect.forkIn(ending.force, scope)
      } else if (!held.isRenewing && nowMs >= held.renewAtMs) {
        held.renewAtMs = nowMs + leaseMs * shareOfLease
        held.isRenewing = true
        yield* Effect.forkIn(renew(calls, held), scope)
      }
    }
  })
  return Effect.forever(Effect.delay(round, Math.min(leaseMs / 12, roundMsMax)))
}

const renew = (calls: Parts["calls"], held: OpenCall) =>
  held.method.renew(held.payment, held.charge).pipe(
    Effect.catchTag("PaymentLost", (lost) => {
      // A call that has ended in the meantime no longer needs it.
      if (!calls.has(held)) return Effect.void
      held.renewAtMs = Number.POSITIVE_INFINITY
      return Effect.andThen(onLost(held, lost), Effect.logWarning("a payment was lost to another process", lost.cause))
    }),
    Effect.catch((error) => Effect.logWarning("a payment could not be held on", error)),
    Effect.ensuring(Effect.sync(() => void (held.isRenewing = false)))
  )

/** The refusal of a call whose payment was never stored; undefined for one whose payment was. */
const onLost = Effect.fnUntraced(function* (held: OpenCall, error: NotMoved) {
  if (error._tag !== "PaymentLost" || error.refusal === null) return undefined
  held.isLost = true
  const refusal = yield* error.refusal
  held.onLost(refusal)
  return refusal
})

const causeOf = (error: NotMoved) => (error._tag === "PaymentLost" ? error.cause : error)

/** The answer to a caller whose payment could not be moved. */
const refusalFor = Effect.fnUntraced(function* (held: OpenCall, error: NotMoved, message: string) {
  yield* Effect.logWarning("a payment could not be moved on", causeOf(error))
  return (yield* onLost(held, error)) ?? unavailable(held.payment.call.shape, message, 1)
})

const serve = (held: OpenCall): Effect.Effect<void, PaymentRefusal> =>
  Effect.suspend(() => held.method.serve(held.payment, held.charge)).pipe(
    Effect.catch((error) => Effect.flip(refusalFor(held, error, "The payment could not be held")))
  )

const force = Effect.fnUntraced(
  function* (parts: Parts, held: OpenCall) {
    yield* letGo(parts, held)
    held.isClosed = true
    yield* parts.count("forced")
    yield* Effect.asVoid(held.ask)
  },
  Effect.catch((error) => Effect.logError("a stream could not be settled before its payment ends", causeOf(error)))
)

const release = Effect.fnUntraced(function* (parts: Parts, held: OpenCall, isPayersDoing: boolean) {
  yield* letGo(parts, held)
  if (held.isLost) return
  yield* parts.count("released")
  yield* patiently(held.method.release(held.payment, isPayersDoing)).pipe(
    Effect.catch((error) => Effect.logWarning("a payment is let go when its lease ends", causeOf(error)))
  )
})

const settle = Effect.fnUntraced(function* (
  parts: Parts,
  held: OpenCall,
  { body, costMicroUsd, used }: EndedAnswer
): Effect.fn.Return<SettledCall, PaymentRefusal | NotAsked> {
  const { payment, method } = held
  if (used !== null && !held.isClosed) held.charge = chargeFor(parts, payment, used)
  held.isClosed = true
  held.answer = { body, cost: costMicroUsd === null ? null : atomicAmount(costMicroUsd, payment.decimals) }
  const asked = yield* held.ask.pipe(
    Effect.ensuring(letGo(parts, held)),
    Effect.catch((error) =>
      Effect.flatMap(refusalFor(held, error, method.uncharged), (refusal) => Effect.fail(new NotAsked({ refusal })))
    )
  )
  const { outcome, headers } = yield* asked
  yield* parts.count(outcome)
  yield* parts.earned(held, outcome)
  return { headers }
})
