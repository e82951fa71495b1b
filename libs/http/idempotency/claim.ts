/**
 * The claim on an idempotency key while its first request is in progress. It lives by a time to live on the broker's
 * clock and is renewed in time; a holder that dies or is cut off loses it, and stops before another can begin. Every
 * change names the revision it stands on, so a late one changes nothing.
 */
import { Clock, Effect, Option, Result, Schema } from "effect"
import { type BusError, BusUnavailable, type KvBucket, RevisionConflict } from "#bus"
import { type IdempotencyRecord, type Standing, standingOf } from "./record.ts"

export type Records = KvBucket<IdempotencyRecord>

export interface Claim {
  readonly key: string
  readonly holder: string
  readonly fingerprint: string
  /** Changes with each renewal. */
  revision: number
}

export type Claimed = { readonly _tag: "Claimed"; readonly claim: Claim } | Exclude<Standing, { readonly _tag: "Free" }>

/** Another request holds the key, or may hold it by now. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", { key: Schema.String }) {}

// Losing a try means that another request came first; by the last try it works, has answered, or has freed the key.
const triesMax = 5
// How long a freed key waits for its retry.
const releasedForMs = 60_000

/** Takes a free key, or returns its state. */
export const claimKey = Effect.fnUntraced(function* (
  records: Records,
  identity: Omit<Claim, "revision">,
  leaseMs: number
): Effect.fn.Return<Claimed, BusError> {
  const working = workingOf(identity)
  const claimed = (revision: number): Claimed => ({ _tag: "Claimed", claim: { ...identity, revision } })
  for (let tries = 0; tries < triesMax; tries++) {
    const created = yield* unlessConflict(records.create(identity.key, working, leaseMs))
    if (Option.isSome(created)) return claimed(created.value)
    const found = yield* records.get(identity.key)
    if (Option.isNone(found)) continue
    const standing = standingOf(found.value.value, identity.fingerprint)
    if (standing._tag !== "Free") return standing
    const taken = yield* unlessConflict(records.update(identity.key, working, found.value.revision, leaseMs))
    if (Option.isSome(taken)) return claimed(taken.value)
  }
  return yield* new RevisionConflict({ operation: `claim ${identity.key}`, detail: `${triesMax} tries, all lost` })
})

/** Renews the claim forever; fails when it is lost, or could be lost before the next renewal. */
export const holdClaim = Effect.fnUntraced(function* (
  records: Records,
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
      Effect.timeoutOrElse(writeOwn(records, claim, workingOf(claim), leaseMs), {
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
  records: Records,
  claim: Claim,
  answer: Extract<IdempotencyRecord, { readonly state: "answered" }>["answer"]
) => {
  const { holder, fingerprint } = claim
  return writeOwn(records, claim, { state: "answered", holder, fingerprint, answer }, undefined)
}

/** Frees the key for the next request with it, whatever that request asks for. */
export const releaseClaim = (records: Records, claim: Claim) =>
  writeOwn(records, claim, { state: "released", holder: claim.holder }, releasedForMs)

const nowMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))

const workingOf = ({ holder, fingerprint }: Omit<Claim, "revision">): IdempotencyRecord => ({
  state: "working",
  holder,
  fingerprint
})

const unlessConflict = <A>(write: Effect.Effect<A, BusError>) =>
  Effect.catchTag(Effect.asSome(write), "RevisionConflict", () => Effect.succeed(Option.none<A>()))

/** Changes the record while we own it. An earlier write whose reply was lost may have changed it already. */
const writeOwn = Effect.fnUntraced(function* (
  records: Records,
  claim: Claim,
  record: IdempotencyRecord,
  ttlMs: number | undefined
): Effect.fn.Return<void, BusError | ClaimLost> {
  let failure: BusError | undefined
  for (let tries = 0; tries < triesMax; tries++) {
    const written = yield* Effect.result(records.update(claim.key, record, claim.revision, ttlMs))
    if (Result.isSuccess(written)) return void (claim.revision = written.success)
    failure = written.failure
    if (failure._tag !== "RevisionConflict" && failure._tag !== "BusUnavailable") return yield* failure
    const found = yield* records.get(claim.key)
    if (Option.isNone(found)) {
      // The claim expired while this process was suspended, and no other request took the key: it is ours again.
      const created = yield* unlessConflict(records.create(claim.key, record, ttlMs))
      if (Option.isSome(created)) return void (claim.revision = created.value)
      continue
    }
    const { value, revision } = found.value
    if (value.holder !== claim.holder) return yield* new ClaimLost({ key: claim.key })
    claim.revision = revision
    if (value.state !== "working") return
  }
  return yield* failure ?? new RevisionConflict({ operation: `change ${claim.key}`, detail: "all tries lost" })
})
