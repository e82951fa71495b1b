/**
 * Whether the nodes are those of the configured chain and the token there is the one that payers sign for. Asked
 * once at the start: with a wrong name of the token every payment would be refused, and nobody would know why.
 */
import { Effect, Schema } from "effect"
import type { ChainUnavailable } from "../errors.ts"
import { type EvmNode, Reverted } from "./EvmNode.ts"
import { bytesOf, hexOf } from "./hex.ts"
import { domainSeparatorCall } from "./token-calls.ts"
import { domainSeparator, type TokenDomain } from "./typed-data.ts"

/** The configuration and the chain do not belong together; waiting does not help. */
export class ChainMismatch extends Schema.TaggedError<ChainMismatch>()("ChainMismatch", { detail: Schema.String }) {
  override get message() {
    return `the chain is not the one that is configured: ${this.detail}`
  }
}

export const probe = Effect.fn("evm.probe")(function* (
  node: EvmNode,
  domain: TokenDomain
): Effect.fn.Return<void, ChainMismatch | ChainUnavailable> {
  const chainId = yield* node.chainId
  if (chainId !== domain.chainId) {
    return yield* new ChainMismatch({ detail: `its id is ${chainId} instead of ${domain.chainId}` })
  }
  const answer = yield* Effect.result(node.call(domain.asset, bytesOf(domainSeparatorCall)))
  if (answer._tag === "Failure" && !(answer.failure instanceof Reverted)) return yield* answer.failure
  const separator = answer._tag === "Success" ? answer.success : "0x"
  if (separator === "0x") return yield* new ChainMismatch({ detail: `${domain.asset} is no token with a domain` })
  if (separator.toLowerCase() === hexOf(domainSeparator(domain))) return
  const detail = `the token ${domain.asset} is not named ${domain.name}, version ${domain.version}`
  return yield* new ChainMismatch({ detail })
})
