/**
 * Signs a payment's transaction and sends it. Its name is written into the claim before it is sent, by a write that
 * only one settler can make and that makes the claim SETTLING if it is not, while the chain is asked once more whether
 * the transfer would succeed: only when both are so is it sent. A lease of a key is ended whatever comes between.
 */
import { Effect, Fiber, Result } from "effect"
import { ClaimLost, ClaimMove, type PreparedSettlement } from "#x402"
import { endRefused, endSettled, type Records } from "./end-payment.ts"
import type { SignerLease } from "./signer-pool.ts"
import { type Faults, later, type Settling, type Work } from "./settling.ts"

export const signAndSend = (records: Records, work: Work): Effect.Effect<Settling, Faults> =>
  Effect.uninterruptibleMask((restore) => underLease(records, work, restore))

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const underLease = Effect.fnUntraced(function* (
  records: Records,
  work: Work,
  restore: Restore
): Effect.fn.Return<Settling, Faults> {
  // The chain is asked first, for it takes the longest; a nonce is taken last, for others wait behind it.
  const recheck = Effect.interruptible(work.scheme.recheck(work.payment))
  const rechecking = yield* Effect.forkChild(recheck, { startImmediately: true })
  const unasked = Fiber.interrupt(rechecking)
  // Not to be interrupted: between a nonce that is taken and its lease it would be lost, and hold up all after it.
  const taking = Effect.andThen(restore(work.answerKept), work.pool.take(work.payment))
  const key = yield* Effect.onError(taking, () => unasked)
  const unsent = Effect.andThen(unasked, key.end("unsent"))
  const ready = yield* Effect.result(Effect.onError(restore(signed(records, work, key)), () => unsent))
  if (Result.isFailure(ready)) {
    const error = ready.failure
    if (error._tag !== "PaymentRefused") return yield* error
    // Nothing is written yet: what ends must be SETTLING first.
    if (work.isAssumed) return yield* new ClaimLost({ claimKey: work.claim.key, move: "Prepare", state: null })
    return yield* restore(endRefused(records, work, error))
  }
  const { sending, prepared } = ready.success
  const rechecked = yield* Effect.onInterrupt(restore(Effect.result(Fiber.join(rechecking))), () => unsent)
  if (Result.isSuccess(rechecked)) return yield* restore(send(records, sending, { prepared, key }))
  yield* key.end("unsent")
  const error = rechecked.failure
  return error._tag === "PaymentRefused" ? yield* restore(endRefused(records, sending, error)) : yield* error
})

/** Fails with `PaymentRefused` before anything is written. */
const signed = (records: Records, work: Work, key: SignerLease) =>
  Effect.flatMap(work.scheme.prepare(work.payment, key.lease), (prepared) =>
    Effect.map(written(records, work, prepared), (sending) => ({ sending, prepared }))
  )

const written = ({ claims }: Records, work: Work, { transaction }: PreparedSettlement) =>
  transaction === null
    ? Effect.succeed(work)
    : Effect.map(claims.move(work.claim, ClaimMove.Prepare({ transaction })), (claim): Work => ({
        ...work,
        claim,
        transaction
      }))

const send = Effect.fnUntraced(function* (
  records: Records,
  work: Work,
  { prepared, key: { end } }: { readonly prepared: PreparedSettlement; readonly key: SignerLease }
): Effect.fn.Return<Settling, Faults> {
  const result = yield* Effect.result(
    Effect.onInterrupt(work.scheme.broadcast(prepared, work.payment), () => end("unknown"))
  )
  if (Result.isSuccess(result)) {
    yield* end("used")
    return yield* endSettled(records, work, { transaction: result.success.transaction, mayExist: false })
  }
  const error = result.failure
  if (error._tag === "SettlementPending") {
    yield* end("unknown")
    return later(error.transaction ?? work.transaction, error.detail)
  }
  if (error._tag === "ChainUnavailable") {
    yield* end("unsent")
    return later(work.transaction, error.message)
  }
  yield* end(error.transaction === null ? "unsent" : "used")
  return yield* endRefused(records, work, error)
})
