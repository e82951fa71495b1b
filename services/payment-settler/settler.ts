/**
 * The settler settles one payment exactly once, however often it is asked to and whoever died before. The chain is
 * looked at before anything is sent again; what is not known stays to be looked at and is never refused. The first time
 * a job is taken its claim is assumed to be as the job says: the write before the sending, which makes it SETTLING,
 * fails if it is not, and then the claim is read. One that was let go meanwhile is not settled.
 */
import { Context, Effect, Layer, Option, Result } from "effect"
import type { BusError } from "#bus"
import { type Claim, ClaimMove, Claims } from "#x402"
import { Ledger } from "./ledger.ts"
import { Networks } from "./networks.ts"
import {
  endAsSeen,
  endOf,
  type Faults,
  later,
  type OnSettled,
  type Records,
  type Settling,
  signAndSend,
  stale,
  type Work
} from "./settling.ts"

interface SettleRequest {
  /** Called when the chain has the transfer; everything else is told by what comes back. */
  readonly onSettled: OnSettled
  /** The claim as it was when its settlement was asked for. */
  readonly assumed?: Claim | undefined
  /** Comes before the first write; where it fails, nothing is done. */
  readonly answerKept?: Effect.Effect<void, BusError>
}

export class Settler extends Context.Service<
  Settler,
  { readonly settle: (claimKey: string, request: SettleRequest) => Effect.Effect<Settling> }
>()("starling/payment-settler/Settler") {
  static readonly layer = Layer.effect(
    Settler,
    Effect.gen(function* () {
      const networks = yield* Networks
      const records = { claims: yield* Claims, ledger: yield* Ledger }
      const deps: Dependencies = { networks, records }

      const settle = Effect.fn("Settler.settle")(function* (claimKey: string, request: SettleRequest) {
        const { onSettled, assumed, answerKept = Effect.void } = request
        const asRead = Effect.andThen(answerKept, settleAsRead(deps, claimKey, request))
        // Only where our own write before the sending would notice that the claim is another by now.
        const isNoticed = assumed !== undefined && networks.get(assumed.record.network)?.isRemote === false
        const settling = isNoticed
          ? Effect.catchTag(
              settleClaim(deps, assumed, { onSettled, answerKept, isAssumed: true }),
              "ClaimLost",
              () => asRead
            )
          : asRead
        return yield* Effect.catch(settling, (error: Faults) => Effect.succeed(later(null, error.message)))
      })
      return Settler.of({ settle })
    })
  )
}

interface Dependencies {
  readonly networks: Networks["Service"]
  readonly records: Records
}

const settleAsRead = Effect.fnUntraced(function* (
  deps: Dependencies,
  claimKey: string,
  { onSettled, assumed }: SettleRequest
) {
  const { claims } = deps.records
  const found = Option.getOrUndefined(yield* claims.read(claimKey))
  if (found === undefined) return stale
  const claim = isAskedFor(found, assumed) ? yield* claims.move(found, ClaimMove.Settle()) : found
  const known = endOf(claim)
  if (known === undefined) {
    return yield* settleClaim(deps, claim, { onSettled, answerKept: Effect.void, isAssumed: false })
  }
  if (known._tag === "Ended" && known.outcome._tag === "Settled") yield* onSettled(known.outcome.transaction)
  return known
})

/** Still in the very life in which its holder asked. */
const isAskedFor = ({ record }: Claim, assumed: Claim | undefined) =>
  assumed?.record.ticket === record.ticket && (record.state === "CLAIMED" || record.state === "SERVING")

const settleClaim = (
  { networks, records }: Dependencies,
  claim: Claim,
  request: Pick<Work, "onSettled" | "answerKept" | "isAssumed">
): Effect.Effect<Settling, Faults> => {
  const { record } = claim
  const network = networks.get(record.network)
  if (network === undefined || record.payment === null) {
    return Effect.succeed(later(null, `${record.network} is not configured here`))
  }
  const { payload, requirements } = record.payment
  // As it was when it was claimed: what has passed then passes now, and its end is counted from there.
  const payment = network.scheme.checkAgain(payload, requirements, record.claimedAtMs)
  if (Result.isFailure(payment)) {
    return Effect.succeed(later(null, `it does not pass its checks: ${payment.failure.reason}`))
  }
  const { scheme, pool, isRemote } = network
  const transaction = record.transactions.at(-1) ?? null
  return lookOrSend(records, { claim, payment: payment.success, scheme, pool, isRemote, transaction, ...request })
}

const whyLost = {
  spent: "the authorization was used up without the transfer",
  expired: "its time is over and the chain has no transfer"
}

const lookOrSend = Effect.fnUntraced(function* (records: Records, work: Work): Effect.fn.Return<Settling, Faults> {
  // Nobody was here before us: what is on the chain is told by the question that comes before sending.
  const isFirst = work.transaction === null && work.claim.record.asked <= 1 && !work.isRemote
  if (isFirst) return yield* signAndSend(records, work)
  const standing = yield* work.scheme.look(work.payment, work.transaction)
  return yield* endAsSeen(records, work, { standing, reason: whyLost }) ?? signAndSend(records, work)
})
