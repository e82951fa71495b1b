import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { PaymentRequirements, SettleResponse } from "#payments/contract"
import { openWallet, type WalletChannels } from "#payments"
import { channelRequirements, newKey, payTo } from "../../../../dev/fixtures/evm/terms.ts"
import { channelFacts, channelLines, correctedBy, depositFor } from "../../../../services/cli/pay/by-channel.ts"

const offer = channelRequirements(payTo) as unknown as PaymentRequirements

// No question goes to the chain in these tests.
const openChannels = Effect.gen(function* () {
  const key = Redacted.make(newKey())
  const { channels } = yield* openWallet("evm", { key, rpcUrl: "http://127.0.0.1:1" })
  assert.isNotNull(channels)
  return channels as WalletChannels
})

const refusal = (extra: Record<string, unknown>, error = "invalid_batch_settlement_evm_cumulative_amount_mismatch") => {
  const resource = { url: "http://127.0.0.1/v1/chat/completions" }
  const quote = { x402Version: 2, error, resource, accepts: [{ ...offer, extra: { ...offer.extra, ...extra } }] }
  return Buffer.from(JSON.stringify(quote)).toString("base64")
}

const channelState = { balance: "5000", chargedCumulativeAmount: "700", totalClaimed: "0" }

/** The gateway's word on a channel, with a voucher over so much that the wallet signed. */
const shownBy = (channels: WalletChannels, signedMaxClaimable: bigint) => {
  const { payload } = channels.refund(offer, { charged: signedMaxClaimable, amount: null })
  const { signature } = payload["voucher"] as { readonly signature: string }
  return { channelState, voucherState: { signedMaxClaimable: signedMaxClaimable.toString(), signature } }
}

describe("a payer whose count of a channel was corrected", () => {
  it.effect("resumes from what its own voucher covers", () =>
    Effect.gen(function* () {
      const channels = yield* openChannels
      assert.strictEqual(correctedBy(refusal(shownBy(channels, 1_000n)), channels, offer), 700n)
    })
  )

  it.effect("believes no charge above its last voucher, no voucher of another, and none that is not shown", () =>
    Effect.gen(function* () {
      const channels = yield* openChannels
      const other = yield* openChannels
      assert.isUndefined(correctedBy(refusal(shownBy(channels, 699n)), channels, offer))
      assert.isUndefined(correctedBy(refusal(shownBy(other, 1_000n)), channels, offer))
      assert.isUndefined(correctedBy(refusal({ channelState }), channels, offer))
    })
  )

  it.effect("takes nothing from a refusal of another kind, or from one that cannot be read", () =>
    Effect.gen(function* () {
      const channels = yield* openChannels
      const shown = shownBy(channels, 1_000n)
      assert.isUndefined(correctedBy(refusal(shown, "channel_busy"), channels, offer))
      const odd = { ...shown, channelState: { ...channelState, chargedCumulativeAmount: "much" } }
      assert.isUndefined(correctedBy(refusal(odd), channels, offer))
      for (const header of [undefined, "", "no base64 of a quote"]) {
        assert.isUndefined(correctedBy(header, channels, offer))
      }
    })
  )
})

describe("what a payer puts into a channel before a call", () => {
  const cases: ReadonlyArray<readonly [string, { charged: bigint; balance: bigint }, bigint, bigint]> = [
    ["nothing while the price lies in it", { charged: 700n, balance: 1_000n }, 9_000n, 0n],
    ["five calls' worth when it is new", { charged: 0n, balance: 0n }, 9_000n, 1_500n],
    ["five calls' worth when a little is missing", { charged: 701n, balance: 1_000n }, 9_000n, 1_500n],
    ["no more than its owner allows at once", { charged: 0n, balance: 0n }, 400n, 400n],
    ["all that is missing where that is more", { charged: 9_000n, balance: 1_000n }, 9_000n, 8_300n]
  ]
  it.each(cases)("is %s", (_, position, max, deposit) => {
    assert.strictEqual(depositFor(position, { price: 300n, max }), deposit)
  })
})

describe("what a payer reads of a channel in the receipt", () => {
  const receipt = (more: Partial<SettleResponse>): SettleResponse => ({
    success: true,
    transaction: "",
    network: offer.network,
    extra: { channelState, chargedAmount: "250" },
    ...more
  })

  const linesOf = (given: SettleResponse) => channelLines(channelFacts(given) ?? assert.fail("it says nothing"))

  it("is the charge and what is left", () => {
    assert.deepStrictEqual(linesOf(receipt({ amount: "" })), [
      "charged:  0.000250 USD",
      "channel:  0.004300 USD left; ./starling pay --refund gets it back"
    ])
  })

  it("begins with the deposit where there was one", () => {
    const [first] = linesOf(receipt({ amount: "5000", transaction: "0xabc" }))
    assert.strictEqual(first, "deposit:  0.005000 USD into the channel, 0xabc")
  })

  it("is nothing for a call paid in another way", () => {
    assert.isUndefined(channelFacts(receipt({ extra: { orderId: "a" } })))
    assert.isUndefined(channelFacts(undefined))
  })
})
