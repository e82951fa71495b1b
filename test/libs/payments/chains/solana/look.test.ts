import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { lookAtPayment } from "../../../../../libs/payments/chains/solana/look.ts"
import type { CheckedSvmPayment } from "../../../../../libs/payments/chains/solana/payment.ts"
import type { SignatureStatus, SolanaNode } from "../../../../../libs/payments/chains/solana/SolanaNode.ts"

const checked = { validBeforeMs: 1_000, transaction: { blockhash: "a hash" } } as unknown as CheckedSvmPayment
const made: SignatureStatus = { err: null, confirmationStatus: "finalized" }

it.effect("a payment that is made in its last moment, while it is looked for, is not taken for expired", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(checked.validBeforeMs)
    for (let landsAfter = 1; landsAfter <= 4; landsAfter += 1) {
      let asked = 0
      /** The transfer lands, and its blockhash ends, once the node has been asked so often. */
      const answer = <A>(before: A, after: A) => Effect.sync(() => ((asked += 1) > landsAfter ? after : before))
      const rpc: Pick<SolanaNode, "isBlockhashValid" | "status"> = {
        isBlockhashValid: () => answer(true, false),
        status: () => answer<SignatureStatus | null>(null, made)
      }
      const { _tag } = yield* lookAtPayment(rpc as SolanaNode, checked, "signature")
      assert.include(["Unused", "Undecided", "Settled"], _tag, `after ${landsAfter}`)
    }
  })
)
