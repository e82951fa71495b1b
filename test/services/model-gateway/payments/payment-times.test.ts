import { assert, describe, it } from "@effect/vitest"
import { neededMs } from "../../../../services/model-gateway/payments/quote.ts"

const limits = { FirstByteSeconds: 120, StreamSeconds: 500 }

describe("the required lifetime of a payment", () => {
  it.each([
    ["a whole answer's time and a margin", "whole", 600, 150_000],
    ["a stream's time and a margin", "stream", 900, 530_000],
    ["what a fresh one has left when its stream was not begun in time", "stream", 600, 420_000],
    ["never less than a whole answer's", "stream", 300, 150_000],
    ["never more than a fresh one is", "stream", 120, 60_000]
  ] as const)("is %s", (_what, kind, MaxTimeoutSeconds, wanted) => {
    assert.strictEqual(neededMs(limits, { MaxTimeoutSeconds }, kind), wanted)
  })
})
