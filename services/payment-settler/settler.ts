/**
 * The settler settles one payment exactly once, however often it is asked to and whichever settler died before. It
 * checks the chain before it sends anything again; an unknown outcome stays open and is never refused. When a job is
 * taken for the first time, its claim is assumed to be as the job states: the write before sending, which makes it
 * SETTLING, fails if it is not, and then the claim is read. A claim that was released in the meantime is not settled.
 *
 * Every try is counted here, whoever requested it, and every try that collects no money is logged.
 */
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import type { BusError } from "#bus"
import { channelScheme } from "#payments/contract"
import { Metrics } from "#runtime"
import { chargeOf, type Claim, ClaimMove, Claims, withFiguresOf } from "#payments"
import { Ledger } from "./ledger.ts"
import { settlementSeconds, settlementTries } from "./metrics.ts"
import { Networks } from "./networks.ts"
import {
  endAsSeen,
  endUncharged,
  endOf,
  type Faults,
  undecided,
  type OnSettled,
  type Settling,
  signAndSend,
  superseded,
  type Work
} from "./settling.ts"

interface SettleRequest {
  readonly claimKey: string
  readonly network: string
  /** When the settlement was first requested. */
  readonly requestedAtMs: number
  /** Called when the chain has the transfer; every other outcome is returned. */
  readonly onSettled?: OnSettled
  /** The claim as it was when its settlement was requested. */
  readonly assumed?: Claim | undefined
  /** Runs before the first write; if it fails, nothing is done. */
  readonly answerKept?: Effect.Effect<void, BusError>
}

export class Settler extends Context.Service<
  Settler,
  { readonly settle: (request: SettleRequest) => Effect.Effect<Settling> }
>()("starling/payment-settler/Settler") {
  static readonly layer = Layer.effect(
    Settler,
    Effect.gen(function* () {
      const services = Context.pick(Claims, Ledger, Networks)(yield* Effect.context<Claims | Ledger | Networks>())
      const report = yield* reporting([...(yield* Networks).keys()])
      const settle = Effect.fn("Settler.settle")(function* (request: SettleRequest) {
        return yield* settleOnce(request).pipe(
          Effect.provideContext(services),
          Effect.catch((error: Faults) => Effect.succeed(undecided(null, error.message))),
          // The pending write or send may have happened: the next try checks the chain first.
          Effect.catchDefect((defect) =>
            Effect.as(Effect.logError("a settlement died", defect), undecided(null, "an unexpected error"))
          ),
          Effect.tap((settling) => report(request, settling)),
          Effect.annotateLogs({ claim: request.claimKey, network: request.network })
        )
      })
      return Settler.of({ settle })
    })
  )
}

const reporting = Effect.fnUntraced(function* (networks: ReadonlyArray<string>) {
  const metrics = yield* Metrics
  const tries = metrics.counter(settlementTries)
  for (const network of networks) tries.begin({ network })
  const seconds = metrics.histogram(settlementSeconds)
  return Effect.fnUntraced(function* ({ network, requestedAtMs }: SettleRequest, settling: Settling) {
    if (settling._tag === "Superseded") return
    tries.inc({ network, outcome: settling._tag === "Undecided" ? "later" : settling.how })
    if (settling._tag === "Undecided") {
      const { detail } = settling
      return yield* Effect.logWarning("a payment's end is not known yet").pipe(Effect.annotateLogs({ detail }))
    }
    seconds.observe({ network }, ((yield* Clock.currentTimeMillis) - requestedAtMs) / 1_000)
    const { how, outcome } = settling
    if (outcome._tag !== "Refused") return
    yield* Effect.logWarning("a payment was not collected").pipe(Effect.annotateLogs({ how, reason: outcome.reason }))
  })
})

const settleOnce = Effect.fnUntraced(function* (request: SettleRequest) {
  const { onSettled = ignoreSettled, assumed, answerKept = Effect.void } = request
  const asRead = Effect.andThen(answerKept, settleAsRead(request))
  // Only if our own write before sending would detect that the claim has changed.
  const isNoticed = assumed !== undefined && (yield* Networks).get(assumed.record.network)?.isRemote === false
  if (!isNoticed) return yield* asRead
  return yield* Effect.catchTag(settleClaim(assumed, { onSettled, answerKept }), "ClaimLost", () => asRead)
})

const ignoreSettled: OnSettled = () => Effect.void

const settleAsRead = Effect.fnUntraced(function* ({ claimKey, onSettled = ignoreSettled, assumed }: SettleRequest) {
  const claims = yield* Claims
  const found = Option.getOrUndefined(yield* claims.read(claimKey))
  if (found === undefined) return superseded
  const claim = isAskedFor(found, assumed)
    ? yield* claims.move({ ...found, record: withFiguresOf(assumed.record, found.record) }, ClaimMove.Settle())
    : found
  const known = endOf(claim)
  if (known === undefined) return yield* settleClaim(claim, { onSettled, answerKept: Effect.void })
  if (known._tag === "Ended" && known.outcome._tag === "Settled") yield* onSettled(known.outcome.transaction)
  return known
})

/** Whether the claim is still in the life in which its holder requested settlement. */
const isAskedFor = ({ record }: Claim, assumed: Claim | undefined): assumed is Claim =>
  assumed?.record.ticket === record.ticket && (record.state === "CLAIMED" || record.state === "SERVING")

const settleClaim = Effect.fnUntraced(function* (
  claim: Claim,
  request: Pick<Work, "onSettled" | "answerKept">
): Effect.fn.Return<Settling, Faults, Claims | Ledger | Networks> {
  const { record } = claim
  const network = (yield* Networks).get(record.network)
  if (network === undefined || record.payment === null) {
    return undecided(null, `${record.network} is not configured here`)
  }
  const { payload, requirements } = record.payment
  const scheme = requirements.scheme === channelScheme ? undefined : network.schemes[requirements.scheme]
  if (scheme === undefined) return undecided(null, `${requirements.scheme} does not work on ${record.network}`)
  // Checked as of the time of the claim: a payment that passed then passes now, and its end counts from there.
  const payment = Result.flatMap(scheme.checkAgain(payload, requirements, record.claimedAtMs), (checked) =>
    scheme.charging(checked, chargeOf(record))
  )
  if (Result.isFailure(payment)) return undecided(null, `it does not pass its checks: ${payment.failure.reason}`)
  const { pool, isRemote } = network
  const transaction = record.transactions.at(-1) ?? null
  return yield* lookOrSend({ claim, payment: payment.success, scheme, pool, isRemote, transaction, ...request })
})

const whyLost = {
  spent: "the authorization was used up without the transfer",
  expired: "its time is over and the chain has no transfer"
}

const lookOrSend = Effect.fnUntraced(function* (work: Work) {
  if (work.payment.charge === 0n) return yield* endUncharged(work)
  // As far as the job tells, no settler was here before. If one was, storing the transaction's name fails.
  const isFirst = work.transaction === null && work.claim.record.asked <= 1 && !work.isRemote
  if (isFirst) return yield* signAndSend(work)
  const status = yield* work.scheme.look(work.payment, work.transaction)
  return yield* endAsSeen(work, { status, reason: whyLost }) ?? signAndSend(work)
})
