/**
 * What a payer holds, and which of its authorizations that is already without: one question, answered as of one block,
 * so that a transfer is never counted as both made and still to be made. Where the chain has no contract for several
 * reads the balance alone is told.
 */
import { Effect } from "effect"
import { ChainUnavailable } from "../errors.ts"
import type { Funds } from "../scheme.ts"
import type { EvmNode, Reverted } from "./EvmNode.ts"
import type { EvmPayment } from "./EvmPayment.ts"
import { isHash, readQuantity } from "./hex.ts"
import { manyCallsAddress, tryAggregate, wordsOf } from "./many-calls.ts"
import { authorizationState, balanceOf } from "./token-calls.ts"

const operation = "read a balance"

export const funds = Effect.fnUntraced(function* (
  node: EvmNode,
  { asset, payer }: Pick<EvmPayment, "asset" | "payer">,
  claimKeys: ReadonlyArray<string>
): Effect.fn.Return<Funds, ChainUnavailable> {
  const authorizations = claimKeys.flatMap((claimKey) => {
    const nonce = claimKey.slice(claimKey.lastIndexOf(".") + 1)
    return isHash(nonce) ? [{ claimKey, nonce }] : []
  })
  const owned = balanceOf(payer)
  if (authorizations.length > 0) {
    const calls = [owned, ...authorizations.map(({ nonce }) => authorizationState(payer, nonce))]
    const answer = yield* unlessReverted(node.call(manyCallsAddress, tryAggregate(asset, calls)))
    const [balance, ...states] = (answer === undefined ? undefined : wordsOf(answer, calls.length)) ?? []
    if (balance !== undefined) {
      const used = authorizations.filter((_, index) => (states[index] ?? 0n) !== 0n)
      return { balance, spent: new Set(used.map(({ claimKey }) => claimKey)) }
    }
  }
  const answer = yield* unlessReverted(node.call(asset, owned))
  const balance = answer === undefined ? undefined : readQuantity(answer)
  if (balance === undefined) return yield* new ChainUnavailable({ operation, detail: "the token does not tell" })
  return { balance, spent: claimKeys.length === 0 ? new Set() : null }
})

const unlessReverted = (call: Effect.Effect<string, Reverted | ChainUnavailable>) =>
  Effect.catchTag(call, "Reverted", () => Effect.undefined)
