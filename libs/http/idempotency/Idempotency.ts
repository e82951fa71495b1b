/**
 * Runs a request with an idempotency key once: the first request does the work, and later ones get its exact answer for
 * a day, across all replicas and restarts. An answer is not kept, and frees the key at once, if it failed on our side,
 * was stopped, or asks for a retry. Two requests with one key never run at the same time while the broker answers; when
 * it does not, none runs. Losing the claim stops the work; its effects so far must be harmless to the next attempt.
 *
 * The claim on a key has a time to live on the broker's clock and is renewed in time; a holder that dies or is cut off
 * loses it, and stops before another can begin. Every change names the revision it is based on, so a late one changes
 * nothing.
 */
import { randomUUID } from "node:crypto"
import { Cause, Clock, Context, Effect, Exit, Layer, Option, Result, Schema } from "effect"
import {
  type BusError,
  BusUnavailable,
  kept,
  Kv,
  type KvBucket,
  type Records,
  records as recordsIn,
  replaced
} from "#bus"
import { Metrics } from "#runtime"
import { HttpCall } from "../HttpCall.ts"
import { type RenderError, renderStandardError, serviceUnavailable, WireError } from "../WireError.ts"
import { type Answer, jsonAnswer } from "../answers.ts"
import {
  ChoiceRecord,
  IdempotencyRecord,
  isFinal,
  recordKey,
  replayOf,
  type KeyState,
  keyStateOf,
  storedAnswer
} from "./record.ts"
import { idempotencyOutcomes } from "../metrics.ts"

export interface IdempotencyOptions {
  /** The listener's own, so that a refusal is kept as it was sent. */
  readonly renderError?: RenderError
  /** How long a key stays claimed after its holder dies. */
  readonly leaseMs?: number
}

interface IdempotentRequest {
  readonly workspace: string
  /** Names the operation: the same key on another route is a different key. */
  readonly route: string
  /** Checked by `idempotencyKey`. Without one the work simply runs. */
  readonly key: string | undefined
  /** Covers everything that the request asks for: `formFingerprint`, `jsonFingerprint`. */
  readonly fingerprint: string
  /** Whether a refusal is kept as an answer, as by default; otherwise it frees the key. */
  readonly keepsRefusals?: boolean
}

// Shorter than a caller waits; a restarting broker is back within this time.
const claimWithinMs = 3_000
const endWithinMs = 5_000
// Six renewals fit in; a retry after a crash waits no longer than a client's own backoff.
const leaseMsDefault = 12_000

export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * A repetition gets the first request's answer. Fails with 409 `idempotency_conflict` if the key was used for
     * another request or the first one is still running, with 503 if the broker does not answer.
     */
    readonly run: <A extends Answer, R>(
      request: IdempotentRequest,
      handle: Effect.Effect<A, WireError, R>
    ) => Effect.Effect<A, WireError, R>
    /**
     * For the work of `run`: what the first run of this request chose. Each later run gets the same, even after a
     * failure or a crash. Without a key it is chosen anew.
     */
    readonly chosen: <R>(
      request: IdempotentRequest,
      choose: Effect.Effect<number, WireError, R>
    ) => Effect.Effect<number, WireError, R>
  }
>()("starling/http/Idempotency") {
  static readonly layer = ({ renderError = renderStandardError, leaseMs = leaseMsDefault }: IdempotencyOptions = {}) =>
    Layer.effect(
      Idempotency,
      Effect.gen(function* () {
        const kv = yield* Kv
        const records = idempotencyRecords(yield* kv.open("idempotency", IdempotencyRecord), leaseMs)
        const choiceBucket = yield* kv.open("idempotency", ChoiceRecord)
        const choices = recordsIn(choiceBucket)
        const outcomes = (yield* Metrics).counter(idempotencyOutcomes)

        const runOnce = Effect.fn("Idempotency.run")(function* <R>(
          { workspace, route, fingerprint, keepsRefusals = true }: IdempotentRequest,
          key: string,
          handle: Effect.Effect<Answer, WireError, R>
        ) {
          outcomes.begin({ route })
          const count = (outcome: Outcome) => Effect.sync(() => outcomes.inc({ route, outcome }))
          const identity = { key: recordKey(workspace, route, key), holder: randomUUID(), fingerprint }
          const finalAnswer = (exit: Ended) =>
            keepsRefusals || Exit.isSuccess(exit) ? answerOf(exit, renderError) : Effect.succeed(undefined)
          return yield* Effect.uninterruptibleMask((restore) =>
            underClaim(identity, handle, { count, finalAnswer, restore })
          )
        })

        const underClaim = Effect.fnUntraced(function* <R>(
          identity: Omit<Claim, "revision">,
          handle: Effect.Effect<Answer, WireError, R>,
          { count, finalAnswer, restore }: Run
        ) {
          const claimed = yield* claimKey(records, identity).pipe(
            Effect.timeout(claimWithinMs),
            Effect.catch((error) => Effect.andThen(count("unavailable"), unavailable(error)))
          )
          if (claimed._tag !== "Claimed") return yield* Effect.andThen(count(outcomeOf(claimed)), reply(claimed))
          const work = Effect.raceFirst(handle, holdClaim(records, claimed.claim, leaseMs))
          const exit = yield* Effect.exit(restore(work))
          const isLost = Exit.isFailure(exit) && Option.exists(Cause.findErrorOption(exit.cause), isClaimLost)
          const answer = yield* finalAnswer(exit)
          yield* count(isLost ? "lost" : yield* endClaim(records, claimed.claim, answer))
          return yield* Effect.catchTag(exit, "ClaimLost", claimWasLost)
        })

        const chosen = Effect.fn("Idempotency.chosen")(function* <R>(
          { workspace, route, fingerprint, key }: IdempotentRequest,
          choose: Effect.Effect<number, WireError, R>
        ) {
          if (key === undefined) return yield* choose
          const place = recordKey(workspace, route, key, "choice")
          const found = Option.getOrUndefined(yield* Effect.catch(choiceBucket.get(place), unavailable))
          if (found?.value.fingerprint === fingerprint) return found.value.choice
          const choice = yield* choose
          const { answer } = yield* Effect.catch(
            choices.change(place, (before) =>
              before?.fingerprint === fingerprint ? kept(before) : replaced({ fingerprint, choice })
            ),
            unavailable
          )
          return answer.choice
        })
        return Idempotency.of({
          chosen,
          run: <A extends Answer, R>(request: IdempotentRequest, handle: Effect.Effect<A, WireError, R>) =>
            request.key === undefined
              ? handle
              : (runOnce(request, request.key, handle) as Effect.Effect<A, WireError, R>)
        })
      })
    )
}

interface Run {
  readonly count: (outcome: Outcome) => Effect.Effect<void>
  /** The answer to keep. */
  readonly finalAnswer: (exit: Ended) => Effect.Effect<Answer | undefined>
  readonly restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

type Outcome = "first" | "freed" | "unstored" | "replayed" | "conflict" | "in_flight" | "lost" | "unavailable"
type Taken = Exclude<Claimed, { readonly _tag: "Claimed" }>

const outcomes = { InFlight: "in_flight", OtherRequest: "conflict", Answered: "replayed" } as const
const outcomeOf = ({ _tag }: Taken): Outcome => outcomes[_tag]

const reply = (taken: Taken): Effect.Effect<Answer, WireError> => {
  if (taken._tag === "Answered") return Effect.succeed(replayOf(taken.answer))
  const isRunning = taken._tag === "InFlight"
  const message = isRunning
    ? "the first request with this idempotency key is still running"
    : "this idempotency key was used for another request"
  const headers = isRunning ? { "retry-after": "1" } : {}
  return Effect.fail(new WireError({ status: 409, code: "idempotency_conflict", message, headers }))
}

const unavailable = (error: BusError | Cause.TimeoutError) =>
  Effect.andThen(
    Effect.logWarning("an idempotency key cannot be claimed", error),
    Effect.fail(serviceUnavailable(1, "idempotency keys cannot be checked just now"))
  )

const claimWasLost = () =>
  Effect.andThen(
    Effect.logWarning("work was stopped, for its claim on an idempotency key was lost"),
    Effect.fail(serviceUnavailable(1, "the work was stopped, try again with the same idempotency key"))
  )

const isClaimLost = (error: unknown) => error instanceof ClaimLost

type Ended = Exit.Exit<Answer, WireError | ClaimLost>

/** The answer to keep: the one that was finally sent, unless it is retryable. */
const answerOf = Effect.fnUntraced(function* (exit: Ended, renderError: RenderError) {
  if (Exit.isSuccess(exit)) return isFinal(exit.value.status) ? exit.value : undefined
  const { cause } = exit
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (!(failure instanceof WireError) || Cause.hasDies(cause) || Cause.hasInterrupts(cause)) return undefined
  if (!isFinal(failure.status)) return undefined
  const call = yield* Effect.serviceOption(HttpCall)
  const body = renderError(failure, Option.match(call, { onNone: () => "", onSome: ({ requestId }) => requestId }))
  return jsonAnswer(body, { status: failure.status, headers: failure.headers ?? {} })
})

// Never fails: the work is done, and its caller gets the answer even if a repetition cannot.
const endClaim = Effect.fnUntraced(
  function* (records: ClaimRecords, claim: Claim, answer: Answer | undefined) {
    const stored = answer === undefined ? undefined : storedAnswer(answer)
    if (stored !== undefined) {
      yield* settleClaim(records, claim, stored)
      return "first" as const
    }
    if (answer !== undefined) {
      const { status, body } = answer
      yield* Effect.logWarning("an answer cannot be kept for its idempotency key, it is too large or a stream").pipe(
        Effect.annotateLogs({
          status,
          body: body._tag,
          bytes: "contentLength" in body ? body.contentLength : undefined
        })
      )
    }
    yield* releaseClaim(records, claim)
    return answer === undefined ? ("freed" as const) : ("unstored" as const)
  },
  Effect.timeout(endWithinMs),
  Effect.catch((error) =>
    Effect.as(
      Effect.logWarning("a claim on an idempotency key could not be ended", error),
      error._tag === "ClaimLost" ? ("lost" as const) : ("unstored" as const)
    )
  )
)

type ClaimRecords = Records<IdempotencyRecord>

// How long a freed key waits for its retry.
const releasedForMs = 60_000

/** A claim lives for its lease, a freed key for a minute, and an answer for as long as the bucket keeps it. */
export const idempotencyRecords = (bucket: KvBucket<IdempotencyRecord>, leaseMs: number): ClaimRecords =>
  recordsIn(bucket, {
    keptMs: ({ state }) => {
      if (state === "working") return leaseMs
      return state === "released" ? releasedForMs : undefined
    },
    isOurs: (found, written) => found.holder === written.holder && found.state === written.state
  })

export interface Claim {
  readonly key: string
  readonly holder: string
  readonly fingerprint: string
  /** Changes with each renewal. */
  revision: number
}

type Claimed = { readonly _tag: "Claimed"; readonly claim: Claim } | Exclude<KeyState, { readonly _tag: "Free" }>

/** Another request holds the key, or may hold it by now. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", { key: Schema.String }) {}

/** Takes a free key, or returns its state. */
export const claimKey = (records: ClaimRecords, identity: Omit<Claim, "revision">): Effect.Effect<Claimed, BusError> =>
  Effect.map(
    records.change(
      identity.key,
      (before) => {
        const keyState = before === undefined ? free : keyStateOf(before, identity.fingerprint)
        return Result.succeed({ answer: keyState, next: keyState._tag === "Free" ? workingOf(identity) : undefined })
      },
      // Most keys are new.
      { known: Option.none() }
    ),
    ({ answer, revision }) => (answer._tag === "Free" ? { _tag: "Claimed", claim: { ...identity, revision } } : answer)
  )

const free: KeyState = { _tag: "Free" }

/** Renews the claim forever; fails when it is lost, or could be lost before the next renewal. */
const holdClaim = Effect.fnUntraced(function* (
  records: ClaimRecords,
  claim: Claim,
  leaseMs: number
): Effect.fn.Return<never, ClaimLost> {
  // Three renewals may fail in a row, which is as long as a broker takes to restart.
  const everyMs = leaseMs / 6
  const stopAfterMs = leaseMs * 0.75
  let renewedAtMs = yield* nowMs
  while (true) {
    yield* Effect.sleep(everyMs)
    const askedAtMs = yield* nowMs
    const renewed = yield* Effect.result(
      Effect.timeoutOrElse(writeOwn(records, claim, workingOf(claim)), {
        duration: leaseMs / 8,
        orElse: () => Effect.fail(new BusUnavailable({ operation: `renew ${claim.key}`, detail: "no answer in time" }))
      })
    )
    if (Result.isSuccess(renewed)) renewedAtMs = askedAtMs
    else if (renewed.failure._tag === "ClaimLost") return yield* renewed.failure
    else if ((yield* nowMs) - renewedAtMs >= stopAfterMs) return yield* new ClaimLost({ key: claim.key })
  }
})

/** Replaces the claim with the final answer. */
export const settleClaim = (
  records: ClaimRecords,
  claim: Claim,
  answer: Extract<IdempotencyRecord, { readonly state: "answered" }>["answer"]
) => {
  const { holder, fingerprint } = claim
  return writeOwn(records, claim, { state: "answered", holder, fingerprint, answer })
}

/** Frees the key for the next request that uses it, whatever that request asks for. */
const releaseClaim = (records: ClaimRecords, claim: Claim) =>
  writeOwn(records, claim, { state: "released", holder: claim.holder })

const nowMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

const workingOf = ({ holder, fingerprint }: Omit<Claim, "revision">): IdempotencyRecord => ({
  state: "working",
  holder,
  fingerprint
})

/**
 * Changes the record while we own it. A claim that expired while this process was suspended, and that no other request
 * took, is ours again.
 */
const writeOwn = (
  records: ClaimRecords,
  claim: Claim,
  record: IdempotencyRecord
): Effect.Effect<void, BusError | ClaimLost> =>
  Effect.map(
    records.change(
      claim.key,
      (before) => {
        if (before !== undefined && before.holder !== claim.holder)
          return Result.fail(new ClaimLost({ key: claim.key }))
        return before !== undefined && before.state !== "working" ? kept(before) : replaced(record)
      },
      { known: Option.some({ key: claim.key, value: workingOf(claim), revision: claim.revision }) }
    ),
    ({ revision }) => void (claim.revision = revision)
  )
