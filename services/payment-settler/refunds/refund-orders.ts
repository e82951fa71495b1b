/**
 * Operators' refund orders, and refunds that have not ended: on each network one settler with a key to send with
 * continues them under a lease, whoever accepted the order.
 */
import { Clock, Effect, Fiber, Layer, Option, Schedule, type Scope, Stream } from "effect"
import { type BusError, jsonCodec, Leases, Mailbox, Requests } from "#bus"
import { RefundAnswer, RefundOrder, type RefundedPayment } from "#payments/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Metrics, supervise } from "#runtime"
import { refundsOpen } from "../metrics.ts"
import { retryDelayMs } from "../settlements.ts"
import { isOpen } from "./refund.ts"
import { type RefundingNetwork, Refunds } from "./Refunds.ts"

export const refundOrderCodec = jsonCodec(RefundOrder)
export const refundAnswerCodec = jsonCodec(RefundAnswer)

// Operators send one at a time; each waits for a block.
const ordersAtOnce = 8
const ordersWaitingMax = 32
// An order is answered with what is known by then, before its caller times out.
const answerWithin = "15 seconds"

export const refundOrders = Layer.effectDiscard(
  Effect.gen(function* () {
    const refunds = yield* Refunds
    const scope = yield* Effect.scope
    yield* (yield* Requests).answer({
      subject: subjects.paymentsRefunds,
      queueGroup: "payment-settler",
      question: refundOrderCodec,
      answer: refundAnswerCodec,
      concurrency: ordersAtOnce,
      waitingMax: ordersWaitingMax,
      handler: (order) => Effect.catch(obey(refunds, order, scope), ({ message }) => Effect.succeed(postponed(message)))
    })
    const { PaymentSettler } = yield* Configuration
    const { instance } = yield* Mailbox
    const leases = yield* Leases
    const open = (yield* Metrics).gauge(refundsOpen)
    for (const [name, network] of refunds.networks) {
      open.set({ network: name }, 0)
      const key = `refunds-${name.replace(/[^A-Za-z0-9_-]/gu, "-")}`
      const keeper = { refunds, name, everyMs: PaymentSettler.SweepSeconds * 1_000, gauge: open }
      const whileHeld = leases.whileHeld({ key, holder: instance }, keep(keeper))
      yield* Effect.forkScoped(supervise(`refunds on ${name}`, whileKeyed(network, whileHeld)))
    }
  })
)

const postponed = (why: string): RefundAnswer => ({ _tag: "Later", why: why.slice(0, 1_000) })

const obey = Effect.fn("Refunds.obey")(function* (
  refunds: Refunds["Service"],
  order: RefundOrder,
  scope: Scope.Scope
): Effect.fn.Return<RefundAnswer, BusError> {
  const answer = yield* refunds.order(order)
  if (answer._tag !== "Done" || answer.refund.state !== "ordered") return answer
  // It continues after its caller has stopped waiting.
  const carried = yield* Effect.forkIn(Effect.result(refunds.carry(order)), scope)
  const result = yield* Effect.timeoutOption(Fiber.join(carried), answerWithin)
  if (Option.isSome(result) && result.value._tag === "Failure") {
    yield* Effect.logWarning("a refund's end is not known yet", result.value.failure)
  }
  const refund = Option.getOrElse(yield* refunds.find(order), () => answer.refund)
  return { _tag: "Done", refund }
})

/** A process without a key to send with leaves them to one that has one. */
const whileKeyed = <E, R>({ pool }: Pick<RefundingNetwork, "pool">, work: Effect.Effect<never, E, R>) =>
  Effect.forever(Effect.andThen(pool.some.await, Effect.raceFirst(work, pool.none.await)))

interface Keeper {
  readonly refunds: Refunds["Service"]
  readonly name: string
  readonly everyMs: number
  readonly gauge: { readonly set: (labels: { readonly network: string }, count: number) => void }
}

// How long the process that accepted the order works on it alone.
const recentMs = 5_000
const carriedAtOnce = 4

const keep = Effect.fnUntraced(function* ({ refunds, name, everyMs, gauge }: Keeper) {
  const open = new Map<string, RefundedPayment>()
  const nextMs = new Map<string, number>()
  const follow = Stream.runForEach(refunds.bucket.changes, ({ key, entry }) =>
    Effect.sync(() => {
      const payment = Option.getOrUndefined(entry)?.value
      if (payment?.receipt.network === name && isOpen(payment)) open.set(key, payment)
      else open.delete(key)
    })
  )
  const due = (nowMs: number) =>
    [...open].flatMap(([claimKey, payment]) =>
      payment.refunds.flatMap(({ key, state, orderedAtMs }) => {
        const at = nextMs.get(`${claimKey} ${key}`) ?? orderedAtMs + recentMs
        return state === "ordered" && at <= nowMs ? [{ claimKey, key, orderedAtMs }] : []
      })
    )
  const sweep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const all = [...open.values()].flatMap(({ refunds: each }) => each.filter(({ state }) => state === "ordered"))
    gauge.set({ network: name }, all.length)
    if (open.size === 0) nextMs.clear()
    yield* Effect.forEach(
      due(nowMs),
      ({ orderedAtMs, ...refund }) => {
        nextMs.set(`${refund.claimKey} ${refund.key}`, nowMs + retryDelayMs(orderedAtMs, nowMs))
        return Effect.catch(refunds.carry(refund), (error) =>
          Effect.annotateLogs(Effect.logWarning("a refund's end is not known yet", error), { claim: refund.claimKey })
        )
      },
      { concurrency: carriedAtOnce, discard: true }
    )
  })
  yield* Effect.raceFirst(follow, Effect.repeat(sweep, Schedule.spaced(everyMs)))
})
