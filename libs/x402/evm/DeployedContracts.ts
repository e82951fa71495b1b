/** Which addresses are known to have code, so that it is asked for once in a while and not per payment. */
import { Clock, Effect } from "effect"
import type { ChainUnavailable } from "../errors.ts"
import type { EvmNode } from "./EvmNode.ts"

// Code does not go away where it matters, but a local chain starts anew.
const keptMs = 15 * 60_000
const keptMax = 64

export class DeployedContracts {
  readonly #node: EvmNode
  readonly #seenAtMs = new Map<string, number>()

  constructor(node: EvmNode) {
    this.#node = node
  }

  readonly has = Effect.fnUntraced(function* (
    this: DeployedContracts,
    address: string
  ): Effect.fn.Return<boolean, ChainUnavailable> {
    const nowMs = yield* Clock.currentTimeMillis
    const seenAtMs = this.#seenAtMs.get(address)
    if (seenAtMs !== undefined && nowMs - seenAtMs < keptMs) return true
    const hasCode = yield* this.#node.hasCode(address)
    if (!hasCode) return false
    if (this.#seenAtMs.size >= keptMax) this.#seenAtMs.clear()
    this.#seenAtMs.set(address, nowMs)
    return true
  })
}
