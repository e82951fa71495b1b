/** The chain's present fees, asked for at most every two seconds, however many payments are settled. */
import { Clock, Effect } from "effect"
import { ChainUnavailable } from "../errors.ts"
import type { EvmNode } from "./EvmNode.ts"
import { type Fees, feesFor } from "./fees.ts"

// The offer leaves room for the base fee to double, which takes six full blocks at least.
const keptMs = 2_000

export class FeeSource {
  readonly #node: EvmNode
  readonly #capWei: bigint
  #last: { readonly fees: Fees; readonly atMs: number } | undefined

  constructor(node: EvmNode, capWei: bigint) {
    this.#node = node
    this.#capWei = capWei
  }

  readonly current = Effect.fnUntraced(function* (this: FeeSource): Effect.fn.Return<Fees, ChainUnavailable> {
    const nowMs = yield* Clock.currentTimeMillis
    if (this.#last !== undefined && nowMs - this.#last.atMs < keptMs) return this.#last.fees
    const [block, tipWei] = yield* Effect.all([this.#node.block("latest"), this.#node.tipWei], { concurrency: 2 })
    const fees = feesFor(block.baseFeeWei, tipWei, this.#capWei)
    if (fees === undefined) {
      const detail = `the chain asks for ${block.baseFeeWei + tipWei} wei per gas, more than the cap of ${this.#capWei}`
      return yield* new ChainUnavailable({ operation: "offer a fee", detail })
    }
    this.#last = { fees, atMs: nowMs }
    return fees
  })
}
