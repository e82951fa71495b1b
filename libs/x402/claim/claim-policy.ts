/**
 * The life of a claim as a table: which move leads from which state to which. Pure. What it promises, whoever
 * crashes when: a payment is used by one call at a time; once it is to be settled it is never free again; and
 * it ends as settled or, when the chain can make no transfer any more, as uncollected.
 */
import { type ClaimRecord, type ClaimState, transactionsMax } from "./claim-record.ts"

export type Move =
  /** The holder is still at work. */
  | { readonly _tag: "Renew" }
  /** The first byte of a stream is about to go out. */
  | { readonly _tag: "Serve" }
  /** The answer is made, or what there is of it was given out. */
  | { readonly _tag: "Settle"; readonly atMs: number }
  /** Settling is asked for again: nobody has reported for a while. */
  | { readonly _tag: "AskAgain" }
  /** A transaction is signed; it is stored before it is sent. */
  | { readonly _tag: "Prepare"; readonly transaction: string }
  | { readonly _tag: "Settled"; readonly transaction: string }
  /** The chain can make no transfer of this payment any more. */
  | { readonly _tag: "Uncollected"; readonly reason: string }
  /** The call failed before anything of it was given out, or its upstream failed: nothing is charged. */
  | { readonly _tag: "Release"; readonly reason: string }

/** States from which a move may be made, and where it leads; null stays. */
const table: Readonly<
  Record<Move["_tag"], { readonly from: ReadonlyArray<ClaimState>; readonly to: ClaimState | null }>
> = {
  Renew: { from: ["CLAIMED", "SERVING"], to: null },
  Serve: { from: ["CLAIMED"], to: "SERVING" },
  Settle: { from: ["CLAIMED", "SERVING"], to: "SETTLING" },
  AskAgain: { from: ["SETTLING"], to: null },
  Prepare: { from: ["SETTLING"], to: null },
  Settled: { from: ["SETTLING"], to: "SETTLED" },
  Uncollected: { from: ["SETTLING"], to: "UNCOLLECTED" },
  Release: { from: ["CLAIMED", "SERVING"], to: "RELEASED" }
}

/** The record after a move; undefined where the table has no such move: somebody else has moved it on. */
export const moved = (record: ClaimRecord, move: Move): ClaimRecord | undefined => {
  const { from, to } = table[move._tag]
  if (!from.includes(record.state)) return undefined
  const state = to ?? record.state
  const payment = hasEnded(state) ? null : record.payment
  return { ...record, ...changes(record, move), state, payment, moves: record.moves + 1 }
}

const changes = (record: ClaimRecord, move: Move): Partial<ClaimRecord> => {
  switch (move._tag) {
    case "Settle":
      return { requestedAtMs: move.atMs, asked: 1 }
    case "AskAgain":
      return { asked: record.asked + 1 }
    case "Prepare":
    case "Settled":
      return { transactions: withLast(record.transactions, move.transaction) }
    case "Uncollected":
    case "Release":
      return { reason: move.reason }
    default:
      return {}
  }
}

const withLast = (transactions: ReadonlyArray<string>, last: string) =>
  [...transactions.filter((one) => one !== last), last].slice(-transactionsMax)

export const hasEnded = (state: ClaimState) => state === "SETTLED" || state === "UNCOLLECTED" || state === "RELEASED"

/** What a claim found in the way says to one who wants to take it. */
export const canBeTaken = (found: ClaimRecord) => found.state === "RELEASED"

export interface Retention {
  /** After the payment's own end, for one that has ended. */
  readonly keptMs: number
}

// A payment that was let go cannot be used after its own end; clocks differ by less than this.
const clocksApartMs = 600_000

/**
 * How long the bucket keeps a record in milliseconds, or undefined for as long as it is not moved. A released
 * one goes soon, or a stranger with worthless signatures could fill the disk.
 */
export const timeToLiveMs = (record: ClaimRecord, retention: Retention, nowMs: number): number | undefined => {
  if (!hasEnded(record.state)) return undefined
  const leftMs = Math.max(0, record.validBeforeMs - nowMs)
  return leftMs + (record.state === "RELEASED" ? clocksApartMs : retention.keptMs)
}
