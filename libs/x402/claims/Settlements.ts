/**
 * The one way to a settler. A settler in the same process is handed the payment; to all others goes a job in
 * SETTLEMENTS. Which of them it is, nobody else knows.
 *
 * A job is all that is written while a settler takes it at once: it makes the claim SETTLING itself. Where nothing is
 * heard for a moment, and before anything is given out unpaid, it is made sure here that the claim is SETTLING. What is
 * heard on the way is not the end; at the end of the wait the claim itself is read, so that an outcome that was lost is
 * not taken for none.
 *
 * A local settler spares the job, which would be written, read and acked while a caller waits. All that a follower needs,
 * should the process die, is in the claim: it says SETTLING and the transaction's name before anything is sent, and a
 * sweep asks for it again. What a local settler cannot end, has no key for or no room goes on as a job.
 */
import { randomBytes } from "node:crypto"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option, Result, Schedule, Scope, Semaphore } from "effect"
import { type BusError, Mailbox } from "#bus"
import type { SettlementJob, SettlementOutcome } from "#contracts"
import { Configuration } from "#runtime"
import { settlementOutcomeCodec } from "../codecs.ts"
import { ClaimMove } from "./claim.ts"
import { Claims } from "./Claims.ts"
import type { Claim } from "./ClaimStore.ts"
import type { ClaimLost } from "./errors.ts"

/** `ClaimLost`: it was let go before a settler took it, and is never collected for this call. */
export type NotCommitted = ClaimLost | BusError

export interface SettlementRequest {
  readonly claim: Claim
  /** Nothing is written before this has succeeded; when it fails nobody is asked, and the claim stays as it is. */
  readonly answerKept: Effect.Effect<void, BusError>
  /** `Pending` is as good an answer as any: it ends the wait. */
  readonly mayBePending?: true
}

/** A settlement that was asked for. */
export interface RequestedSettlement {
  /** `Pending` when the wait is over: then the payment is never given back. */
  readonly outcome: (waitMs: number) => Effect.Effect<SettlementOutcome, NotCommitted>
  readonly close: Effect.Effect<void>
}

export class Settlements extends Context.Service<
  Settlements,
  {
    /** Fails only when nobody was asked. */
    readonly request: (request: SettlementRequest) => Effect.Effect<RequestedSettlement, NotCommitted>
    /** What the claim says now; from here on the payment is never given back. */
    readonly standing: (claim: Claim) => Effect.Effect<SettlementOutcome, NotCommitted>
  }
>()("starling/x402/Settlements") {
  static readonly layer = Layer.effect(
    Settlements,
    Effect.gen(function* () {
      const { Payments } = yield* Configuration
      const parts: Parts = {
        claims: yield* Claims,
        mailbox: yield* Mailbox,
        locals: yield* LocalSettlers,
        scope: yield* Effect.scope,
        repeats: yield* Semaphore.make(repeatsMax),
        silenceMs: Math.min(silenceMsMax, (Payments.LeaseSeconds * 1_000) / 3)
      }
      return Settlements.of({
        request: (request) => requestIt(parts, request),
        standing: (claim) => standing(parts, claim)
      })
    })
  )
}

interface Parts {
  readonly claims: Claims["Service"]
  readonly mailbox: Mailbox["Service"]
  readonly locals: SettlerRegistry
  /** Of the role: what is asked for goes on when its caller has left. */
  readonly scope: Scope.Scope
  readonly repeats: Semaphore.Semaphore
  readonly silenceMs: number
}

/** A request while somebody waits for it. */
interface Waiting extends SettlementRequest {
  readonly result: Deferred.Deferred<SettlementOutcome>
  /** Open as long as results are received. */
  readonly listening: Scope.Closeable
}

// A settler that is free has the claim within milliseconds; a lease has two thirds of its time left.
const silenceMsMax = 1_000
// As many calls as may end while a broker restarts; what is beyond is left to the sweep.
const repeatsMax = 256

const requestIt = Effect.fnUntraced(function* (
  parts: Parts,
  request: SettlementRequest
): Effect.fn.Return<RequestedSettlement, NotCommitted> {
  const { claim, answerKept } = request
  const result = yield* Deferred.make<SettlementOutcome>()
  const waiting: Waiting = { ...request, result, listening: yield* Scope.make() }
  const close = Scope.close(waiting.listening, Exit.void)
  const local = parts.locals.find(claim.record.network)
  const asking =
    local === undefined ? Effect.andThen(answerKept, askByJob(parts, waiting)) : handOver(parts, waiting, local)
  yield* Effect.onError(asking, () => close)
  return { outcome: (waitMs) => outcomeOf(parts, waiting, waitMs), close }
})

const handOver = Effect.fnUntraced(function* (
  parts: Parts,
  waiting: Waiting,
  local: LocalSettler
): Effect.fn.Return<void, NotCommitted> {
  const { claim, result } = waiting
  const keeping = yield* Effect.forkIn(waiting.answerKept, parts.scope, { startImmediately: true })
  const answerKept = Fiber.join(keeping)
  // What was begun leaves for the broker before the settler's own work is done.
  yield* Effect.yieldNow
  const byJob = Effect.andThen(answerKept, askByJob(parts, waiting))
  const isBegun = yield* local.settle({
    claim,
    answerKept,
    onSettled: (transaction) => Deferred.doneUnsafe(result, Effect.succeed({ _tag: "Settled", transaction })),
    onEnd: (outcome) =>
      outcome._tag === "Pending" ? Effect.ignore(byJob) : Effect.asVoid(Deferred.succeed(result, outcome))
  })
  yield* isBegun ? answerKept : byJob
})

const askByJob = Effect.fnUntraced(function* (
  parts: Parts,
  { claim, result, listening, mayBePending }: Waiting
): Effect.fn.Return<void, NotCommitted> {
  const { claims, mailbox, repeats, scope } = parts
  const session = randomBytes(12).toString("base64url")
  const receive = (data: Uint8Array) => {
    const outcome = settlementOutcomeCodec.decode({ data, header: () => undefined })
    if (Result.isFailure(outcome)) return
    const isEnd = mayBePending === true || outcome.success._tag !== "Pending"
    if (isEnd) Deferred.doneUnsafe(result, Effect.succeed(outcome.success))
  }
  yield* Scope.provide(mailbox.open(session, receive), listening)
  const replyTo = { instance: mailbox.instance, session }
  // Nobody knows whether there is a job: a claim that is SETTLING is asked for again, at last by the sweep.
  yield* Effect.catch(claims.ask(claim, replyTo), () =>
    Effect.andThen(
      standing(parts, claim),
      Effect.forkIn(repeats.withPermitsIfAvailable(1)(keepAsking(claims, claim, replyTo)), scope)
    )
  )
})

const outcomeOf = Effect.fnUntraced(function* (
  parts: Parts,
  { claim, result }: Waiting,
  waitMs: number
): Effect.fn.Return<SettlementOutcome, NotCommitted> {
  const { silenceMs } = parts
  const soon = yield* Effect.timeoutOption(Deferred.await(result), Math.min(silenceMs, waitMs))
  if (Option.isSome(soon)) return soon.value
  const now = yield* standing(parts, claim)
  if (now._tag !== "Pending" || waitMs <= silenceMs) return now
  const later = yield* Effect.timeoutOption(Deferred.await(result), waitMs - silenceMs)
  return Option.isSome(later) ? later.value : yield* standing(parts, claim)
})

const standing = Effect.fnUntraced(function* (
  { claims }: Parts,
  claim: Claim
): Effect.fn.Return<SettlementOutcome, NotCommitted> {
  const found = Option.getOrUndefined(yield* claims.read(claim.key))
  if (found !== undefined && isCommitted(found, claim)) return outcomeOfClaim(found)
  const committed = claims.move(claim, ClaimMove.Settle()).pipe(
    // Somebody else may have been first, and an answer may be lost.
    Effect.catch((error) =>
      Effect.flatMap(claims.read(claim.key), (found) =>
        Option.isSome(found) && isCommitted(found.value, claim) ? Effect.succeed(found.value) : Effect.fail(error)
      )
    )
  )
  return outcomeOfClaim(yield* committed)
})

const isCommitted = ({ record }: Claim, asked: Claim) =>
  record.ticket === asked.record.ticket && record.requestedAtMs !== null

export const outcomeOfClaim = ({ record }: Claim): SettlementOutcome => {
  const { state, transactions, reason } = record
  const transaction = transactions.at(-1) ?? null
  if (state === "SETTLED" && transaction !== null) return { _tag: "Settled", transaction }
  if (state === "UNCOLLECTED") {
    return { _tag: "Refused", code: "PAYMENT_INVALID", reason: reason ?? "transaction_failed" }
  }
  return { _tag: "Pending", transaction }
}

// From a quarter of a second, for an election, to two seconds, for a broker that starts.
const tries = Schedule.jittered(Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("2 seconds")]))
// The sweep asks for what nobody has reported for thirty seconds.
const patience = "25 seconds"

/**
 * Asks again for a payment whose job may not be stored, until it is: a broker that restarts is away for seconds, and
 * the sweep asks only after half a minute. The job has the id of the first, so that it is stored once however often it
 * is asked for. Given up when a settler has the payment, and when it is the sweep's turn.
 */
export const keepAsking = (
  claims: Pick<Claims["Service"], "read" | "ask">,
  asked: Claim,
  replyTo: SettlementJob["replyTo"]
): Effect.Effect<void> => {
  const again: Effect.Effect<void, BusError> = Effect.flatMap(claims.read(asked.key), (found) =>
    Option.isSome(found) && isUnheardOf(found.value, asked) ? claims.ask(found.value, replyTo) : Effect.void
  )
  return Effect.retry(again, { schedule: tries, while: ({ _tag }) => _tag === "BusUnavailable" }).pipe(
    Effect.timeout(patience),
    Effect.ignore
  )
}

/** No settler has begun with it, and no sweep has asked for it. */
const isUnheardOf = ({ record }: Claim, asked: Claim) =>
  record.ticket === asked.record.ticket &&
  record.state === "SETTLING" &&
  record.asked === 1 &&
  record.transactions.length === 0

/** A payment that a local settler is handed; nobody has signed anything for it. */
export interface LocalSettlement {
  readonly claim: Claim
  /** Nothing is written before this has succeeded; when it fails the claim stays as it is. */
  readonly answerKept: Effect.Effect<void, BusError>
  /** When the chain has the transfer, before the books are written. */
  readonly onSettled: (transaction: string) => void
  /** What became of it; `Pending` of what is not known. Not called where the claim is not ours to settle any more. */
  readonly onEnd: (outcome: SettlementOutcome) => Effect.Effect<void>
}

export interface LocalSettler {
  /** Whether it would begin at once: it has a key of the network, and room. */
  readonly isFree: (network: string) => boolean
  /** Begins, and goes on by itself, whatever becomes of who asked. False where it is not free any more. */
  readonly settle: (settlement: LocalSettlement) => Effect.Effect<boolean>
}

interface SettlerRegistry {
  /** The settler of this process, if it would begin at once. */
  readonly find: (network: string) => LocalSettler | undefined
  /** The first to come stays until it leaves. */
  readonly enter: (settler: LocalSettler) => () => void
}

const registry = (): SettlerRegistry => {
  let present: LocalSettler | undefined
  return {
    find: (network) => (present?.isFree(network) === true ? present : undefined),
    enter: (settler) => {
      present ??= settler
      return () => void (present === settler && (present = undefined))
    }
  }
}

/** Finds nobody, unless the process provides `localSettlers`. */
export const LocalSettlers = Context.Reference<SettlerRegistry>("starling/x402/LocalSettlers", {
  defaultValue: () => ({ find: () => undefined, enter: () => () => undefined })
})

/** For the roles of one process, on one broker and with one configuration. */
export const localSettlers = Layer.effect(LocalSettlers, Effect.sync(registry))
