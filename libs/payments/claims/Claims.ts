/**
 * One payment, one call: takes payments for calls and moves the claims along until they are settled. The first write of
 * a revision wins; no process's clock, memory or cache decides. A holder's moves are valid within one life of a claim,
 * so renewing it in parallel is harmless; a sweep's moves are valid for one revision only.
 */
import { Clock, Context, Effect, Layer, Option, type Stream } from "effect"
import { type BusError, Publisher } from "#bus"
import { payerKeyOf, type Payments, type SettlementJob } from "#payments/contract"
import { setNewest, subjects } from "#base"
import { Metrics } from "#runtime"
import { unpaidLost } from "../metrics.ts"
import { facilitatorOf, microUsdOf, microUsdOfAmount } from "../quote.ts"
import type { CheckedPayment } from "../scheme.ts"
import { type Claim, jobId, moveClaim, openClaimStore, settlementJob, settlementJobCodec } from "./ClaimStore.ts"
import { openNewPayers } from "./NewPayers.ts"
import {
  afterSettled,
  afterUnpaid,
  isGivenOut,
  openPayerStore,
  type PayerStore,
  type PayerName,
  type PayerRecord,
  type Place,
  type PlaceTerms,
  placeOf,
  unpaidOf,
  withPaid,
  withoutPlace,
  withPlace
} from "./PayerStore.ts"
import {
  chargeOf,
  type ClaimLost,
  type ClaimMove,
  type ClaimRecord,
  ExposureReached,
  isPayersDoing,
  placeAfter,
  type SweepTimes
} from "./claim.ts"
import type { CreditTerms } from "./credit.ts"
import { type Call, type Refusal, takeClaim, type TakeOptions } from "./take-claim.ts"

export interface ClaimOptions {
  readonly credit: CreditTerms
  /** Each network's token decimals; six where a network is not listed. */
  readonly decimals?: ReadonlyMap<string, number>
  /** How long an ended claim is kept after its payment expires. */
  readonly keptMs: number
}

interface PaidAfterAll extends PayerName {
  readonly amount: string
}

type Moved = Effect.Effect<Claim, ClaimLost | BusError>

export class Claims extends Context.Service<
  Claims,
  {
    /**
     * Whether this process knows nothing against a payment: it has not seen the payment before and has not recently
     * refused its payer. True once per payment.
     */
    readonly isFirstSeen: (checked: CheckedPayment) => Effect.Effect<boolean>
    /** Takes a checked payment for one call: CLAIMED, for the length of a lease. */
    readonly claim: (checked: CheckedPayment, call: Call, options?: TakeOptions) => Effect.Effect<Claim, Refusal>
    readonly read: (key: string) => Effect.Effect<Option.Option<Claim>, BusError>
    /** Every claim in the bucket, for the reconciliation. */
    readonly all: Stream.Stream<Claim, BusError>
    /**
     * Moves a claim along its table, and its payer's record with it. Valid within one life of the claim: a renewal in
     * parallel with a holder's work is harmless.
     */
    readonly move: (claim: Claim, move: ClaimMove) => Moved
    /**
     * Like `move`, for a claim that has not moved since it was read, so not one that another verifier has taken over.
     */
    readonly moveAsRead: (claim: Claim, move: ClaimMove) => Moved
    /**
     * Stores a job for the settlers. Their first write makes the claim SETTLING if it is not yet; until then the claim
     * is as free as before. Fails with `StreamFull` when the settlers are behind.
     */
    readonly requestSettlement: (claim: Claim, replyTo: SettlementJob["replyTo"]) => Effect.Effect<void, BusError>
    /**
     * Records in the claim's place that a complete answer is about to be sent before its payment is confirmed. Fails if
     * the payer is denied.
     */
    readonly expose: (claim: Claim) => Effect.Effect<void, ExposureReached | BusError>
    /** What a payer's calls would cost if none were paid, in millionths of a dollar. */
    readonly unpaidOf: (payer: PayerRecord) => { readonly all: number; readonly beyond: number }
    readonly payer: (name: PayerName) => Effect.Effect<Option.Option<PayerRecord>, BusError>
    /** Serves a payer again that was denied because of this claim, after the chain turns out to have its transfer. */
    readonly pardon: (paid: PaidAfterAll, claimKey: string) => Effect.Effect<void, BusError>
    /** Returns a place that no claim backs. `ended`: the claim that ended without it. */
    readonly vacate: (name: PayerName, place: Place, ended: ClaimRecord | null) => Effect.Effect<void, BusError>
  }
>()("starling/payments/Claims") {
  static readonly layer = (options: ClaimOptions) =>
    Layer.effect(
      Claims,
      Effect.gen(function* () {
        const store = yield* openClaimStore(options)
        const payers = yield* openPayerStore()
        const newPayers = yield* openNewPayers(options.credit)
        const publisher = yield* Publisher
        const losses = (yield* Metrics).counter(unpaidLost)
        const decimals = options.decimals ?? new Map<string, number>()
        const microUsdOf = (network: string, amount: bigint) => microUsdOfAmount(amount, decimals.get(network) ?? 6)
        const partsOf = (isAsRead: boolean): Parts => ({
          payers,
          isAsRead,
          credit: options.credit,
          microUsdOf,
          giveBack: newPayers.giveBack,
          lost: (microUsd, beyond) =>
            Effect.andThen(
              Effect.sync(() => losses.inc({}, microUsd / 1e6)),
              beyond > 0 ? newPayers.lost(beyond) : Effect.void
            ),
          write: (claim, step) => moveClaim(store, claim, step, isAsRead)
        })
        const [inItsLife, asRead] = [partsOf(false), partsOf(true)]
        const seen = firstSeen()
        const now = <A>(use: (nowMs: number) => A) => Effect.map(Clock.currentTimeMillis, use)
        return Claims.of({
          isFirstSeen: (checked) => now((nowMs) => seen.isFirst(checked, nowMs)),
          claim: yield* takeClaim({
            store,
            payers,
            newPayers,
            credit: options.credit,
            microUsdOf,
            refusedNow: ({ why }, checked) =>
              why === "replay" ? Effect.void : now((nowMs) => seen.refused(checked, nowMs))
          }),
          read: store.read,
          all: store.all,
          move: (claim, step) => moveWithPlace(inItsLife, claim, step),
          moveAsRead: (claim, step) => moveWithPlace(asRead, claim, step),
          requestSettlement: (claim, replyTo) => publishJob(publisher, claim, replyTo),
          expose: (claim) => expose(payers, claim),
          unpaidOf: (payer) => unpaidOf(payer, { microUsdOf }),
          payer: (name) =>
            Effect.map(
              payers.read(name),
              Option.map(({ value }) => value)
            ),
          pardon: (paid, claimKey) => pardon(inItsLife, paid, claimKey),
          vacate: (name, place, ended) => vacateUnneeded(inItsLife, name, place, ended)
        })
      })
    )
}

interface Parts {
  readonly payers: PayerStore
  readonly write: (claim: Claim, step: ClaimMove) => Moved
  readonly isAsRead: boolean
  readonly credit: CreditTerms
  readonly microUsdOf: PlaceTerms["microUsdOf"]
  /** A payment that was not verified takes no share of what new payers may have unpaid. */
  readonly giveBack: (ticket: string) => void
  /** Records the cost of a call that will not be paid; `beyond`: the part that its payer had not earned. */
  readonly lost: (microUsd: number, beyond: number) => Effect.Effect<void, BusError>
}

/** Moves the claim and its payer's record. The order of the two writes decides what a crash in between leaves. */
const moveWithPlace = (parts: Parts, claim: Claim, step: ClaimMove): Moved => {
  switch (placeAfter(step)) {
    case "kept":
      return parts.write(claim, step)
    case "free":
      return parts.isAsRead ? releaseAsRead(parts, claim, step) : release(parts, claim, step)
    case "spent":
      return spend(parts, claim, step)
    case "owed":
      return deny(parts, claim, step)
    case "owed if given out":
      return denyIfGivenOut(parts, claim, step)
  }
}

const release = Effect.fn("Claims.release")(function* (parts: Parts, claim: Claim, step: ClaimMove) {
  // Both are written in parallel: the next life of the claim has its own place.
  const both = [free(parts, claim, step), parts.write(claim, step)] as const
  const [, next] = yield* Effect.all(both, { concurrency: 2 })
  return next
})

const releaseAsRead = Effect.fn("Claims.releaseAsRead")(function* (parts: Parts, claim: Claim, step: ClaimMove) {
  const next = yield* parts.write(claim, step)
  // The place goes second: a claim that moved in the meantime keeps it.
  yield* free(parts, claim, step)
  return next
})

const free = Effect.fnUntraced(function* (
  parts: Parts,
  { key, record }: Claim,
  step: ClaimMove
): Effect.fn.Return<void, BusError> {
  const { ticket, network, amount } = record
  // How far its provider got is unknown.
  if (isPayersDoing(step)) {
    return yield* lose(parts, { key, record }, { ticket, microUsd: parts.microUsdOf(network, BigInt(amount)) })
  }
  yield* parts.payers.change(record, (payer) => withoutPlace(payer, key, ticket))
  parts.giveBack(ticket)
})

interface Loss {
  /** Null matches any life of the claim. */
  readonly ticket: string | null
  readonly microUsd: number
  readonly denies?: (before: PayerRecord, freed: PayerRecord) => PayerRecord
}

/** Frees the payer's place and counts the cost of its call against the payer. */
const lose = Effect.fnUntraced(function* (
  { payers, lost }: Parts,
  claim: Pick<Claim, "key" | "record">,
  { ticket, microUsd, denies = (_, freed) => freed }: Loss
): Effect.fn.Return<void, BusError> {
  const nowMs = yield* Clock.currentTimeMillis
  let beyond: number | undefined
  yield* payers.change(claim.record, (payer) => {
    const after = afterUnpaid(payer, { claimKey: claim.key, microUsd, nowMs }, ticket)
    beyond = after?.beyond
    return after === undefined ? denies(payer, payer) : denies(payer, after.record)
  })
  if (beyond !== undefined) yield* lost(microUsd, beyond)
})

/** A claim that ended unpaid was lost with the process that wrote its end. */
const vacateUnneeded = Effect.fnUntraced(function* (
  parts: Parts,
  name: PayerName,
  { claimKey, ticket }: Place,
  ended: ClaimRecord | null
): Effect.fn.Return<void, BusError> {
  if (ended?.state === "UNCOLLECTED" && ended.ticket === ticket) {
    return yield* lose(parts, { key: claimKey, record: ended }, { ticket, microUsd: chargedOf(parts, ended) })
  }
  const nowMs = yield* Clock.currentTimeMillis
  yield* parts.payers.change(name, (payer) => {
    const freed = withoutPlace(payer, claimKey, ticket)
    // The claim may have been settled, so the wallet may hold less since.
    return freed && { ...freed, settledLast: ticket, settledAtMs: nowMs }
  })
})

const chargedOf = ({ microUsdOf }: Pick<Parts, "microUsdOf">, record: ClaimRecord) =>
  microUsdOf(record.network, chargeOf(record))

const spend = Effect.fnUntraced(function* (parts: Parts, claim: Claim, step: ClaimMove) {
  const { payers, write, credit } = parts
  const both = [write(claim, step), payers.read(claim.record)] as const
  const [next, seen] = yield* Effect.all(both, { concurrency: 2 })
  const { ticket } = claim.record
  const nowMs = yield* Clock.currentTimeMillis
  const ended = { claimKey: claim.key, ticket, microUsd: chargedOf(parts, next.record), nowMs }
  // The place goes second: a missing place means that the chain has the transfer.
  yield* payers.change(claim.record, (payer) => afterSettled(payer, ended, credit), seen)
  return next
})

const deny = Effect.fn("Claims.uncollected")(function* (parts: Parts, claim: Claim, step: ClaimMove) {
  const { payers, write } = parts
  // The denial goes first: a crash in between must not let the payer continue.
  const sinceMs = yield* Clock.currentTimeMillis
  yield* lose(parts, claim, {
    ticket: null,
    microUsd: chargedOf(parts, claim.record),
    denies: (_, freed) => denied(freed, { claim, step, sinceMs })
  })
  return yield* write(claim, step).pipe(
    Effect.tapErrorTag("ClaimLost", ({ state }) =>
      state === "SETTLED" ? payers.change(claim.record, (payer) => pardoned(payer, claim.key)) : Effect.void
    )
  )
})

const denyIfGivenOut = Effect.fn("Claims.withheld")(function* (parts: Parts, claim: Claim, step: ClaimMove) {
  const next = yield* parts.write(claim, step)
  const sinceMs = yield* Clock.currentTimeMillis
  // The gateway that sends the answer takes a place first and then reads the claim, so one of the two sees the other.
  const denies = (payer: PayerRecord, freed: PayerRecord) =>
    isGivenOut(payer, claim.key) ? denied(freed, { claim, step, sinceMs }) : freed
  if (isPayersDoing(step)) {
    yield* lose(parts, claim, { ticket: null, microUsd: chargedOf(parts, claim.record), denies })
    return next
  }
  yield* parts.payers.change(claim.record, (payer) => {
    const freed = withoutPlace(payer, claim.key, null)
    return freed && denies(payer, freed)
  })
  return next
})

interface Denial {
  readonly claim: Claim
  readonly step: ClaimMove
  readonly sinceMs: number
}

const denied = (payer: PayerRecord, { claim, step, sinceMs }: Denial): PayerRecord => {
  const reason = "reason" in step ? step.reason : step._tag
  return { ...payer, denied: payer.denied ?? { claimKey: claim.key, reason, sinceMs } }
}

const expose = Effect.fn("Claims.expose")(function* (payers: PayerStore, claim: Claim) {
  const place = { ...placeOf(claim.key, claim.record), isGivenOut: true }
  let isRefused = false
  yield* payers.change(claim.record, (payer) => {
    // Its price was judged when the claim was taken.
    const taken = withPlace(payer, place, null)
    isRefused = taken._tag !== "Taken" && taken._tag !== "Held"
    return taken._tag === "Taken" ? taken.record : undefined
  })
  if (isRefused) return yield* new ExposureReached({ payer: claim.record.payer })
})

const pardon = Effect.fn("Claims.pardon")(function* (
  { payers, credit, microUsdOf }: Parts,
  paid: PaidAfterAll,
  claimKey: string
): Effect.fn.Return<void, BusError> {
  const nowMs = yield* Clock.currentTimeMillis
  const microUsd = microUsdOf(paid.network, BigInt(paid.amount))
  yield* payers.change(paid, (payer) => {
    const free = pardoned(payer, claimKey)
    return free && withPaid(free, { microUsd, nowMs }, credit)
  })
})

const pardoned = (payer: PayerRecord, claimKey: string) =>
  payer.denied?.claimKey === claimKey ? { ...payer, denied: null } : undefined

const publishJob = Effect.fnUntraced(function* (
  publisher: Publisher["Service"],
  claim: Claim,
  replyTo: SettlementJob["replyTo"]
): Effect.fn.Return<void, BusError> {
  const job = settlementJob(claim, replyTo, yield* Clock.currentTimeMillis)
  if (job === undefined) return
  const subject = subjects.settlements(claim.record.network, facilitatorOf(job.requirements))
  yield* publisher.publish(subject, settlementJobCodec, job, { messageId: jobId(claim.record) })
})

export const claimOptionsOf = (
  section: Pick<
    Payments,
    "UnpaidNewcomerUsd" | "UnpaidNewcomersMaxUsd" | "UnpaidPayerMaxUsd" | "KeptHours" | "Networks"
  >
): ClaimOptions => ({
  credit: {
    newPayerMax: Number(microUsdOf(section.UnpaidNewcomerUsd)),
    payerMax: Number(microUsdOf(section.UnpaidPayerMaxUsd)),
    newPayersMax: Number(microUsdOf(section.UnpaidNewcomersMaxUsd))
  },
  decimals: new Map(section.Networks.map(({ Network, AssetDecimals }) => [Network, AssetDecimals])),
  keptMs: section.KeptHours * 3_600_000
})

// A working settler finishes within a few blocks; a payment on Solana ends a minute after it was signed.
const settleWithinMsMax = 30_000

/** A facilitator may take longer than a block, and is not asked again before it has answered. */
export const sweepTimesOf = ({ LeaseSeconds, Networks }: Pick<Payments, "LeaseSeconds" | "Networks">): SweepTimes => {
  const isRemote = Networks.some(({ FacilitatorUrl }) => FacilitatorUrl !== undefined)
  const leaseMs = LeaseSeconds * 1_000
  return { leaseMs, settleWithinMs: isRemote ? settleWithinMsMax : Math.min(2 * leaseMs, settleWithinMsMax) }
}

interface FirstSeen {
  /** True once per payment, and only while its payer has not been refused. */
  readonly isFirst: (checked: CheckedPayment, nowMs: number) => boolean
  readonly refused: (payer: PayerName, nowMs: number) => void
}

// About ten minutes at a thousand calls a minute: a replay comes within a payment's validity.
const payments = { keysMax: 10_000, keptMs: 600_000 }
// As long as an unpaid answer keeps its payer's place.
const payers = { keysMax: 4_096, keptMs: 60_000 }

/**
 * This process's memory of payments: a payment new to it, from a payer that it has not recently refused, is taken
 * without reading its claim first. This is only a hint: the write to the bucket decides which call gets a payment.
 */
export const firstSeen = (): FirstSeen => {
  const seen = recentKeys(payments)
  const refused = recentKeys(payers)
  const nameOf = ({ network, payer }: PayerName) => payerKeyOf(network, payer)
  return {
    isFirst: (checked, nowMs) => {
      const isNew = !seen.has(checked.claimKey, nowMs)
      seen.add(checked.claimKey, nowMs)
      return isNew && !refused.has(nameOf(checked), nowMs)
    },
    refused: (payer, nowMs) => refused.add(nameOf(payer), nowMs)
  }
}

interface RecentKeys {
  /** Moves an existing key to the end. */
  readonly add: (key: string, nowMs: number) => void
  readonly has: (key: string, nowMs: number) => boolean
}

interface RecentKeysOptions {
  readonly keysMax: number
  readonly keptMs: number
}

/** Recently seen keys, in bounded memory: the oldest are dropped first. */
export const recentKeys = ({ keysMax, keptMs }: RecentKeysOptions): RecentKeys => {
  // In insertion order, which a map preserves.
  const addedAtMs = new Map<string, number>()
  return {
    add: (key, nowMs) => setNewest(addedAtMs, key, nowMs, keysMax),
    has: (key, nowMs) => {
      const atMs = addedAtMs.get(key)
      return atMs !== undefined && nowMs - atMs < keptMs
    }
  }
}
