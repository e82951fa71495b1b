/** Checks that the mint belongs to the token program by which payments are read, and has the decimals of our prices. */
import { Effect } from "effect"
import { ChainMismatch, type ChainUnavailable } from "../../errors.ts"
import type { SolanaNode } from "./SolanaNode.ts"

interface MintTerms {
  readonly mint: string
  readonly tokenProgram: string
  readonly decimals: number
}

export const probeMint = Effect.fn("Svm.probe")(function* (
  rpc: SolanaNode,
  terms: MintTerms
): Effect.fn.Return<void, ChainMismatch | ChainUnavailable> {
  const detail = mintFault(terms, yield* rpc.account(terms.mint))
  if (detail !== undefined) return yield* new ChainMismatch({ detail })
})

// Authority, supply, decimals, whether it is set up; then the freezing authority. Token-2022 adds more behind it.
const mintBytes = 82
const decimalsAt = 44
const initializedAt = 45

/** The mint's fault in words; undefined when there is none. Pure. */
export const mintFault = (
  { mint, tokenProgram, decimals }: MintTerms,
  account: { readonly owner: string; readonly data: Uint8Array } | null
): string | undefined => {
  if (account === null) return `there is no mint ${mint} on it`
  const { owner, data } = account
  if (owner !== tokenProgram) return `the mint ${mint} belongs to the program ${owner} instead of ${tokenProgram}`
  // A token account is longer, and belongs to the same program.
  if (data.length !== mintBytes || data[initializedAt] !== 1) return `${mint} is no mint`
  const actual = data[decimalsAt]
  return actual === decimals ? undefined : `the mint ${mint} is configured with ${decimals} decimals, and has ${actual}`
}
