/**
 * Settles one payment exactly once, however often it is asked to and whoever died before. The chain is looked at
 * before anything is sent again; what is not known stays to be looked at and is never refused. The first time a job
 * is taken its claim is believed to be as the job says: the write before the sending, which makes it SETTLING, fails
 * if it is not, and then the claim is read. One that was let go meanwhile is not settled.
 */
import { Context, Effect, Layer, Option, Result } from "effect"
import type { BusError } from "#bus"
import { ClaimMove, type Claim, Claims } from "#x402"
import { endAsTold } from "./end-payment.ts"
import { Ledger } from "./Ledger.ts"
import { Networks } from "./Networks.ts"
import { endOf, type Faults, later, type OnSettled, type Settling, stale, type Work } from "./settling.ts"
import { signAndSend } from "./sign-and-send.ts"

export class Settler extends Context.Service<
  Settler,
  {
    /**
     * What is settled is told to `onSettled` when the chain has it; everything else by what comes back. `told`: the
     * claim as it was when it was asked to. `answerKept`: comes before the first write; where it fails, nothing is done.
     */
    readonly settle: (
      claimKey: string,
      onSettled: OnSettled,
      told?: Claim,
      answerKept?: Effect.Effect<void, BusError>
    ) => Effect.Effect<Settling>
  }
>()("starling/payment-settler/Settler") {
  static readonly layer = Layer.effect(
    Settler,
    Effect.gen(function* () {
      const claims = yield* Claims
      const networks = yield* Networks
      const books = { claims, ledger: yield* Ledger }

      const decide = Effect.fnUntraced(function* (work: Work): Effect.fn.Return<Settling, Faults> {
        // Nobody was here before us: what is on the chain is told by the question that comes before sending.
        const isFirst = work.transaction === null && work.claim.record.asked <= 1 && !work.isRemote
        if (isFirst) return yield* signAndSend(books, work)
        const standing = yield* work.scheme.look(work.payment, work.transaction)
        return yield* endAsTold(books, work, standing, whyLost) ?? signAndSend(books, work)
      })

      const settleClaim = (
        claim: Claim,
        asked: Pick<Work, "onSettled" | "answerKept" | "isTold">
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
        const { scheme, ring, isRemote } = network
        const transaction = record.transactions.at(-1) ?? null
        return decide({ claim, payment: payment.success, scheme, ring, isRemote, transaction, ...asked })
      }

      const settleAsRead = Effect.fnUntraced(function* (claimKey: string, onSettled: OnSettled, told?: Claim) {
        const found = Option.getOrUndefined(yield* claims.read(claimKey))
        if (found === undefined) return stale
        const claim = isAskedFor(found, told) ? yield* claims.move(found, ClaimMove.Settle()) : found
        const known = endOf(claim)
        if (known === undefined) return yield* settleClaim(claim, { onSettled, answerKept: Effect.void, isTold: false })
        if (known._tag === "Ended" && known.outcome._tag === "Settled") yield* onSettled(known.outcome.transaction)
        return known
      })

      const settle = Effect.fn("Settler.settle")(function* (
        claimKey: string,
        onSettled: OnSettled,
        told?: Claim,
        answerKept: Effect.Effect<void, BusError> = Effect.void
      ) {
        const asRead = Effect.andThen(answerKept, settleAsRead(claimKey, onSettled, told))
        // Only where our own write before the sending would notice that it was told long ago.
        const isNoticed = told !== undefined && networks.get(told.record.network)?.isRemote === false
        const settling = isNoticed
          ? Effect.catchTag(settleClaim(told, { onSettled, answerKept, isTold: true }), "ClaimLost", () => asRead)
          : asRead
        return yield* Effect.catch(settling, (error: Faults) => Effect.succeed(later(null, error.message)))
      })
      return Settler.of({ settle })
    })
  )
}

/** Still in the very life in which its holder asked. */
const isAskedFor = ({ record }: Claim, told: Claim | undefined) =>
  told?.record.ticket === record.ticket && (record.state === "CLAIMED" || record.state === "SERVING")

const whyLost = {
  spent: "the authorization was used up without the transfer",
  expired: "its time is over and the chain has no transfer"
}
