/**
 * The only path to a settler. A settler in the same process receives the payment directly; otherwise a job goes to
 * SETTLEMENTS. Callers do not know which of the two it is.
 *
 * While a settler takes the job at once, the job is the only write: the settler makes the claim SETTLING itself. If no
 * settler reports for a moment, and before anything is sent unpaid, this module makes sure that the claim is SETTLING.
 * Reports on the way are not the end: at the end of the wait the claim itself is read, so that a lost report does not
 * count as no outcome.
 *
 * A local settler saves the job, which would be written, read and acked while a caller waits. If the process dies, its
 * successor finds all it needs in the claim: SETTLING and the transaction's name are written before anything is sent,
 * and a sweep asks for it again. A payment that a local settler cannot end, or for which it has no key or no room,
 * continues as a job.
 */
import { randomBytes } from "node:crypto"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Result, Schedule, Scope, Semaphore } from "effect"
import { type BusError, Mailbox } from "#bus"
import type { SettlementJob, SettlementOutcome } from "#payments/contract"
import { type ClaimLost, ClaimMove } from "./claim.ts"
import { Claims } from "./Claims.ts"
import { type Claim, settlementOutcomeCodec } from "./ClaimStore.ts"

/** `ClaimLost`: the claim was released before a settler took it, and is never collected for this call. */
export type NotCommitted = ClaimLost | BusError

interface SettlementRequest {
  readonly claim: Claim
  /** Nothing is written until this succeeds; if it fails, no settler is asked and the claim stays as it is. */
  readonly answerKept: Effect.Effect<void, BusError>
  /** `Pending` is as good as any other outcome: it ends the wait. */
  readonly mayBePending?: true
}

export interface RequestedSettlement {
  /** `Pending` when the wait is over: after that the payment is never released. */
  readonly outcome: (waitMs: number) => Effect.Effect<SettlementOutcome, NotCommitted>
  readonly close: Effect.Effect<void>
}

export class Settlements extends Context.Service<
  Settlements,
  {
    /** Fails only if no settler was asked. */
    readonly request: (request: SettlementRequest) => Effect.Effect<RequestedSettlement, NotCommitted>
    /** The claim's current outcome; from here on the payment is never released. */
    readonly outcome: (claim: Claim) => Effect.Effect<SettlementOutcome, NotCommitted>
  }
>()("starling/payments/Settlements") {
  /** `leaseMs`: how long a claim belongs to its holder without a renewal. */
  static readonly layer = (leaseMs: number) =>
    Layer.effect(
      Settlements,
      Effect.gen(function* () {
        const claims = yield* Claims
        const mailbox = yield* Mailbox
        const locals = yield* LocalSettlers
        // The role's: a requested settlement continues after its caller has left.
        const scope = yield* Effect.scope
        const repeats = yield* Semaphore.make(repeatsMax)
        const silenceMs = Math.min(silenceMsMax, leaseMs / 3)

        const requestByJob = Effect.fnUntraced(function* ({ claim, result, listening, mayBePending }: Waiting) {
          const session = randomBytes(12).toString("base64url")
          yield* Scope.provide(mailbox.open(session, receiver(result, mayBePending === true)), listening)
          const replyTo = { instance: mailbox.instance, session }
          // The job may or may not exist: a claim that is SETTLING is requested again, in the end by the sweep.
          yield* Effect.catch(claims.requestSettlement(claim, replyTo), () =>
            Effect.andThen(
              outcomeNow(claims, claim),
              Effect.forkIn(repeats.withPermitsIfAvailable(1)(keepRequesting(claims, claim, replyTo)), scope)
            )
          )
        })

        const handOver = Effect.fnUntraced(function* (waiting: Waiting, local: LocalSettler) {
          const { claim, result } = waiting
          const keeping = yield* Effect.forkIn(waiting.answerKept, scope, { startImmediately: true })
          const answerKept = Fiber.join(keeping)
          // The pending write leaves for the broker before the settler's own work is done.
          yield* Effect.yieldNow
          const byJob = Effect.andThen(answerKept, requestByJob(waiting))
          const isBegun = yield* local.settle({
            claim,
            answerKept,
            onSettled: (transaction) => Deferred.doneUnsafe(result, Effect.succeed({ _tag: "Settled", transaction })),
            onEnd: (outcome) =>
              outcome._tag === "Pending"
                ? Effect.ignore(byJob, { log: "Warn" })
                : Effect.asVoid(Deferred.succeed(result, outcome))
          })
          yield* isBegun ? answerKept : byJob
        })

        const outcomeOf = Effect.fnUntraced(function* ({ claim, result }: Waiting, waitMs: number) {
          const soon = yield* Effect.timeoutOption(Deferred.await(result), Math.min(silenceMs, waitMs))
          if (Option.isSome(soon)) return soon.value
          const now = yield* outcomeNow(claims, claim)
          if (now._tag !== "Pending" || waitMs <= silenceMs) return now
          const outcome = yield* Effect.timeoutOption(Deferred.await(result), waitMs - silenceMs)
          return Option.isSome(outcome) ? outcome.value : yield* outcomeNow(claims, claim)
        })

        const request = Effect.fnUntraced(function* (asked: SettlementRequest) {
          const listening = yield* Scope.make()
          const waiting: Waiting = { ...asked, result: yield* Deferred.make<SettlementOutcome>(), listening }
          const close = Scope.close(listening, Exit.void)
          const local = locals.find(asked.claim)
          const byJob = Effect.andThen(asked.answerKept, requestByJob(waiting))
          yield* Effect.onError(local === undefined ? byJob : handOver(waiting, local), () => close)
          return { outcome: (waitMs: number) => outcomeOf(waiting, waitMs), close }
        })
        return Settlements.of({ request, outcome: (claim) => outcomeNow(claims, claim) })
      })
    )
}

/** A request whose caller waits for it. */
interface Waiting extends SettlementRequest {
  readonly result: Deferred.Deferred<SettlementOutcome>
  /** Open while results are received. */
  readonly listening: Scope.Closeable
}

// A free settler takes the claim within milliseconds; by now a lease has two thirds of its time left.
const silenceMsMax = 1_000
// The calls that can end during a broker restart; the sweep takes those beyond.
const repeatsMax = 256

/** Takes a settler's reports; those on the way are not the end, unless they may be. */
const receiver = (result: Waiting["result"], mayBePending: boolean) => (data: Uint8Array) => {
  const outcome = settlementOutcomeCodec.decode({ data, header: () => undefined })
  if (Result.isFailure(outcome)) return
  const isEnd = mayBePending || outcome.success._tag !== "Pending"
  if (isEnd) Deferred.doneUnsafe(result, Effect.succeed(outcome.success))
}

const outcomeNow = Effect.fnUntraced(function* (
  claims: Claims["Service"],
  claim: Claim
): Effect.fn.Return<SettlementOutcome, NotCommitted> {
  const found = Option.getOrUndefined(yield* claims.read(claim.key))
  if (found !== undefined && isCommitted(found, claim)) return outcomeOfClaim(found)
  const committed = claims.move(claim, ClaimMove.Settle()).pipe(
    // Another mover may have been first, or a reply may be lost.
    Effect.catch((error) =>
      Effect.flatMap(claims.read(claim.key), (found) =>
        Option.isSome(found) && isCommitted(found.value, claim) ? Effect.succeed(found.value) : Effect.fail(error)
      )
    )
  )
  return outcomeOfClaim(yield* committed)
})

const isCommitted = ({ record }: Claim, requested: Claim) =>
  record.ticket === requested.record.ticket && record.requestedAtMs !== null

export const outcomeOfClaim = ({ record }: Claim): SettlementOutcome => {
  const { state, transactions, reason } = record
  const transaction = transactions.at(-1) ?? null
  if (state === "SETTLED") return { _tag: "Settled", transaction }
  if (state === "UNCOLLECTED") {
    return { _tag: "Refused", code: "PAYMENT_INVALID", reason: reason ?? "transaction_failed" }
  }
  return { _tag: "Pending", transaction }
}

// From a quarter of a second, for an election, to two seconds, for a broker that is starting.
const tries = Schedule.jittered(Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("2 seconds")]))
// The sweep asks for claims without a report for thirty seconds.
const patience = "25 seconds"

/**
 * Requests again a settlement whose job may not be stored, until it is: a restarting broker is away for seconds, and
 * the sweep asks only after half a minute. The job has the first one's id, so it is stored once however often it is
 * requested. Ends when a settler has the payment, or when it is the sweep's turn.
 */
export const keepRequesting = (
  claims: Pick<Claims["Service"], "read" | "requestSettlement">,
  requested: Claim,
  replyTo: SettlementJob["replyTo"]
): Effect.Effect<void> => {
  const again: Effect.Effect<void, BusError> = Effect.flatMap(claims.read(requested.key), (found) =>
    Option.isSome(found) && isUntouched(found.value, requested)
      ? claims.requestSettlement(found.value, replyTo)
      : Effect.void
  )
  return Effect.retry(again, { schedule: tries, while: ({ _tag }) => _tag === "BusUnavailable" }).pipe(
    Effect.timeout(patience),
    Effect.ignore
  )
}

/** No settler has started on it, and no sweep has asked for it. */
const isUntouched = ({ record }: Claim, requested: Claim) =>
  record.ticket === requested.record.ticket &&
  record.state === "SETTLING" &&
  record.asked === 1 &&
  record.transactions.length === 0

/** A payment handed to a local settler; no transaction is signed for it yet. */
export interface LocalSettlement {
  readonly claim: Claim
  /** Nothing is written until this succeeds; if it fails, the claim stays as it is. */
  readonly answerKept: Effect.Effect<void, BusError>
  /** Called when the chain has the transfer, before it is recorded. */
  readonly onSettled: (transaction: string | null) => void
  /** Called with the outcome; `Pending` when it is unknown. Not called when the claim is no longer ours to settle. */
  readonly onEnd: (outcome: SettlementOutcome) => Effect.Effect<void>
}

export interface LocalSettler {
  /** Whether it would begin at once: it has a key that can settle the claim, and room. */
  readonly isFree: (claim: Claim) => boolean
  /** Begins, and continues by itself even if its caller leaves. False when it is no longer free. */
  readonly settle: (settlement: LocalSettlement) => Effect.Effect<boolean>
}

interface SettlerRegistry {
  /** The settler of this process, if it would begin at once. */
  readonly find: (claim: Claim) => LocalSettler | undefined
  /** The first settler to enter stays until it leaves. */
  readonly enter: (settler: LocalSettler) => () => void
}

const registry = (): SettlerRegistry => {
  let present: LocalSettler | undefined
  return {
    find: (claim) => (present?.isFree(claim) === true ? present : undefined),
    enter: (settler) => {
      present ??= settler
      return () => void (present === settler && (present = undefined))
    }
  }
}

/** Finds none, unless the process provides `localSettlers`. */
export const LocalSettlers = Context.Reference<SettlerRegistry>("starling/payments/LocalSettlers", {
  defaultValue: () => ({ find: () => undefined, enter: () => () => undefined })
})

/** For the roles of one process, on one broker and with one configuration. */
export const localSettlers = Layer.effect(LocalSettlers, Effect.sync(registry))
