/**
 * Payments that one process sees for the first time. Hints alone: the write to the bucket decides who has a payment.
 */
import { payerKeyOf } from "#contracts"
import type { CheckedPayment } from "../scheme.ts"
import type { PayerName } from "./PayerBook.ts"

interface FirstSeen {
  /** True once for a payment, and only while its payer is not refused. */
  readonly meet: (checked: CheckedPayment, nowMs: number) => boolean
  readonly refused: (payer: PayerName, nowMs: number) => void
}

// Some ten minutes of a thousand calls a minute: a replay comes within a payment's time.
const payments = { keysMax: 10_000, keptMs: 600_000 }
// As long as an answer that is not paid for keeps its payer's place.
const payers = { keysMax: 4_096, keptMs: 60_000 }

/**
 * What one process knows of payments, so that an ordinary one is taken without a look at its claim first: a payment that
 * it has not met, of a payer whom nothing was refused lately.
 */
export const firstSeen = (): FirstSeen => {
  const met = recentKeys(payments)
  const refused = recentKeys(payers)
  const nameOf = ({ network, payer }: PayerName) => payerKeyOf(network, payer)
  return {
    meet: (checked, nowMs) => {
      const isNew = !met.has(checked.claimKey, nowMs)
      met.add(checked.claimKey, nowMs)
      return isNew && !refused.has(nameOf(checked), nowMs)
    },
    refused: (payer, nowMs) => refused.add(nameOf(payer), nowMs)
  }
}

interface RecentKeys {
  /** Anew, if it was there. */
  readonly add: (key: string, nowMs: number) => void
  readonly has: (key: string, nowMs: number) => boolean
}

interface RecentKeysOptions {
  readonly keysMax: number
  readonly keptMs: number
}

/** Keys that were met a while ago at the longest, in bounded memory: the oldest are forgotten first. */
export const recentKeys = ({ keysMax, keptMs }: RecentKeysOptions): RecentKeys => {
  // In the order of adding: a map keeps it.
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
