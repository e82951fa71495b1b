/**
 * What one process knows of the payments it has met, so that an ordinary one is taken without a look at its claim first:
 * an unmet payment of a payer whom nothing was refused lately. A replay or a refused payer is looked at before anything
 * is written or asked of a chain for it. Of hints alone: the write to the bucket decides.
 */
import { payerKeyOf } from "#contracts"
import type { CheckedPayment } from "../scheme.ts"
import type { PayerName } from "./PayerBook.ts"
import { recentKeys } from "./recent-keys.ts"

export interface Acquaintance {
  /** True once for a payment, and only while its payer is not refused. */
  readonly meet: (checked: CheckedPayment, nowMs: number) => boolean
  readonly refused: (payer: PayerName, nowMs: number) => void
}

// Some ten minutes of a thousand calls a minute: a replay comes within a payment's time.
const payments = { keysMax: 10_000, keptMs: 600_000 }
// As long as an answer that is not paid for keeps its payer's place.
const payers = { keysMax: 4_096, keptMs: 60_000 }

export const acquaintance = (): Acquaintance => {
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
