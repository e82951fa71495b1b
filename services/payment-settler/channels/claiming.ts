/**
 * Which channels are claimed now, and for how much. Pure. Everything owed is claimed periodically, many channels in one
 * transaction; at once if a payer withdraws by itself, or if one channel owes more than may be lost. No more is claimed
 * than the channel's balance: a charge beyond that is lost, and is reported.
 */
import { type Channel, unclaimedOf, type VoucherClaim } from "#payments"

export interface ClaimTerms {
  /** A channel that owes this much is claimed at once; in the token's smallest unit. */
  readonly unitsMax: bigint
  readonly everyMs: number
}

/** Rows of one transaction: about 4 million gas, a small part of a block. */
export const rowsMax = 64

export type ClaimReason = "withdrawal" | "exposure" | "period"

/** Why these channels are claimed now; undefined if nothing is due. `lastAtMs`: when all were last claimed. */
export const claimReason = (
  channels: Iterable<Channel>,
  { unitsMax, everyMs }: ClaimTerms,
  nowMs: number,
  lastAtMs: number
): ClaimReason | undefined => {
  let reason: ClaimReason | undefined
  for (const channel of channels) {
    if (claimableOf(channel) === undefined) continue
    if (channel.mirror.withdrawRequestedAt > 0) return "withdrawal"
    if (unclaimedOf(channel) >= unitsMax) reason = "exposure"
    else if (nowMs - lastAtMs >= everyMs) reason ??= "period"
  }
  return reason
}

/** What can be claimed from a channel; undefined if that is nothing. */
export const claimableOf = ({ config, charged, signed, mirror }: Channel): VoucherClaim | undefined => {
  if (signed === null) return undefined
  const there = BigInt(mirror.balance)
  const totalClaimed = BigInt(charged) < there ? BigInt(charged) : there
  if (totalClaimed <= BigInt(mirror.totalClaimed)) return undefined
  return { config, maxClaimable: BigInt(signed.maxClaimable), signature: signed.signature, totalClaimed }
}

/** The amount charged that can no longer be claimed. */
export const lostOf = ({ charged, mirror }: Pick<Channel, "charged" | "mirror">): bigint => {
  const lost = BigInt(charged) - BigInt(mirror.balance)
  return lost > 0n ? lost : 0n
}

/** Withdrawals first, then the largest debts, because a transaction may be the last that succeeds for a while. */
export const inOrder = (channels: Iterable<Channel>): ReadonlyArray<Channel> =>
  [...channels]
    .filter((channel) => claimableOf(channel) !== undefined)
    .toSorted((one, other) => {
      const withdrawing = withdrawsFirst(other) - withdrawsFirst(one)
      if (withdrawing !== 0) return withdrawing
      return unclaimedOf(other) > unclaimedOf(one) ? 1 : -1
    })

const withdrawsFirst = ({ mirror }: Channel) => (mirror.withdrawRequestedAt > 0 ? 1 : 0)

/** The channels of each transaction. */
export const batchesOf = <A>(rows: ReadonlyArray<A>, size = rowsMax): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, index) => rows.slice(index * size, (index + 1) * size))
