import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import { domainSeparator, DomainSeparators } from "../../../../../../libs/payments/chains/evm/signature.ts"
import { channelsDomain } from "../../../../../../libs/payments/chains/evm/channels/contract.ts"
import { permit2Address, permitDomain } from "../../../../../../libs/payments/chains/evm/permit2.ts"
import { checkVoucher, plainSignature } from "../../../../../../libs/payments/chains/evm/channels/voucher.ts"
import { channelRequirements } from "../../../../../../dev/fixtures/evm/terms.ts"
import { newPayer } from "../../../../../../dev/fixtures/evm/payments.ts"

const chainId = 84_532n
const terms = {
  network: "eip155:84532",
  chainId,
  separator: domainSeparator(channelsDomain(chainId)),
  domains: new DomainSeparators(),
  permit2: permitDomain(chainId),
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

describe("the check of a deposit by Permit2", () => {
  const byPermit2 = {
    ...requirements,
    extra: { ...requirements.extra, assetTransferMethod: "permit2" }
  } as PaymentRequirements
  const payerKey = generatePrivateKey()
  const payer = privateKeyToAccount(payerKey)
  const permitted = { from: payer.address, asset: requirements.asset, spender: permit2Address, amount: "5000" }
  const soon = String(Math.floor(Date.now() / 1_000) + 600)
  const approval = { ...permitted, nonce: "0", deadline: soon, signature: `0x${"11".repeat(65)}`, version: "1" }
  let deposit: Json

  beforeAll(async () => {
    const client = new BatchSettlementEvmScheme(payer as never)
    deposit = (await client.createPaymentPayload(2, byPermit2 as never)).payload
  })

  const verdict = (payload: Json, info?: Json, nowMs = Date.now(), offered = byPermit2) => {
    const extensions = info === undefined ? {} : { extensions: { eip2612GasSponsoring: { info } } }
    const checked = checkVoucher({ x402Version: 2, accepted: offered, payload, ...extensions }, offered, nowMs, terms)
    if (Result.isFailure(checked)) return checked.failure.reason.replace("invalid_batch_settlement_evm_", "")
    return checked.success.deposit
  }
  const permit = () =>
    (deposit["deposit"] as { readonly authorization: { readonly permit2Authorization: Json } }).authorization
      .permit2Authorization
  const withPermit = (changes: Json) =>
    changed(deposit, "deposit", { authorization: { permit2Authorization: { ...permit(), ...changes } } })

  it("takes what the protocol's own client signs, and gives it on as the contract needs it", () => {
    const { nonce, deadline, signature } = permit()
    const authorization = { nonce: String(BigInt(nonce as string)), deadline, signature, approval: null }
    assert.deepStrictEqual(verdict(deposit), { amount: "5000", authorization } as never)
  })

  it("takes the approval that is signed along", () => {
    const found = verdict(deposit, approval)
    if (typeof found === "string" || found === undefined) return assert.fail(String(found))
    assert.deepInclude(found.authorization, { approval: { deadline: soon, signature: approval.signature } })
  })

  const stranger = newPayer().address
  const faults: ReadonlyArray<readonly [string, () => unknown, string]> = [
    ["another payer's", () => verdict(withPermit({ from: stranger })), "permit2_invalid_signature"],
    ["one to another spender", () => verdict(withPermit({ spender: stranger })), "permit2_invalid_spender"],
    [
      "one of another token",
      () => verdict(withPermit({ permitted: { token: stranger, amount: "5000" } })),
      "token_mismatch"
    ],
    [
      "one of another amount",
      () => verdict(withPermit({ permitted: { token: requirements.asset, amount: "4999" } })),
      "permit2_amount_mismatch"
    ],
    [
      "one into another channel",
      () => verdict(withPermit({ witness: { channelId: `0x${"1".repeat(64)}` } })),
      "channel_id_mismatch"
    ],
    ["one with another nonce", () => verdict(withPermit({ nonce: "7" })), "permit2_invalid_signature"],
    ["one that ends too soon", () => verdict(deposit, undefined, Date.now() + 3_600_000), "permit2_deadline_expired"],
    [
      "an approval of another amount",
      () => verdict(deposit, { ...approval, amount: "4999" }),
      "eip2612_amount_mismatch"
    ],
    ["another payer's approval", () => verdict(deposit, { ...approval, from: stranger }), "eip2612_from_mismatch"],
    [
      "an approval of another spender",
      () => verdict(deposit, { ...approval, spender: stranger }),
      "eip2612_spender_not_permit2"
    ],
    ["an approval that is none", () => verdict(deposit, { signature: "0x" }), "invalid_eip2612_extension_format"],
    [
      "one where the token's own is asked for",
      () => verdict(deposit, undefined, Date.now(), requirements),
      "erc3009_authorization_required"
    ]
  ]
  it.each(faults)("refuses %s", (_, make, reason) => assert.strictEqual(make(), reason))

  it("refuses the token's own authorization, where Permit2 is asked for", async () => {
    const { authorization } = (await signed())["deposit"] as { readonly authorization: Json }
    assert.strictEqual(verdict(changed(deposit, "deposit", { authorization })), "permit2_authorization_required")
  })
})
