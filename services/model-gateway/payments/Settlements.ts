/**
 * Asks for payments to be settled and waits for what becomes of them. A settler in the same process is handed them; for
 * all others there is a job, which is all that is written here while one of them takes it at once: it makes the claim
 * SETTLING itself. Where nothing is heard for a moment, and before anything is given out unpaid, it makes sure
 * that the claim is SETTLING. What is told on the way is not the end; at the end of the wait the claim itself is read,
 * so that an outcome that was lost is not taken for none.
 */
import { randomBytes } from "node:crypto"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Result, Scope, Semaphore } from "effect"
import { type BusError, Mailbox } from "#bus"
import type { SettlementOutcome } from "#contracts"
import { Configuration } from "#runtime"
import {
  ClaimMove,
  type Claim,
  type ClaimLost,
  Claims,
  keepAsking,
  type NeighbourSettler,
  settlementOutcomeCodec,
  SettlerNextDoor
} from "#x402"

/** `ClaimLost`: it was let go before a settler took it, and is never collected for this call. */
export type NotCommitted = ClaimLost | BusError

/** A payment that was asked for. */
export interface Asked {
  /** `Pending` when the wait is over: then the payment is never given back. */
  readonly outcome: (waitMs: number) => Effect.Effect<SettlementOutcome, NotCommitted>
  readonly close: Effect.Effect<void>
}

export class Settlements extends Context.Service<
  Settlements,
  {
    /** Once the answer is kept. Fails only when it was not asked for. */
    readonly ask: (claim: Claim, answerKept: Effect.Effect<void, BusError>) => Effect.Effect<Asked, NotCommitted>
    /** What the claim says now; from here on the payment is never given back. */
    readonly standing: (claim: Claim) => Effect.Effect<SettlementOutcome, NotCommitted>
  }
>()("starling/model-gateway/Settlements") {
  static readonly layer = Layer.effect(
    Settlements,
    Effect.gen(function* () {
      const claims = yield* Claims
      const mailbox = yield* Mailbox
      const door = yield* SettlerNextDoor
      const ownScope = yield* Effect.scope
      const asksAgain = yield* Semaphore.make(asksAgainMax)
      const { Payments } = yield* Configuration
      const silenceMs = Math.min(silenceMsMax, (Payments.LeaseSeconds * 1_000) / 3)

      const standing = Effect.fnUntraced(function* (claim: Claim) {
        const found = Option.getOrUndefined(yield* claims.read(claim.key))
        if (found !== undefined && isCommitted(found, claim)) return standingOf(found)
        return standingOf(
          yield* Effect.catch(claims.move(claim, ClaimMove.Settle()), (error) => afterAll(claim, error))
        )
      })

      /** Somebody else may have been first, and an answer may be lost. */
      const afterAll = (claim: Claim, error: NotCommitted) =>
        Effect.flatMap(claims.read(claim.key), (found) =>
          Option.isSome(found) && isCommitted(found.value, claim) ? Effect.succeed(found.value) : Effect.fail(error)
        )

      /** Told as long as `scope` is open. */
      const askByJob = Effect.fnUntraced(function* (claim: Claim, told: Told, scope: Scope.Scope) {
        const session = randomBytes(12).toString("base64url")
        yield* Scope.provide(
          mailbox.open(session, (data) => {
            const outcome = settlementOutcomeCodec.decode({ data, header: () => undefined })
            if (Result.isSuccess(outcome) && outcome.success._tag !== "Pending") {
              Deferred.doneUnsafe(told, Effect.succeed(outcome.success))
            }
          }),
          scope
        )
        const replyTo = { instance: mailbox.instance, session }
        // Nobody knows whether there is a job: a claim that is SETTLING is asked for again, at last by the sweep.
        yield* Effect.catch(claims.ask(claim, replyTo), () =>
          Effect.andThen(
            standing(claim),
            Effect.forkIn(asksAgain.withPermitsIfAvailable(1)(keepAsking(claims, claim, replyTo)), ownScope)
          )
        )
      })

      const handOver = Effect.fnUntraced(function* (
        settler: NeighbourSettler,
        claim: Claim,
        answerKept: Effect.Effect<void, BusError>,
        told: Told,
        scope: Scope.Scope
      ) {
        const keeping = yield* Effect.forkIn(answerKept, ownScope, { startImmediately: true })
        const kept = Fiber.join(keeping)
        // What was begun leaves for the broker before the settler's own work is done.
        yield* Effect.yieldNow
        const byJob = Effect.andThen(kept, askByJob(claim, told, scope))
        const isBegun = yield* settler.settle({
          claim,
          answerKept: kept,
          onSettled: (transaction) => Deferred.doneUnsafe(told, Effect.succeed({ _tag: "Settled", transaction })),
          onEnd: (outcome) =>
            outcome._tag === "Pending" ? Effect.ignore(byJob) : Effect.asVoid(Deferred.succeed(told, outcome))
        })
        yield* isBegun ? kept : byJob
      })

      const ask = Effect.fnUntraced(function* (claim: Claim, answerKept: Effect.Effect<void, BusError>) {
        const told = yield* Deferred.make<SettlementOutcome>()
        const scope = yield* Scope.make()
        const close = Scope.close(scope, Exit.void)
        const settler = door.free(claim.record.network)
        const asking =
          settler === undefined
            ? Effect.andThen(answerKept, askByJob(claim, told, scope))
            : handOver(settler, claim, answerKept, told, scope)
        yield* Effect.onError(asking, () => close)
        return { outcome: (waitMs) => outcomeOf(claim, told, waitMs), close } satisfies Asked
      })

      const outcomeOf = Effect.fnUntraced(function* (claim: Claim, told: Told, waitMs: number) {
        const soon = yield* Effect.timeoutOption(Deferred.await(told), Math.min(silenceMs, waitMs))
        if (Option.isSome(soon)) return soon.value
        const now = yield* standing(claim)
        if (now._tag !== "Pending" || waitMs <= silenceMs) return now
        const ended = yield* Effect.timeoutOption(Deferred.await(told), waitMs - silenceMs)
        return Option.isSome(ended) ? ended.value : yield* standing(claim)
      })
      return Settlements.of({ ask, standing })
    })
  )
}

// As many calls as may end while a broker restarts; what is beyond is left to the sweep.
const asksAgainMax = 256

type Told = Deferred.Deferred<SettlementOutcome>

// A settler that is free has the claim within milliseconds; a lease has two thirds of its time left.
const silenceMsMax = 1_000

const isCommitted = ({ record }: Claim, asked: Claim) =>
  record.ticket === asked.record.ticket && record.requestedAtMs !== null

const standingOf = ({ record }: Claim): SettlementOutcome => {
  const { state, transactions, reason } = record
  const transaction = transactions.at(-1) ?? null
  if (state === "SETTLED" && transaction !== null) return { _tag: "Settled", transaction }
  if (state === "UNCOLLECTED") {
    return { _tag: "Refused", code: "PAYMENT_INVALID", reason: reason ?? "transaction_failed" }
  }
  return { _tag: "Pending", transaction }
}
