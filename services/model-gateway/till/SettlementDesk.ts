/**
 * Asks for payments to be settled and waits for what becomes of them. What is told on the way is not the end; at the
 * end of the wait the claim itself is read, so that an outcome that was lost on the way is not taken for none.
 */
import { randomBytes } from "node:crypto"
import { Context, Deferred, Effect, Exit, Layer, Option, Result, Scope } from "effect"
import { type BusError, Mailbox } from "#bus"
import type { SettlementOutcome } from "#contracts"
import { type Claim, type ClaimLost, Claims, settlementOutcomeCodec } from "#x402"

/** A payment that was asked for. */
export interface Asked {
  /** `Pending` when the wait is over. */
  readonly outcome: (waitMs: number) => Effect.Effect<SettlementOutcome, BusError>
  readonly close: Effect.Effect<void>
}

export class SettlementDesk extends Context.Service<
  SettlementDesk,
  {
    /** From here on the payment is never given back. Fails only when it was not asked for. */
    readonly ask: (claim: Claim) => Effect.Effect<Asked, ClaimLost | BusError>
    /** What the claim says now. */
    readonly standing: (claimKey: string) => Effect.Effect<SettlementOutcome, BusError>
  }
>()("starling/model-gateway/SettlementDesk") {
  static readonly layer = Layer.effect(
    SettlementDesk,
    Effect.gen(function* () {
      const claims = yield* Claims
      const mailbox = yield* Mailbox

      const standing = (claimKey: string) =>
        Effect.map(claims.read(claimKey), (found) => standingOf(Option.getOrUndefined(found)))

      /** A settlement that was asked for by a lost message, or by the sweep, is asked for all the same. */
      const unlessAsked = (claim: Claim, error: ClaimLost | BusError) =>
        Effect.flatMap(claims.read(claim.key), (found) => {
          const now = Option.getOrUndefined(found)?.record
          const isAsked = now?.ticket === claim.record.ticket && now.requestedAtMs !== null
          return isAsked ? Effect.void : Effect.fail(error)
        })

      const ask = Effect.fn("SettlementDesk.ask")(function* (claim: Claim) {
        const told = yield* Deferred.make<SettlementOutcome>()
        const session = randomBytes(12).toString("base64url")
        const scope = yield* Scope.make()
        const close = Scope.close(scope, Exit.void)
        yield* Scope.provide(
          mailbox.open(session, (data) => {
            const outcome = settlementOutcomeCodec.decode({ data, header: () => undefined })
            if (Result.isSuccess(outcome) && outcome.success._tag !== "Pending") {
              Deferred.doneUnsafe(told, Effect.succeed(outcome.success))
            }
          }),
          scope
        )
        yield* claims.settling(claim, { instance: mailbox.instance, session }).pipe(
          Effect.catch((error) => unlessAsked(claim, error)),
          Effect.onError(() => close)
        )
        const outcome = (waitMs: number) =>
          Effect.flatMap(Effect.timeoutOption(Deferred.await(told), waitMs), (ended) =>
            Option.isSome(ended) ? Effect.succeed(ended.value) : standing(claim.key)
          )
        return { outcome, close }
      })
      return SettlementDesk.of({ ask, standing })
    })
  )
}

const standingOf = (claim: Claim | undefined): SettlementOutcome => {
  const { state, transactions, reason } = claim?.record ?? { state: null, transactions: [], reason: null }
  const transaction = transactions.at(-1) ?? null
  if (state === "SETTLED" && transaction !== null) return { _tag: "Settled", transaction }
  if (state === "UNCOLLECTED") {
    return { _tag: "Refused", code: "PAYMENT_INVALID", reason: reason ?? "transaction_failed" }
  }
  return { _tag: "Pending", transaction }
}
