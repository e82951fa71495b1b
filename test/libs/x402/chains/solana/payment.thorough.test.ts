import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { checkPayment, type CheckOptions } from "../../../../../libs/x402/chains/solana/payment.ts"
import { base64Of, memo, network, payloadOf, signerOf } from "./transactions.ts"
import { limits, paymentMaker, type Scene } from "./vectors.ts"

const scene: Scene = {
  blockhash: "9sHcv6xwn9YkB8nxTUGKDwPwNnmqVp5oAXxU8Fdkm4J6",
  payTo: signerOf("the gateway").address,
  feePayer: signerOf("fee payer"),
  otherFeePayer: signerOf("other fee payer"),
  payer: signerOf("payer")
}
const options: CheckOptions = { network, feePayers: [scene.feePayer.address, scene.otherFeePayer.address], limits }
const nowMs = 1_790_000_000_000

const make = await paymentMaker(scene)

describe("a damaged Solana payment", () => {
  it("is at most refused, whatever bytes are changed or missing", () => {
    const requirements = make.requirements()
    const wire = make.wire({ tail: [memo("soft")] })
    for (let at = 0; at < wire.length; at += 1) {
      const changed = Uint8Array.from(wire)
      changed[at] = (changed[at] ?? 0) ^ (1 + (at % 255))
      for (const hostile of [changed, wire.slice(0, at)]) {
        const result = checkPayment(options, payloadOf(base64Of(hostile), requirements), requirements, nowMs)
        // Bytes 1 to 64 are the fee payer's slot, still unsigned.
        const isSlot = hostile.length === wire.length && at >= 1 && at <= 64
        assert.strictEqual(Result.isSuccess(result), isSlot, `byte ${at}`)
      }
    }
  })
})
