import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ChannelPayload, ChannelSettlement } from "#payments/contract"
import { chainFault, termsFault } from "../../../../services/payment-verifier/facilitator/channels.ts"

const address = (digit: string) => `0x${digit.repeat(40)}`
const signature = `0x${"12".repeat(65)}`
const channel = {
  payer: address("a"),
  payerAuthorizer: address("a"),
  receiver: address("b"),
  receiverAuthorizer: address("c"),
  token: address("d"),
  withdrawDelay: 900,
  salt: `0x${"0".repeat(64)}`
}
const channelId = `0x${"9".repeat(64)}`

describe("a payment by another server's channel", () => {
  const payloadOf = (type: "voucher" | "refund", max: number) =>
    Schema.decodeUnknownSync(ChannelPayload)({
      type,
      channelConfig: channel,
      voucher: { channelId, maxClaimableAmount: String(max), signature }
    })
  const deposit = (amount: number) => ({ deposit: { amount: String(amount) } as never })
  it.each([
    ["is good when the channel covers it", payloadOf("voucher", 700), {}, 1_000n, 500n, undefined],
    [
      "must go beyond what is claimed by its price",
      payloadOf("voucher", 699),
      {},
      1_000n,
      500n,
      "cumulative_below_claimed"
    ],
    ["must be covered", payloadOf("voucher", 1_001), {}, 1_000n, 500n, "cumulative_exceeds_balance"],
    ["may be covered by its deposit", payloadOf("voucher", 1_001), deposit(1), 1_000n, 500n, undefined],
    ["needs a channel", payloadOf("voucher", 700), {}, 0n, 0n, "channel_not_found"],
    ["is no channel before its deposit", payloadOf("voucher", 200), deposit(200), 0n, 0n, undefined],
    ["may be a refund of all that is left", payloadOf("refund", 500), {}, 1_000n, 500n, undefined],
    ["is no refund of what is claimed", payloadOf("refund", 499), {}, 1_000n, 500n, "cumulative_below_claimed"]
  ] as const)("%s", (_, payload, more, balance, totalClaimed, fault) => {
    const found = chainFault({ payload, ...more }, { balance, totalClaimed }, 200n)
    assert.strictEqual(found, fault && `invalid_batch_settlement_evm_${fault}`)
  })
})

describe("what another server has sent", () => {
  const row = (changes: object = {}) => ({
    voucher: { channel: { ...channel, ...changes }, maxClaimableAmount: "9" },
    signature,
    totalClaimed: "9"
  })
  const refund = {
    type: "refund",
    channelConfig: channel,
    voucher: { channelId, maxClaimableAmount: "9", signature },
    amount: "1",
    refundNonce: "0",
    claims: [] as ReadonlyArray<object>,
    refundAuthorizerSignature: signature
  }
  const claim = { type: "claim", claims: [row(), row()], claimAuthorizerSignature: signature }
  it.each([
    ["is sent when all of it is paid to us", claim, undefined],
    [
      "is not when one row is another's",
      { ...claim, claims: [row(), row({ receiver: address("f") })] },
      "receiver_mismatch"
    ],
    ["is not in another token", { ...claim, claims: [row({ token: address("f") })] }, "token_mismatch"],
    ["is a sweep to us alone", { type: "settle", receiver: address("f"), token: address("d") }, "receiver_mismatch"],
    ["is a refund of a channel to us", refund, undefined],
    [
      "is no refund of another's channel",
      { ...refund, channelConfig: { ...channel, receiver: address("f") } },
      "receiver_mismatch"
    ],
    ["is no refund with claims that nobody has signed", { ...refund, claims: [row()] }, "refund_payload"]
  ] as const)("%s", (_, given, fault) => {
    const settlement = Schema.decodeUnknownSync(ChannelSettlement)(given)
    const terms = { network: "eip155:84532", payTo: address("B"), asset: address("d") } as const
    assert.strictEqual(termsFault(settlement, terms), fault && `invalid_batch_settlement_evm_${fault}`)
  })
})
