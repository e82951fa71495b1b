import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { PaymentPayload, PaymentRequirements } from "#contracts"
import { domainSeparator, DomainSeparators } from "../../../../../../libs/x402/chains/evm/signature.ts"
import { channelsDomain } from "../../../../../../libs/x402/chains/evm/channels/contract.ts"
import { checkVoucher, plainSignature } from "../../../../../../libs/x402/chains/evm/channels/voucher.ts"
import { channelRequirements } from "../../../../../../dev/fixtures/evm/reference-channels.ts"
import { newPayer } from "../../../../../../dev/fixtures/evm/payments.ts"

const chainId = 84_532n
const terms = {
  network: "eip155:84532",
  chainId,
  separator: domainSeparator(channelsDomain(chainId)),
  domains: new DomainSeparators(),
  marginSeconds: 6
}
const authorizer = newPayer().address
const requirements = channelRequirements(authorizer) as unknown as PaymentRequirements

type Json = Record<string, unknown>

/** As the protocol's own client signs it, with nothing known of its channel: a deposit and a voucher. */
const signed = async (): Promise<Json> => {
  const client = new BatchSettlementEvmScheme(privateKeyToAccount(generatePrivateKey()) as never)
  const { payload } = await client.createPaymentPayload(2, requirements as never)
  return payload
}

const verdictOf = (payload: Json, offered = requirements, nowMs = Date.now()) => {
  const payment: PaymentPayload = { x402Version: 2, accepted: offered, payload }
  const checked = checkVoucher(payment, offered, nowMs, terms)
  return Result.isSuccess(checked) ? "valid" : checked.failure.reason.replace("invalid_batch_settlement_evm_", "")
}

const changed = (payload: Json, part: string, changes: Json): Json => ({
  ...payload,
  [part]: { ...(payload[part] as Json), ...changes }
})

describe("the check of a payment by channel", () => {
  let deposit: Json
  let other: Json
  let voucher: Json

  beforeAll(async () => {
    deposit = await signed()
    other = await signed()
    voucher = { type: "voucher", channelConfig: deposit["channelConfig"], voucher: deposit["voucher"] }
  })

  it("takes the deposits, the vouchers and the refunds that the protocol's own client signs", () => {
    assert.strictEqual(verdictOf(deposit), "valid")
    assert.strictEqual(verdictOf(voucher), "valid")
    assert.strictEqual(verdictOf({ ...voucher, type: "refund" }), "valid")
    assert.strictEqual(verdictOf({ ...voucher, type: "refund", amount: "5" }), "valid")
  })

  const faults: ReadonlyArray<readonly [string, () => Json, string]> = [
    ["a payload of another scheme", () => ({ signature: "0x" }), "invalid_payload"],
    ["an unknown kind of payload", () => ({ ...voucher, type: "claim" }), "invalid_payload"],
    [
      "an amount beyond 128 bits",
      () => changed(voucher, "voucher", { maxClaimableAmount: String(2n ** 128n) }),
      "invalid_payload"
    ],
    [
      "another channel's id",
      () => changed(voucher, "voucher", { channelId: `0x${"1".repeat(64)}` }),
      "channel_id_mismatch"
    ],
    ["another channel's parties", () => ({ ...voucher, channelConfig: other["channelConfig"] }), "channel_id_mismatch"],
    [
      "another channel's voucher",
      () => ({
        ...voucher,
        channelConfig: other["channelConfig"],
        voucher: { ...(other["voucher"] as Json), signature: (voucher["voucher"] as Json)["signature"] }
      }),
      "voucher_signature"
    ],
    [
      "a voucher over another amount than was signed",
      () => changed(voucher, "voucher", { maxClaimableAmount: "999" }),
      "voucher_signature"
    ],
    [
      "a signature of a contract wallet",
      () => changed(voucher, "voucher", { signature: `0x${"ab".repeat(100)}` }),
      "voucher_signature"
    ],
    [
      "a deposit over another amount than was signed",
      () => changed(deposit, "deposit", { amount: "1" }),
      "receive_authorization_signature"
    ],
    [
      "a deposit that was signed for another channel",
      () => ({ ...deposit, deposit: other["deposit"] }),
      "receive_authorization_signature"
    ]
  ]
  it.each(faults)("refuses %s", (_, make, reason) => assert.strictEqual(verdictOf(make()), reason))

  it("refuses a channel to somebody else, and one with other terms than are offered", () => {
    const offered = (changes: Partial<PaymentRequirements>, extra: Json = {}) =>
      verdictOf(voucher, { ...requirements, ...changes, extra: { ...requirements.extra, ...extra } })
    const stranger = newPayer().address

    assert.strictEqual(offered({ payTo: stranger }), "receiver_mismatch")
    assert.strictEqual(offered({ asset: stranger }), "token_mismatch")
    assert.strictEqual(offered({}, { receiverAuthorizer: stranger }), "receiver_authorizer_mismatch")
    assert.strictEqual(offered({}, { withdrawDelay: 901 }), "withdraw_delay_mismatch")
  })

  it("refuses a deposit outside its window", () => {
    const hourMs = 3_600_000
    assert.strictEqual(verdictOf(deposit, requirements, Date.now() + hourMs), "payload_authorization_valid_before")
    const { authorization } = deposit["deposit"] as { readonly authorization: { readonly erc3009Authorization: Json } }
    const later = { ...authorization.erc3009Authorization, validAfter: String(Math.floor(Date.now() / 1_000) + 60) }
    const early = changed(deposit, "deposit", { authorization: { erc3009Authorization: later } })
    assert.strictEqual(verdictOf(early), "payload_authorization_valid_after")
  })

  it("refuses a voucher that only a contract wallet can confirm, however well it is signed", async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const client = new BatchSettlementEvmScheme(account as never, { payerAuthorizer: `0x${"0".repeat(40)}` } as never)
    const { payload } = await client.createPaymentPayload(2, requirements as never)
    assert.strictEqual(verdictOf(payload), "voucher_signature")
  })

  it("writes a signature as contracts take it, whichever way its last byte is written", () => {
    const bytes = "11".repeat(64)
    assert.strictEqual(plainSignature(`0x${bytes}00`), `0x${bytes}1b`)
    assert.strictEqual(plainSignature(`0x${bytes}1c`), `0x${bytes}1c`)
  })
})
