/**
 * What is in the token account that a payment is taken from, in the freshest state. An account that is not there holds
 * nothing. Which payments have been made from it no node tells by the way.
 */
import { Effect } from "effect"
import type { ChainUnavailable } from "../errors.ts"
import type { Funds } from "../scheme.ts"
import type { CheckedSvmPayment } from "./check.ts"
import type { SolanaRpc } from "./SolanaRpc.ts"

export const fundsOf = (
  rpc: SolanaRpc,
  { transfer }: Pick<CheckedSvmPayment, "transfer">
): Effect.Effect<Funds, ChainUnavailable> =>
  Effect.map(rpc.tokenBalance(transfer.source), (balance) => ({ balance, spent: null }))
