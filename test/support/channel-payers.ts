/**
 * Payers by channel for tests in which processes die: each sends a payment unchanged until it is answered, as a client
 * does that has lost its connection, and counts what it was told that it was charged.
 */
import { assert } from "@effect/vitest"
import type { PaymentRequired, PaymentRequirements } from "#payments/contract"
import { type LocalAccount, localAccount } from "#dev/chain"
import { channelPaymentOf, channelRefundOf, type ChannelSigner } from "#payments"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { channelReceipt } from "./channel-client.ts"
import { chat } from "./gateway.ts"
import { quoteOf } from "./payment-client.ts"
import { path } from "./payment-kills.ts"

export interface KilledPayer extends ChannelSigner {
  readonly account: LocalAccount
  /** What the payer knows that it was charged, and what it knows to lie in the channel for more. */
  charged: bigint
  usable: bigint
  answered: number
}

export const killedPayer = (name: string): KilledPayer => {
  const account = localAccount("channel kills", name)
  return {
    account,
    address: account.address,
    key: Buffer.from(account.privateKey.slice(2), "hex"),
    salt: `0x${"0".repeat(64)}`,
    charged: 0n,
    usable: 0n,
    answered: 0
  }
}

export const channelOfferIn = ({ accepts }: PaymentRequired) =>
  accepts.find(({ scheme }) => scheme === "batch-settlement") ?? assert.fail("channels are not offered")

const headers = { "content-type": "application/json" }
/** The least that a call costs, so that every one costs the same. */
const bodyOf = (text: string) => JSON.stringify(chat(text, { max_tokens: 8 }))

export const channelOffer = async (url: string) =>
  channelOfferIn(quoteOf(await fetch(`${url}${path}`, { method: "POST", headers, body: bodyOf("hello") })))

const reasonOf = (error: string | undefined) => (error ?? "").replace("invalid_batch_settlement_evm_", "")

/** Means that the channel holds less than its payer knew: a refund was made, or a withdrawal begun. */
const isTooLittle = (reason: string) => reason === "cumulative_exceeds_balance" || reason === "channel_not_found"

// Whoever is killed meanwhile starts again first.
const afterKills = { withinMs: startWithinMs }

/** One call by the next voucher, sent again as it is until it is answered. Nothing else may be charged for it. */
export const payOnce = async (url: string, offer: PaymentRequirements, payer: KilledPayer, text: string) => {
  const price = BigInt(offer.amount)
  const sign = (deposit: bigint) => {
    const nowSeconds = Math.floor(Date.now() / 1_000)
    const payment = channelPaymentOf(payer, offer, { maxClaimable: payer.charged + price, deposit, nowSeconds })
    return Buffer.from(JSON.stringify(payment)).toString("base64")
  }
  let signature = sign(payer.charged + price > payer.usable ? price * 500n : 0n)
  let last = "no answer"
  await until(async () => {
    const sent = { ...headers, "payment-signature": signature }
    const response = await fetch(`${url}${path}`, { method: "POST", headers: sent, body: bodyOf(text) }).catch(
      () => undefined
    )
    if (response === undefined) return false
    const said = await response.text().catch(() => undefined)
    if (said === undefined) return false
    last = `${response.status} ${said}`
    if (response.status === 402) {
      const quote = quoteOf(response)
      if (!isTooLittle(reasonOf(quote.error))) return assert.fail(`${payer.account.address}: ${quote.error}`)
      signature = sign(price * 500n)
      return false
    }
    if (response.status !== 200) return false
    assert.include(said, text.replace(/^!delay \S+ /u, ""))
    const { channelState, chargedAmount } = channelReceipt(response).extra
    const charged = BigInt(channelState.chargedCumulativeAmount)
    assert.strictEqual(charged, payer.charged + BigInt(chargedAmount ?? "0"))
    payer.charged = charged
    payer.usable = BigInt(channelState.balance)
    payer.answered += 1
    return true
  }, afterKills).catch((error) => assert.fail(`${String(error)}: ${last}`))
}

/**
 * A call whose stream is begun when its gateway dies; then the payer goes on as if it had cost nothing, and is told what
 * it has.
 */
export const streamOnce = async (
  url: string,
  offer: PaymentRequirements,
  payer: KilledPayer,
  dies: () => Promise<void>
) => {
  const terms = { maxClaimable: payer.charged + BigInt(offer.amount), deposit: 0n, nowSeconds: 0 }
  const signature = Buffer.from(JSON.stringify(channelPaymentOf(payer, offer, terms))).toString("base64")
  const post = (body: string) =>
    fetch(`${url}${path}`, { method: "POST", headers: { ...headers, "payment-signature": signature }, body })
  const stream = await post(JSON.stringify(chat("!words 500 20", { max_tokens: 8, stream: true })))
  assert.strictEqual(stream.status, 200)
  await stream.body?.getReader().read()
  await dies()
  await until(async () => {
    const response = await post(bodyOf("another question")).catch(() => undefined)
    if (response?.status !== 402) return false
    const quote = quoteOf(response)
    assert.strictEqual(reasonOf(quote.error), "cumulative_amount_mismatch")
    const { channelState, voucherState } = channelOfferIn(quote).extra as {
      readonly channelState: { readonly chargedCumulativeAmount: string }
      readonly voucherState: { readonly signedMaxClaimable: string }
    }
    // It is shown the payer's own word for it.
    assert.strictEqual(voucherState.signedMaxClaimable, String(terms.maxClaimable))
    payer.charged = BigInt(channelState.chargedCumulativeAmount)
    payer.answered += 1
    return true
  }, afterKills)
}

/** Asks for all that is left until nothing is. */
export const refundAll = async (url: string, offer: PaymentRequirements, payer: KilledPayer) => {
  const payment = channelRefundOf(payer, { ...offer, amount: "0" }, { charged: payer.charged, amount: null })
  const signature = Buffer.from(JSON.stringify(payment)).toString("base64")
  await until(async () => {
    const response = await fetch(`${url}/v1/channels`, { headers: { "payment-signature": signature } }).catch(
      () => undefined
    )
    if (response === undefined) return false
    await response.text().catch(() => "")
    if (response.status !== 402) return response.status === 200
    const reason = reasonOf(quoteOf(response).error)
    assert.oneOf(reason, ["refund_no_balance", "channel_not_found"])
    return true
  })
  payer.usable = 0n
}
