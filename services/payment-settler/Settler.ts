/**
 * Settles one payment exactly once, however often it is asked to and whoever died before. The chain is looked at
 * before anything is sent again; the name of a transaction is written into the claim before it is sent, by a
 * write that only one settler can make; what is not known stays to be looked at and is never refused. A receipt
 * is written before the claim ends.
 */
import { Context, Effect, Layer, Result } from "effect"
import type { BusError } from "#bus"
import type { SettlementJob, SettlementOutcome } from "#contracts"
import {
  type ChainUnavailable,
  type CheckedPayment,
  type Claim,
  type ClaimLost,
  Claims,
  type PaymentRefused,
  type PaymentScheme,
  type PreparedSettlement,
  type SettlementRefused
} from "#x402"
import { type KeyLease, type KeyRing } from "./KeyRing.ts"
import { Ledger } from "./Ledger.ts"
import { Networks } from "./Networks.ts"

/** `Ended`: told, recorded, never again. `Later`: what is known by now, and look again. */
export type Settling =
  | {
      readonly _tag: "Ended"
      readonly outcome: SettlementOutcome
      readonly how: "settled" | "withheld" | "uncollected"
    }
  | { readonly _tag: "Stale" }
  | { readonly _tag: "Later"; readonly outcome: SettlementOutcome; readonly detail: string }

type Faults = ChainUnavailable | BusError | ClaimLost

interface Work {
  readonly claim: Claim
  readonly payment: CheckedPayment
  readonly scheme: PaymentScheme
  readonly ring: KeyRing
  /** Somebody else sends, and what they have sent is in no claim. */
  readonly isRemote: boolean
  /** The newest that was signed for it. */
  readonly transaction: string | null
}

export class Settler extends Context.Service<
  Settler,
  { readonly settle: (job: Pick<SettlementJob, "claimKey">) => Effect.Effect<Settling> }
>()("starling/payment-settler/Settler") {
  static readonly layer = Layer.effect(
    Settler,
    Effect.gen(function* () {
      const claims = yield* Claims
      const ledger = yield* Ledger
      const networks = yield* Networks

      const settled = Effect.fnUntraced(function* ({ claim }: Work, transaction: string, mayExist: boolean) {
        yield* ledger.write(claim, { outcome: "settled", transaction, reason: null }, mayExist)
        yield* claims.settled(claim, transaction)
        return ended("settled", { _tag: "Settled", transaction })
      })

      /** The chain can make no transfer any more: whoever has an answer has not paid for it. */
      const lost = Effect.fnUntraced(function* (work: Work, reason: string, isPayersDoing: boolean) {
        const { claim, transaction } = work
        const isGivenOut = yield* hasAnswer(claims, claim)
        yield* ledger.write(claim, { outcome: "uncollected", transaction, reason }, true)
        const how = isGivenOut || isPayersDoing ? "uncollected" : "withheld"
        yield* how === "uncollected" ? claims.uncollected(claim, reason) : claims.withheld(claim, reason)
        return ended(how, { _tag: "Refused", code: "PAYMENT_INVALID", reason: reason.slice(0, 256) })
      })

      /** The chain would refuse it now. What was given out is tried for until its time is over; what was not is let go. */
      const refused = Effect.fnUntraced(function* (work: Work, refusal: PaymentRefused | SettlementRefused) {
        const standing = yield* work.scheme.look(work.payment, work.transaction)
        if (standing._tag === "Settled") return yield* settled(work, standing.transaction, true)
        if (standing._tag === "Spent") return yield* lost(work, refusal.reason, true)
        if (standing._tag === "Expired") return yield* lost(work, refusal.reason, false)
        if (standing._tag === "Undecided") return later(work.transaction, standing.detail)
        if (yield* hasAnswer(claims, work.claim)) return later(work.transaction, refusal.message)
        const { claim } = work
        yield* ledger.write(claim, { outcome: "uncollected", transaction: null, reason: refusal.reason }, true)
        yield* claims.withheld(claim, refusal.reason)
        return ended("withheld", { _tag: "Refused", code: refusal.code, reason: refusal.reason.slice(0, 256) })
      })

      const send = Effect.fnUntraced(function* (
        work: Work,
        prepared: PreparedSettlement,
        { end }: KeyLease
      ): Effect.fn.Return<Settling, Faults> {
        const { transaction } = prepared
        const claim = yield* Effect.onError(written(claims, work.claim, transaction), () => end("unsent"))
        const sent = { ...work, claim, transaction: transaction ?? work.transaction }
        const result = yield* Effect.result(
          Effect.onInterrupt(work.scheme.broadcast(prepared, work.payment), () => end("unknown"))
        )
        if (Result.isSuccess(result)) {
          yield* end("used")
          return yield* settled(sent, result.success.transaction, false)
        }
        const error = result.failure
        if (error._tag === "SettlementPending") {
          yield* end("unknown")
          return later(error.transaction ?? sent.transaction, error.detail)
        }
        if (error._tag === "ChainUnavailable") {
          yield* end("unsent")
          return later(sent.transaction, error.message)
        }
        yield* end(error.transaction === null ? "unsent" : "used")
        return yield* refused(sent, error)
      })

      const signAndSend = Effect.fnUntraced(function* (work: Work): Effect.fn.Return<Settling, Faults> {
        // What is signed with a nonce must end it, whatever comes between.
        return yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const key = yield* restore(work.ring.take(work.payment))
            const prepared = yield* Effect.result(
              Effect.onInterrupt(restore(work.scheme.prepare(work.payment, key.lease)), () => key.end("unsent"))
            )
            if (Result.isSuccess(prepared)) return yield* restore(send(work, prepared.success, key))
            yield* key.end("unsent")
            const error = prepared.failure
            return error._tag === "PaymentRefused" ? yield* restore(refused(work, error)) : yield* error
          })
        )
      })

      const decide = Effect.fnUntraced(function* (work: Work): Effect.fn.Return<Settling, Faults> {
        const { asked } = work.claim.record
        // Nobody was here before us: what is on the chain is told by the simulation that comes with signing.
        if (work.transaction === null && asked <= 1 && !work.isRemote) return yield* signAndSend(work)
        const standing = yield* work.scheme.look(work.payment, work.transaction)
        switch (standing._tag) {
          case "Settled":
            return yield* settled(work, standing.transaction, true)
          case "Spent":
            return yield* lost(work, "the authorization was used up without the transfer", true)
          case "Expired":
            return yield* lost(work, "its time is over and the chain has no transfer", false)
          case "Undecided":
            return later(work.transaction, standing.detail)
          case "Unused":
            return yield* signAndSend(work)
        }
      })

      const settle = Effect.fn("Settler.settle")(function* ({ claimKey }: Pick<SettlementJob, "claimKey">) {
        return yield* Effect.gen(function* () {
          const found = yield* claims.read(claimKey)
          if (found._tag === "None") return stale
          const claim = found.value
          const known = endOf(claim)
          if (known !== undefined) return known
          const { record } = claim
          const network = networks.get(record.network)
          if (network === undefined || record.payment === null) {
            return later(null, `${record.network} is not configured here`)
          }
          const { payload, requirements } = record.payment
          // As it was when it was claimed: what has passed then passes now, and its end is counted from there.
          const payment = network.scheme.check(payload, requirements, record.claimedAtMs)
          if (Result.isFailure(payment)) return later(null, `it does not pass its checks: ${payment.failure.reason}`)
          const transaction = record.transactions.at(-1) ?? null
          return yield* decide({
            claim,
            payment: payment.success,
            scheme: network.scheme,
            ring: network.ring,
            isRemote: network.isRemote,
            transaction
          })
        }).pipe(Effect.catch((error: Faults) => Effect.succeed(later(null, error.message))))
      })
      return Settler.of({ settle })
    })
  )
}

const written = (claims: Claims["Service"], claim: Claim, transaction: string | null) =>
  transaction === null ? Effect.succeed(claim) : claims.prepared(claim, transaction)

/** Whether the payer has, or is getting, what this payment is for. */
const hasAnswer = Effect.fnUntraced(function* (claims: Claims["Service"], { key, record }: Claim) {
  if (record.kind === "stream") return true
  const payer = yield* claims.payer(record)
  return payer._tag === "Some" && payer.value.places.some(({ claimKey }) => claimKey === key)
})

const stale: Settling = { _tag: "Stale" }

const ended = (how: "settled" | "withheld" | "uncollected", outcome: SettlementOutcome): Settling => ({
  _tag: "Ended",
  how,
  outcome
})

const later = (transaction: string | null, detail: string): Settling => ({
  _tag: "Later",
  outcome: { _tag: "Pending", transaction },
  detail
})

/** Of a claim that is not to be settled any more, or not yet. */
const endOf = ({ record }: Claim): Settling | undefined => {
  const transaction = record.transactions.at(-1)
  if (record.state === "SETTLED" && transaction !== undefined) return ended("settled", { _tag: "Settled", transaction })
  if (record.state === "UNCOLLECTED") {
    const reason = (record.reason ?? "uncollected").slice(0, 256)
    return ended("uncollected", { _tag: "Refused", code: "PAYMENT_INVALID", reason })
  }
  return record.state === "SETTLING" ? undefined : stale
}
