/**
 * This process's memory of payments: one that is new to it, from a payer with no recent refusal, is taken without
 * reading its claim first. It is a hint alone: the write to the bucket decides which call has a payment.
 */
import { payerKeyOf } from "#contracts"
import type { CheckedPayment } from "../scheme.ts"
import type { PayerName } from "./PayerStore.ts"

interface FirstSeen {
  /** True once for a payment, and only while its payer has had no refusal. */
  readonly isFirst: (checked: CheckedPayment, nowMs: number) => boolean
  readonly refused: (payer: PayerName, nowMs: number) => void
}

// Some ten minutes of a thousand calls a minute: a replay comes within a payment's time.
const payments = { keysMax: 10_000, keptMs: 600_000 }
// As long as an unpaid answer keeps its payer's place.
const payers = { keysMax: 4_096, keptMs: 60_000 }

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
  /** Moves a key that is there already to the end. */
  readonly add: (key: string, nowMs: number) => void
  readonly has: (key: string, nowMs: number) => boolean
}

interface RecentKeysOptions {
  readonly keysMax: number
  readonly keptMs: number
}

/** Recently seen keys, in bounded memory: the oldest are dropped first. */
export const recentKeys = ({ keysMax, keptMs }: RecentKeysOptions): RecentKeys => {
  // In the order of adding, which a map keeps.
  const addedAtMs = new Map<string, number>()
  return {
    add: (key, nowMs) => {
      addedAtMs.delete(key)
      addedAtMs.set(key, nowMs)
      const [oldest] = addedAtMs.keys()
      if (addedAtMs.size > keysMax && oldest !== undefined) addedAtMs.delete(oldest)
    },
    has: (key, nowMs) => {
      const atMs = addedAtMs.get(key)
      return atMs !== undefined && nowMs - atMs < keptMs
    }
  }
}
