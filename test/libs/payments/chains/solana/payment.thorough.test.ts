import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { checkPayment } from "../../../../../libs/payments/chains/solana/payment.ts"
import { base64Of, memo, payloadOf } from "./transactions.ts"
import { offlineOptions, offlineScene, paymentMaker } from "./vectors.ts"

const nowMs = 1_790_000_000_000

const make = await paymentMaker(offlineScene)

describe("a damaged Solana payment", () => {
  it("is at most refused, whatever bytes are changed or missing", () => {
    const requirements = make.requirements()
    const wire = make.wire({ tail: [memo("soft")] })
    for (let at = 0; at < wire.length; at += 1) {
      const changed = Uint8Array.from(wire)
      changed[at] = (changed[at] ?? 0) ^ (1 + (at % 255))
      for (const hostile of [changed, wire.slice(0, at)]) {
        const result = checkPayment(offlineOptions, payloadOf(base64Of(hostile), requirements), requirements, nowMs)
        // Bytes 1 to 64 are the fee payer's slot, still unsigned.
        const isSlot = hostile.length === wire.length && at >= 1 && at <= 64
        assert.strictEqual(Result.isSuccess(result), isSlot, `byte ${at}`)
      }
    }
  })
})
