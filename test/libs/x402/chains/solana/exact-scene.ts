/** A local chain with a payer, a receiver and the scheme under test, and payments as they come from a caller. */
import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { PaymentRequirements } from "#contracts"
import type { LocalSolana } from "../../../../../dev/chain/solana/LocalSolanaChain.ts"
import { readSettlerKey, type SvmScheme } from "#x402"
import { egress, startScene } from "./scheme.ts"
import { base64Of, payloadOf } from "./transactions.ts"
import type { PaymentDraft } from "./vectors.ts"

export const checkedFrom = (
  scheme: SvmScheme,
  wire: Uint8Array,
  requirements: PaymentRequirements,
  nowMs = Date.now()
) => {
  const result = scheme.check(payloadOf(base64Of(wire), requirements), requirements, nowMs)
  assert(Result.isSuccess(result), Result.isFailure(result) ? result.failure.reason : "")
  return result.success
}

export const leaseOf = (chain: LocalSolana, index = 0) => ({
  key: Result.getOrThrow(readSettlerKey(chain.network, chain.feePayers[index]?.secretKey ?? "")),
  nonce: null
})

/** A payment before any call to the chain. */
export const scene = Effect.fnUntraced(function* (draft: PaymentDraft = {}, ...options: Parameters<typeof startScene>) {
  const started = yield* startScene(...options)
  const { chain, make, scheme } = started
  const pay = (one: PaymentDraft = draft, nowMs?: number) =>
    checkedFrom(scheme, make.wire(one), make.requirements(), nowMs)
  const settle = Effect.fnUntraced(function* (checked: ReturnType<typeof pay>) {
    return yield* scheme.broadcast(yield* scheme.prepare(checked, leaseOf(chain)), checked)
  })
  return { ...started, pay, settle, lease: leaseOf(chain) }
})

export const live = (name: string, test: () => Effect.Effect<void, unknown, never>) => it.live(name, test)

export const codeOf = (result: Result.Result<unknown, { readonly _tag: string; readonly code?: string }>) =>
  Result.isFailure(result) ? (result.failure.code ?? result.failure._tag) : "fine"

export const inScope = <A, E>(effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof scene>>>) =>
  effect.pipe(Effect.scoped, Effect.provide(egress))
