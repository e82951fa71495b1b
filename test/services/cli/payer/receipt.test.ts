import { assert, describe, it } from "@effect/vitest"
import type { SettleResponse } from "#payments/contract"
import { chargedBy, receiptReader } from "../../../../services/cli/payer/receipt.ts"

const receipt: SettleResponse = { success: true, transaction: "0xab", network: "eip155:84532", amount: "300" }
const header = Buffer.from(JSON.stringify(receipt)).toString("base64")

/** What is found in a stream whose pieces are so long. */
const foundIn = (text: string, pieceBytes: number) => {
  const { read } = receiptReader()
  const bytes = Buffer.from(text)
  const starts = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) => at * pieceBytes)
  return starts.map((start) => read(bytes.subarray(start, start + pieceBytes))).find((found) => found !== undefined)
}

describe("the receipt in a stream", () => {
  it.each([1, 7, 100_000])("is found in pieces of %i bytes", (pieceBytes) => {
    const stream = `data: {"choices":[]}\n\n: payment-response ${header}\n\ndata: [DONE]\n\n`
    assert.deepStrictEqual(foundIn(stream, pieceBytes), receipt)
  })

  it("is found after a line of any length, in which it is no receipt", () => {
    const within = `data: ${"x".repeat(16_378)}: payment-response ${header}\n\n`
    for (const pieceBytes of [64, 16_384, 100_000]) {
      assert.isUndefined(foundIn(within, pieceBytes))
      assert.deepStrictEqual(foundIn(`${within}: payment-response ${header}\n\n`, pieceBytes), receipt)
    }
  })
})

describe("the receipt of a stream", () => {
  const bytesOf = (text: string) => Buffer.from(text)

  it.each([
    ["message_stop", true],
    ["response.completed", true],
    ["response.incomplete", true],
    ["response.failed", true],
    ["response.output_text.delta", false]
  ])("after the event %s is due: %s", (event, isDue) => {
    const reader = receiptReader()
    reader.read(bytesOf("event: mess"))
    assert.isFalse(reader.isDue())
    reader.read(bytesOf(`age_start\ndata: {}\n\nevent: ${event}\ndata: {}\n\n`))
    assert.strictEqual(reader.isDue(), isDue)
    reader.read(bytesOf(`: payment-response ${header}\n\n`))
    assert.isFalse(reader.isDue())
  })
})

describe("the charge of a receipt", () => {
  it.each([
    ["is the price by exact", receipt, "exact", 1_000n],
    ["is what was used by upto", receipt, "upto", 300n],
    ["is at most what was signed", { ...receipt, amount: "5000" }, "upto", 1_000n],
    ["is what was signed where it does not say", { ...receipt, amount: "" as const }, "upto", 1_000n],
    ["is nothing by upto for what cost nothing", { ...receipt, amount: "0" }, "upto", 0n],
    ["is unknown without success", { ...receipt, success: false }, "exact", undefined],
    ["is unknown without a receipt", undefined, "exact", undefined]
  ] as const)("%s", (_, given, scheme, charged) => {
    assert.strictEqual(chargedBy(given, { scheme, amount: "1000" }), charged)
  })
})
