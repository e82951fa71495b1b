/**
 * Payers of a local chain, whose money is worth nothing, for whom the fleet itself pays trials. Only `up` gives them,
 * and no setting does: a fleet with real chains never has any.
 */
import { Context } from "effect"
import type { ChainKind, Payer } from "./Wallet.ts"

export const TrialPayers = Context.Reference<Readonly<Partial<Record<ChainKind, Payer>>>>("starling/x402/TrialPayers", {
  defaultValue: () => ({})
})
