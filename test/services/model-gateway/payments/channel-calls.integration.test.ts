import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Redacted } from "effect"
import type { PaymentRequirements } from "#payments/contract"
import { permit2Address } from "#dev/chain"
import type { UpstreamCall } from "#dev/upstream"
import { channelIdFor, channelKeyOf, channelPaymentOf, channelRefundOf, openWallet } from "#payments"
import { approveCall } from "../../../../dev/fixtures/evm/token-calls.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { channelGateway } from "../../../support/channel-gateway.ts"
import { emptyWallet } from "../../../support/attacker.ts"
import { quoteOf } from "../../../support/payment-client.ts"
import { Channel } from "../../../../libs/payments/channels/channel.ts"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { chat } from "../../../support/gateway.ts"
import { type ChannelPayer, channelPayer, channelReceipt } from "../../../support/channel-client.ts"
import { type ChannelFleet, sendAs, withChannels } from "../../../support/channel-fleet.ts"

const post = (payer: ChannelPayer, { url }: Pick<ChannelFleet, "url">, text: string, more: object = {}) =>
  Effect.promise(async () => {
    const response = await payer.fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...chat(text), ...more })
    })
    return { response, status: response.status, text: await response.text() }
  })

const newPayer = Effect.fnUntraced(function* (
  fleet: ChannelFleet,
  options: { readonly depositMultiplier?: number } = {}
) {
  const key = generatePrivateKey()
  yield* fleet.chain.fund(privateKeyToAccount(key).address, 1_000_000_000n)
  return channelPayer(fleet.chain.rpcUrl, key, options)
})

/** All metrics of a name whose labels include these, added up. */
const sumOf = (fleet: ChannelFleet, name: string, ...labels: ReadonlyArray<string>) =>
  Effect.map(fleet.metrics, (text) =>
    [...text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} ([0-9.e+]+)$`, "gmu"))]
      .filter(([, found = ""]) => labels.every((label) => found.includes(label)))
      .reduce((sum, [, , count]) => sum + Number(count), 0)
  )

describe("a call paid by channel", () => {
  it.live("is paid by the protocol's own client: a deposit first, then a voucher for each call", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const payer = yield* newPayer(fleet)
        const first = yield* post(payer, fleet, "hello there")
        assert.strictEqual(first.status, 200, first.text)
        assert.include(first.text, "hello there")
        const opened = channelReceipt(first.response)
        assert.match(opened.transaction, /^0x[0-9a-f]{64}$/u)
        const price = BigInt(opened.extra.chargedAmount ?? "0")
        const balance = BigInt(opened.amount ?? "0")
        // Twenty times what the longest answer would cost, of which this one costs a part.
        assert.isAbove(Number(balance), 20 * Number(price))
        assert.strictEqual(opened.extra.channelState.balance, String(balance))

        for (let call = 2n; call <= 5n; call += 1n) {
          const { status, text, response } = yield* post(payer, fleet, "hello there")
          assert.strictEqual(status, 200, text)
          const { transaction, amount, extra } = channelReceipt(response)
          assert.deepStrictEqual({ transaction, amount }, { transaction: "", amount: "" })
          assert.strictEqual(extra.channelState.chargedCumulativeAmount, String(call * price))
          assert.deepStrictEqual(yield* Effect.promise(payer.known), { charged: call * price, balance })
        }
        assert.strictEqual(yield* sumOf(fleet, "payment_verifications_total", 'outcome="verified"'), 0)
        // No settler is in the path of a voucher: one writes the receipt behind the answer.
        const ordered = (order: string) => sumOf(fleet, "payment_channel_orders_total", `order="${order}"`)
        assert.deepStrictEqual([yield* ordered("Deposit"), yield* ordered("Look"), yield* ordered("Claim")], [1, 0, 0])
      })
    )
  )

  it.live("is paid although the payer's wallet is emptied: its money lies in the channel", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const key = generatePrivateKey()
        const { address } = privateKeyToAccount(key)
        const units = 1_000_000_000n
        yield* fleet.chain.fund(address, units)
        const payer = channelPayer(fleet.chain.rpcUrl, key)
        const first = yield* post(payer, fleet, "hello there")
        assert.strictEqual(first.status, 200, first.text)
        const price = BigInt(channelReceipt(first.response).extra.chargedAmount ?? "0")
        yield* emptyWallet(fleet, key, units - BigInt(channelReceipt(first.response).amount ?? "0"))
        for (let call = 2n; call <= 6n; call += 1n) {
          const { status, text } = yield* post(payer, fleet, "hello there")
          assert.strictEqual(status, 200, text)
          assert.strictEqual((yield* Effect.promise(payer.known))?.charged, call * price)
        }
      })
    )
  )

  it.live("asks no chain for a voucher: it is answered while the chain is silent", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const payer = yield* newPayer(fleet)
        assert.strictEqual((yield* post(payer, fleet, "one")).status, 200)
        yield* fleet.chain.pause
        const answered = yield* Effect.ensuring(post(payer, fleet, "two"), fleet.chain.resume)
        assert.strictEqual(answered.status, 200, answered.text)
      })
    )
  )

  it.live("costs nothing when it fails, and its voucher pays for the next one", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const payer = yield* newPayer(fleet)
        const first = yield* post(payer, fleet, "one")
        const price = BigInt(channelReceipt(first.response).extra.chargedAmount ?? "0")
        const failed = yield* post(payer, fleet, "!status 503")
        assert.strictEqual(failed.status, 503, failed.text)
        const next = yield* post(payer, fleet, "two")
        assert.strictEqual(next.status, 200, next.text)
        const charged = channelReceipt(next.response).extra.channelState.chargedCumulativeAmount
        assert.strictEqual(BigInt(charged), price + BigInt(channelReceipt(next.response).extra.chargedAmount ?? "0"))
      })
    )
  )

  it.live("is charged when its stream ends", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const payer = yield* newPayer(fleet)
        yield* post(payer, fleet, "one")
        const streamed = yield* post(payer, fleet, "two", { stream: true })
        assert.strictEqual(streamed.status, 200)
        assert.include(streamed.text, "[DONE]")
        // The headers went out before the price was known: the client finds it out with its next call.
        const next = yield* post(payer, fleet, "three")
        assert.strictEqual(next.status, 200, next.text)
        const { chargedAmount, channelState } = channelReceipt(next.response).extra
        assert.isAbove(Number(channelState.chargedCumulativeAmount), 2 * Number(chargedAmount))
      })
    )
  )

  it.live("sets a client right that has lost all it knew, and lets it top up what is spent", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const payer = yield* newPayer(fleet, { depositMultiplier: 3 })
        for (const text of ["one", "two"]) assert.strictEqual((yield* post(payer, fleet, text)).status, 200)
        const again = payer.forgetful()
        const corrected = yield* post(again, fleet, "six")
        assert.strictEqual(corrected.status, 200, corrected.text)
        const { balance } = channelReceipt(corrected.response).extra.channelState
        // What is left must cover the longest answer, though none is that long.
        for (let call = 0; call < 40; call += 1) {
          const next = yield* post(again, fleet, "ten")
          assert.strictEqual(next.status, 200, next.text)
          const { transaction, amount, extra } = channelReceipt(next.response)
          if (transaction === "") continue
          assert.strictEqual(BigInt(extra.channelState.balance), BigInt(balance) + BigInt(amount ?? "0"))
          return
        }
        assert.fail("the channel was never topped up")
      })
    )
  )

  it.live("gives a part of a channel back, and then all of it, to the client that asks", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const payer = yield* newPayer(fleet)
        const first = yield* post(payer, fleet, "one")
        const { channelState } = channelReceipt(first.response).extra
        const left = BigInt(channelState.balance) - BigInt(channelState.chargedCumulativeAmount)
        const url = `${fleet.url}/v1/channels`

        const part = yield* Effect.promise(() => payer.refund(url, "1000"))
        const rest = yield* Effect.promise(() => payer.refund(url))

        assert.strictEqual(part.amount, "1000")
        assert.strictEqual(rest.amount, String(left - 1_000n))
        const nothing = yield* Effect.promise(() => payer.refund(url).then(String, String))
        assert.match(nothing, /no remaining balance|refund_no_balance|channel_not_found/u)
        // Its channel can be filled again.
        assert.strictEqual((yield* post(payer, fleet, "two")).status, 200)
        // Each refund has claimed what was charged before.
        assert.strictEqual(
          channelReceipt((yield* post(payer, fleet, "six")).response).extra.channelState.totalClaimed,
          channelState.chargedCumulativeAmount
        )
      })
    )
  )
})

const path = "/v1/chat/completions"

const call = (url: string, text: string, payment?: string, more: object = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(payment === undefined ? {} : { "payment-signature": payment })
      },
      body: JSON.stringify({ ...chat(text), ...more })
    })
    return { response, status: response.status, text: await response.text() }
  })

const offerOf = Effect.fnUntraced(function* (fleet: ChannelFleet, text: string, more: object = {}) {
  const { response } = yield* call(fleet.url, text, undefined, more)
  const offer = quoteOf(response).accepts.find(({ scheme }) => scheme === "batch-settlement")
  return offer ?? (yield* Effect.die(new Error("channels are not offered")))
})

/** A call that the client pays for by itself. */
const paidCall = async (payer: ChannelPayer, { url }: Pick<ChannelFleet, "url">, more: object) => {
  const response = await payer.fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...chat("hello"), ...more })
  })
  await response.text()
  return response
}

/** A payer whose channel holds what twenty calls cost. */
const opened = Effect.fnUntraced(function* (fleet: ChannelFleet, depositMultiplier = 20, more: object = {}) {
  const key = generatePrivateKey()
  yield* fleet.chain.fund(privateKeyToAccount(key).address, 1_000_000_000n)
  const payer = channelPayer(fleet.chain.rpcUrl, key, { depositMultiplier })
  assert.strictEqual((yield* Effect.promise(() => paidCall(payer, fleet, more))).status, 200)
  return payer
})

const chargedAfter = (response: Response) => channelReceipt(response).extra.channelState.chargedCumulativeAmount

const errorOf = (response: Response) => (quoteOf(response).error ?? "").replace("invalid_batch_settlement_evm_", "")

const isOfModel = ({ path }: UpstreamCall) => !path.endsWith("/models")
const upstreamCalls = ({ upstream }: ChannelFleet) => upstream.calls.filter(isOfModel).length

const sign = (payer: ChannelPayer, offer: PaymentRequirements) => Effect.promise(() => payer.sign(offer))

describe("a hostile payer of a channel", () => {
  it.live("is answered one call for two hundred copies of a voucher that reach two gateways at once", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        yield* fleet.start("model-gateway")
        const payer = yield* opened(fleet)
        const offer = yield* offerOf(fleet, "hello")
        const voucher = yield* sign(payer, offer)
        const before = upstreamCalls(fleet)
        const gateways = fleet.gateways()
        const answers = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, index) => index),
          (index) => call(gateways[index % gateways.length] ?? fleet.url, "hello", voucher),
          { concurrency: 200 }
        )

        assert.strictEqual(gateways.length, 2)
        const answered = answers.filter(({ status }) => status === 200)
        // Copies that come after the charge get the same answer again: it may have been lost.
        assert.strictEqual(new Set(answered.map(({ text }) => text)).size, 1)
        assert.strictEqual(new Set(answered.map(({ response }) => chargedAfter(response))).size, 1)
        // The gateway that wrote the channel last asks before it stores, and so in vain where the other one is faster.
        assert.isAtMost(upstreamCalls(fleet) - before, 2)
        for (const { status, response } of answers) {
          if (status === 429) assert.strictEqual(errorOf(response), "channel_busy")
          else if (status !== 200) assert.strictEqual(errorOf(response), "cumulative_amount_mismatch")
        }
      })
    )
  )

  it.live("is refused vouchers out of order, of another channel, above the balance, and for other terms", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const payer = yield* opened(fleet)
        const other = yield* opened(fleet)
        const offer = yield* offerOf(fleet, "hello")
        const good = yield* sign(payer, offer)
        const answered = yield* call(fleet.url, "hello", good)
        assert.strictEqual(answered.status, 200)
        const made = upstreamCalls(fleet)

        const repeated = yield* call(fleet.url, "hello again", good)
        assert.strictEqual(errorOf(repeated.response), "cumulative_amount_mismatch")
        const [told] = quoteOf(repeated.response).accepts.filter(({ scheme }) => scheme === "batch-settlement")
        assert.deepInclude(told?.extra?.["channelState"] as object, {
          chargedCumulativeAmount: channelReceipt(answered.response).extra.channelState.chargedCumulativeAmount
        })

        const stolen = yield* Effect.promise(async () => {
          const theirs = JSON.parse(Buffer.from(await other.sign(offer), "base64").toString()) as {
            readonly payload: { readonly voucher: object }
          }
          return payer.sign(offer, (payload) => ({ ...payload, voucher: theirs.payload.voucher }))
        })
        assert.strictEqual(errorOf((yield* call(fleet.url, "hello", stolen)).response), "channel_id_mismatch")

        // Its channel is for short answers; a client would put more into it now.
        const spent = yield* opened(fleet, 3, { max_tokens: 1 })
        const unfunded = yield* Effect.promise(() =>
          spent.sign(offer, ({ channelConfig, voucher }) => ({ type: "voucher", channelConfig, voucher }))
        )
        const above = yield* call(fleet.url, "hello", unfunded)
        assert.strictEqual(errorOf(above.response), "cumulative_exceeds_balance")

        const cheaper = yield* sign(payer, { ...offer, amount: "1" })
        assert.strictEqual(errorOf((yield* call(fleet.url, "hello", cheaper)).response), "invalid_payment_requirements")
        assert.strictEqual(upstreamCalls(fleet) - made, 1)
      })
    )
  )

  it.live("loses nothing and gets nothing unpaid when it withdraws while its stream continues", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const gateway = yield* channelGateway(fleet.server, fleet.chain.network)
          const payer = yield* opened(fleet)
          const offer = yield* offerOf(fleet, "hello")
          const streaming = yield* Effect.forkChild(
            call(fleet.url, "!delay 1s", yield* sign(payer, offer), { stream: true })
          )
          const payload = (
            JSON.parse(Buffer.from(yield* sign(payer, offer), "base64").toString()) as {
              readonly payload: { readonly channelConfig: object; readonly voucher: { readonly channelId: string } }
            }
          ).payload
          const name = { network: fleet.chain.network, channelId: payload.voucher.channelId }
          const channel = Effect.flatMap(gateway.channels.read(name), Effect.fromOption)
          const balance = BigInt((yield* channel).mirror.balance)
          const charged = BigInt((yield* channel).charged)
          assert.strictEqual(
            yield* sendAs(fleet.chain, payer.account, "initiateWithdraw", [payload.channelConfig, balance - charged]),
            "done"
          )
          yield* Fiber.join(streaming)
          yield* eventually(channel, {
            is: ({ mirror, charged, work }) => work === null && mirror.totalClaimed === charged
          })
          const total = (yield* channel).charged
          yield* fleet.chain.advance(fleet.extra.withdrawDelay + 1)
          assert.strictEqual(
            yield* sendAs(fleet.chain, payer.account, "finalizeWithdraw", [payload.channelConfig]),
            "done"
          )
          yield* eventually(channel, { is: ({ mirror }) => mirror.balance === total })
          const refused = yield* call(fleet.url, "hello", yield* sign(payer, offer))
          assert.notStrictEqual(refused.status, 200)
        }),
      { settler: { ChannelClaimSeconds: 3_600 } }
    )
  )
})

const headerOf = (payment: object) => Buffer.from(JSON.stringify(payment)).toString("base64")

const signerOf = (key: `0x${string}`, salt = `0x${"0".repeat(64)}`) => ({
  address: privateKeyToAccount(key).address,
  key: Buffer.from(key.slice(2), "hex"),
  salt
})

/** A payer that signs by hand, with a channel that holds so much. */
const payerByHand = Effect.fnUntraced(function* (
  fleet: ChannelFleet,
  deposit: bigint,
  more: object = {},
  text = "hello"
) {
  const key = generatePrivateKey()
  const signer = signerOf(key)
  yield* fleet.chain.fund(signer.address, 1_000_000_000n)
  const offer = yield* offerOf(fleet, text, more)
  const price = BigInt(offer.amount)
  const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const pay = (charged: bigint, deposit = 0n) =>
    headerOf(channelPaymentOf(signer, offer, { maxClaimable: charged + price, deposit, nowSeconds }))
  const opening = pay(0n, deposit)
  const first = yield* call(fleet.url, text, opening, more)
  assert.strictEqual(first.status, 200, first.text)
  const refund = (charged: bigint, amount: bigint | null = null) =>
    Effect.promise(async () => {
      // A refund pays nothing.
      const payment = channelRefundOf(signer, { ...offer, amount: "0" }, { charged, amount })
      const headers = { "payment-signature": headerOf(payment) }
      const response = await fetch(`${fleet.url}/v1/channels`, { headers })
      return { response, status: response.status, text: await response.text() }
    })
  return { key, signer, offer, price, pay, opening, first, refund, charged: BigInt(chargedAfter(first.response)) }
})

describe("a deposit with a voucher that its channel refuses", () => {
  it.live("is not sent: no money moves for a call that is not made", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const { pay, price, charged } = yield* payerByHand(fleet, 1_000_000n)
        const ordered = sumOf(fleet, "payment_channel_orders_total", 'order="Deposit"')
        const [before, calls] = [yield* ordered, upstreamCalls(fleet)]
        for (const stands of [charged + price, 0n]) {
          const refused = yield* call(fleet.url, "hello again", pay(stands, 20n * price))
          assert.strictEqual(refused.status, 402)
          assert.strictEqual(errorOf(refused.response), "cumulative_amount_mismatch")
        }
        assert.deepStrictEqual([yield* ordered, upstreamCalls(fleet)], [before, calls])
        const good = yield* call(fleet.url, "hello again", pay(charged, 20n * price))
        assert.strictEqual(good.status, 200, good.text)
        assert.strictEqual(yield* ordered, before + 1)
      })
    )
  )
})

describe("a payer whose voucher is not for this channel", () => {
  const stranger = `0x${"9".repeat(40)}`
  const cases: ReadonlyArray<readonly [string, (offer: PaymentRequirements) => Partial<PaymentRequirements>, string]> =
    [
      ["to another receiver", () => ({ payTo: stranger }), "receiver_mismatch"],
      ["of another token", () => ({ asset: stranger }), "token_mismatch"],
      ["of another network", () => ({ network: "eip155:8453" }), "channel_id_mismatch"],
      [
        "with another authorizer",
        ({ extra }) => ({ extra: { ...extra, receiverAuthorizer: stranger } }),
        "receiver_authorizer_mismatch"
      ],
      ["with another delay", ({ extra }) => ({ extra: { ...extra, withdrawDelay: 86_400 } }), "withdraw_delay_mismatch"]
    ]

  it.live("is refused, with the reason, before anything is stored or sent", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const signer = signerOf(generatePrivateKey())
        const offer = yield* offerOf(fleet, "hello")
        const terms = { maxClaimable: BigInt(offer.amount), deposit: 0n, nowSeconds: 0 }
        for (const [what, changed, reason] of cases) {
          const { payload } = channelPaymentOf(signer, { ...offer, ...changed(offer) }, terms)
          const payment = headerOf({ x402Version: 2, accepted: offer, payload })
          const refused = yield* call(fleet.url, "hello", payment)
          assert.strictEqual(refused.status, 402, what)
          assert.strictEqual(errorOf(refused.response), reason, what)
        }
        const forged = signerOf(generatePrivateKey())
        const { payload } = channelPaymentOf({ ...forged, address: signer.address }, offer, terms)
        const refused = yield* call(fleet.url, "hello", headerOf({ x402Version: 2, accepted: offer, payload }))
        assert.strictEqual(errorOf(refused.response), "voucher_signature")
        assert.strictEqual(upstreamCalls(fleet), 0)
        assert.strictEqual(yield* sumOf(fleet, "payment_channel_orders_total"), 0)
      })
    )
  )
})

describe.each([
  // Beside its charge, and apart from it.
  ["short", "hello"],
  ["long", "hello ".repeat(4_000)]
])("a payer whose answer was lost, a %s one", (_, text) => {
  it.live("gets it again for the same voucher and request, at any gateway, and is charged once", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        yield* fleet.start("model-gateway")
        const { opening, pay, first, charged } = yield* payerByHand(fleet, 1_000_000n, {}, text)
        const made = upstreamCalls(fleet)
        for (const url of fleet.gateways()) {
          const again = yield* call(url, text, opening)
          assert.strictEqual(again.status, 200, again.text)
          assert.strictEqual(again.text, first.text)
          assert.strictEqual(BigInt(chargedAfter(again.response)), charged)
          assert.strictEqual(channelReceipt(again.response).extra.chargedAmount, String(charged))
        }
        const other = yield* call(fleet.url, text.replace("hello", "howdy"), opening)
        assert.strictEqual(errorOf(other.response), "cumulative_amount_mismatch")
        assert.strictEqual(upstreamCalls(fleet), made)

        const next = yield* call(fleet.url, text, pay(charged))
        assert.strictEqual(next.status, 200, next.text)
        const late = yield* call(fleet.url, text, opening)
        assert.strictEqual(errorOf(late.response), "cumulative_amount_mismatch")
        assert.isAbove(yield* sumOf(fleet, "gateway_payments_total", 'outcome="given_again"'), 0)
      })
    )
  )
})

describe("a voucher that is stored with its charge", () => {
  it.live("has its model asked before, and nothing given out until it is stored", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const { pay, charged } = yield* payerByHand(fleet, 1_000_000n)
        const made = upstreamCalls(fleet)
        const signal = (name: NodeJS.Signals) => Effect.sync(() => void process.kill(fleet.server.pid(), name))
        const isOut = { now: false }
        yield* signal("SIGSTOP")
        const answering = yield* Effect.forkChild(
          Effect.tap(call(fleet.url, "hello", pay(charged)), () => Effect.sync(() => void (isOut.now = true)))
        )
        const isAnswered = eventually(() => fleet.upstream.calls[made]?.state === "answered")
        yield* Effect.ensuring(
          Effect.andThen(
            isAnswered,
            Effect.sync(() => assert.isFalse(isOut.now))
          ),
          signal("SIGCONT")
        )
        const answered = yield* Fiber.join(answering)
        assert.strictEqual(answered.status, 200, answered.text)
        assert.isAbove(Number(chargedAfter(answered.response)), Number(charged))
      })
    )
  )

  it.live("takes one write, and is stored meanwhile where its answer takes long", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const { offer, pay, signer } = yield* payerByHand(fleet, 1_000_000n)
        const gateway = yield* channelGateway(fleet.server, fleet.chain.network)
        const name = { network: fleet.chain.network, channelId: channelIdFor(signer, offer) }
        const bucket = yield* gateway.kv.open("channels", Channel)
        const record = Effect.flatMap(bucket.get(channelKeyOf(name)), Effect.fromOption)
        // An answer that takes half a second, as on a machine that is at other work, takes two.
        const writes = yield* Effect.repeat(
          Effect.gen(function* () {
            const { revision, value } = yield* record
            const quick = yield* call(fleet.url, "hello", pay(BigInt(value.charged)))
            assert.strictEqual(quick.status, 200, quick.text)
            const { signed, charged } = (yield* record).value
            assert.strictEqual(signed?.maxClaimable, String(BigInt(value.charged) + BigInt(offer.amount)))
            assert.strictEqual(charged, chargedAfter(quick.response))
            return (yield* record).revision - revision
          }),
          { until: (count) => count === 1, times: 20 }
        )
        assert.strictEqual(writes, 1)
        const after = yield* record

        const slow = yield* Effect.forkChild(call(fleet.url, "!delay 3s", pay(BigInt(after.value.charged))))
        yield* eventually(record, { is: ({ value }) => value.work !== null })
        assert.strictEqual(fleet.upstream.calls.at(-1)?.state, "running")
        const answered = yield* Fiber.join(slow)
        assert.strictEqual(answered.status, 200, answered.text)
        assert.strictEqual((yield* record).value.charged, chargedAfter(answered.response))
      })
    )
  )

  it.live("is answered by the gateway that stores it first, and asked for in vain once a channel", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        yield* fleet.start("model-gateway")
        const { offer, pay, charged, signer } = yield* payerByHand(fleet, 1_000_000n)
        const other = fleet.gateways().find((url) => url !== fleet.url) ?? assert.fail("one gateway")
        const isAsked = (text: string) =>
          eventually(() =>
            fleet.upstream.calls.some(
              ({ body, state }) => state === "running" && JSON.stringify(body).includes(`${text}"`)
            )
          )
        /** The other gateway is asked while the first one's voucher is not stored; on a busy machine it may come too late. */
        const race = Effect.fnUntraced(function* (charged: bigint) {
          const behind = yield* Effect.forkChild(call(fleet.url, "!delay 400ms first", pay(charged)))
          yield* isAsked("first")
          const faster = yield* call(other, "hello", pay(charged))
          return { faster, refused: yield* Fiber.join(behind) }
        })
        let raced = yield* race(charged)
        for (let tries = 0; raced.faster.status === 429 && tries < 20; tries += 1) {
          raced = yield* race(BigInt(chargedAfter(raced.refused.response)))
        }
        const { faster, refused } = raced
        assert.strictEqual(faster.status, 200, faster.text)
        assert.strictEqual(refused.status, 402, refused.text)
        assert.strictEqual(errorOf(refused.response), "cumulative_amount_mismatch")
        const total = BigInt(chargedAfter(faster.response))
        const [told] = quoteOf(refused.response).accepts.filter(({ scheme }) => scheme === "batch-settlement")
        assert.deepInclude(told?.extra?.["channelState"] as object, { chargedCumulativeAmount: String(total) })

        const next = yield* call(fleet.url, "hello", pay(total))
        assert.strictEqual(next.status, 200, next.text)
        const gateway = yield* channelGateway(fleet.server, fleet.chain.network)
        const name = { network: fleet.chain.network, channelId: channelIdFor(signer, offer) }
        const last = BigInt(chargedAfter(next.response))
        const second = yield* Effect.forkChild(call(fleet.url, "!delay 3s second", pay(last)))
        yield* isAsked("second")
        const { work } = yield* Effect.flatMap(gateway.channels.read(name), Effect.fromOption)
        assert.isNotNull(work)
        assert.strictEqual((yield* Fiber.join(second)).status, 200)
      })
    )
  )

  it.live("has its model's call broken off where another gateway has the channel", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        yield* fleet.start("model-gateway")
        const { pay, charged } = yield* payerByHand(fleet, 1_000_000n)
        const other = fleet.gateways().find((url) => url !== fleet.url) ?? assert.fail("one gateway")
        const first = yield* Effect.forkChild(call(other, "!delay 2s", pay(charged)))
        yield* eventually(() => fleet.upstream.calls.at(-1)?.state === "running")
        const made = fleet.upstream.calls.length
        const refused = yield* call(fleet.url, "!delay 20s", pay(charged))
        assert.strictEqual(refused.status, 429, refused.text)
        assert.strictEqual(errorOf(refused.response), "channel_busy")
        assert.strictEqual(fleet.upstream.calls.length, made + 1)
        yield* eventually(() => fleet.upstream.calls[made]?.state === "cancelled")
        const answered = yield* Fiber.join(first)
        assert.strictEqual(answered.status, 200, answered.text)
        // The voucher of the next call is for what the first one has left.
        const next = yield* call(fleet.url, "hello", pay(BigInt(chargedAfter(answered.response))))
        assert.strictEqual(next.status, 200, next.text)
      })
    )
  )
})

describe("the receipts of a channel", () => {
  it.live("are one for each call that was charged, with its model, its cost and the most that was signed", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const { pay, price, charged, signer } = yield* payerByHand(fleet, 1_000_000n)
        const failed = yield* call(fleet.url, "!status 503", pay(charged))
        assert.strictEqual(failed.status, 503, failed.text)
        const second = yield* call(fleet.url, "hello", pay(charged))
        const total = chargedAfter(second.response)
        yield* eventually(fleet.receipts, { is: (all) => all.length === 2 })
        const receipts = yield* fleet.receipts
        for (const receipt of receipts) {
          assert.deepInclude(receipt, {
            scheme: "batch-settlement",
            outcome: "settled",
            transaction: null,
            model: "demo/echo",
            ceiling: String(price)
          })
          assert.strictEqual(receipt.payer.toLowerCase(), signer.address.toLowerCase())
          assert.isAbove(Number(receipt.providerCost), 0)
        }
        assert.strictEqual(String(receipts.reduce((sum, { amount }) => sum + BigInt(amount), 0n)), total)
        assert.strictEqual(new Set(receipts.map(({ claimKey }) => claimKey)).size, 2)
      })
    )
  )
})

describe("a refund", () => {
  it.live("that is asked for beside a call is refused, and costs neither the call nor its charge", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const { pay, refund, charged } = yield* payerByHand(fleet, 1_000_000n)
        const slow = yield* Effect.forkChild(call(fleet.url, "!delay 1s", pay(charged)))
        yield* eventually(() => fleet.upstream.calls.at(-1)?.state === "running")
        const beside = yield* refund(charged)
        assert.strictEqual(beside.status, 429, beside.text)
        const answered = yield* Fiber.join(slow)
        assert.strictEqual(answered.status, 200, answered.text)
        const total = BigInt(chargedAfter(answered.response))

        const early = yield* refund(charged)
        assert.strictEqual(errorOf(early.response), "cumulative_amount_mismatch")
        const after = yield* refund(total)
        assert.strictEqual(after.status, 200, after.text)
        assert.strictEqual(channelReceipt(after.response).amount, String(1_000_000n - total))
        assert.strictEqual(channelReceipt(after.response).extra.channelState.totalClaimed, String(total))
      })
    )
  )

  it.live("whose gateway has heard nothing of it is made late, and no call was sold for its money meanwhile", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain } = fleet
          const gateway = yield* channelGateway(fleet.server, chain.network)
          const { pay, refund, charged, offer, signer } = yield* payerByHand(fleet, 1_000_000n)
          const name = { network: chain.network, channelId: channelIdFor(signer, offer) }
          const record = Effect.flatMap(gateway.channels.read(name), Effect.fromOption)
          // The transaction waits for a block that does not come.
          yield* chain.rpc("evm_setAutomine", [false])
          yield* chain.rpc("evm_setIntervalMining", [0])
          const asked = yield* Effect.forkChild(refund(charged))
          yield* eventually(record, { is: ({ refunding }) => refunding !== undefined })
          yield* Fiber.interrupt(asked)
          // The refund's work is given up with its lease.
          yield* eventually(record, { is: ({ work }) => work === null })
          const sold = yield* call(fleet.url, "hello", pay(charged))
          assert.strictEqual(errorOf(sold.response), "cumulative_exceeds_balance", sold.text)

          yield* chain.rpc("evm_setIntervalMining", [1])
          yield* eventually(record, {
            is: ({ refunding, mirror }) => refunding === undefined && mirror.balance === String(charged)
          })
          assert.strictEqual((yield* record).charged, String(charged))
        }),
      { payments: { LeaseSeconds: 1 } }
    )
  )
})

describe("a payer of a channel that leaves a provider at work", () => {
  it.live("is charged nothing, and is sold nothing more once its calls could have cost what it may have unpaid", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const short = { max_tokens: 1 }
          const { pay, price, charged, offer, signer } = yield* payerByHand(fleet, 1_000_000n, short)
          assert.strictEqual(price, 2_000n)
          const gateway = yield* channelGateway(fleet.server, fleet.chain.network)
          const name = { network: fleet.chain.network, channelId: channelIdFor(signer, offer) }
          const isFree = Effect.map(
            Effect.flatMap(gateway.channels.read(name), Effect.fromOption),
            ({ ended, work }) => work === null && ended?.charged === "0"
          )
          const leave = Effect.gen(function* () {
            const before = fleet.upstream.calls.length
            const leaving = new AbortController()
            const body = JSON.stringify({ ...chat("!hang"), ...short })
            const headers = { "content-type": "application/json", "payment-signature": pay(charged) }
            fetch(`${fleet.url}${path}`, { method: "POST", headers, body, signal: leaving.signal }).catch(
              () => undefined
            )
            yield* eventually(() => fleet.upstream.calls.length, { is: (length) => length > before })
            leaving.abort()
            yield* eventually(() => fleet.upstream.calls.at(-1)?.state === "cancelled")
            yield* eventually(isFree)
          })
          // 4,000, and 2,000 that were charged.
          assert.strictEqual(charged, 2_000n)
          for (let left = 0; left < 3; left += 1) yield* leave
          const asked = fleet.upstream.calls.length
          const refused = yield* call(fleet.url, "hello", pay(charged), short)
          assert.strictEqual(refused.status, 429, refused.text)
          assert.include(refused.text, "payer_has_too_much_unpaid")
          assert.isAbove(Number(refused.response.headers.get("retry-after")), 60)
          assert.lengthOf(fleet.upstream.calls, asked)
        }),
      { payments: { UnpaidNewcomerUsd: 0.004 } }
    )
  )
})

describe("a channel that owes as much as it may", () => {
  it.live("is claimed before the next call, and sells nothing more while the chain is silent", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const short = { max_tokens: 1 }
          const { pay, price, charged, offer, signer } = yield* payerByHand(fleet, 1_000_000n, short)
          assert.strictEqual(price, 2_000n)
          const gateway = yield* channelGateway(fleet.server, fleet.chain.network)
          const name = { network: fleet.chain.network, channelId: channelIdFor(signer, offer) }
          const owed = Effect.map(
            Effect.flatMap(gateway.channels.read(name), Effect.fromOption),
            ({ charged, mirror }) => Number(charged) - Number(mirror.totalClaimed)
          )
          let total = charged
          for (let calls = 0; calls < 9; calls += 1) {
            const paid = yield* call(fleet.url, "hello", pay(total), short)
            assert.strictEqual(paid.status, 200, paid.text)
            total = BigInt(chargedAfter(paid.response))
            assert.isAtMost(yield* owed, 5_000)
          }
          assert.strictEqual(yield* sumOf(fleet, "payment_channel_orders_total", 'order="Claim"', '"Done"'), 4)

          yield* fleet.chain.pause
          const refused = yield* Effect.ensuring(call(fleet.url, "hello", pay(total), short), fleet.chain.resume)
          assert.strictEqual(refused.status, 503, refused.text)
          const later = yield* call(fleet.url, "hello", pay(total), short)
          assert.strictEqual(later.status, 200, later.text)
        }),
      { payments: { ChannelUnclaimedMaxUsd: 0.005 }, settler: { ChannelClaimSeconds: 3_600, ChannelClaimUsd: 1_000 } }
    )
  )
})

describe("a channel whose deposits are by Permit2", () => {
  const byPermit2 = { AssetTransferMethod: "permit2" }

  const approve = Effect.fnUntraced(function* ({ chain }: ChannelFleet, payer: ChannelPayer) {
    const { address } = payer.account
    yield* chain.rpc("anvil_impersonateAccount", [address])
    yield* chain.rpc("anvil_setBalance", [address, "0xde0b6b3a7640000"])
    yield* chain.rpc("eth_sendTransactionSync", [{ from: address, to: chain.asset, data: approveCall(permit2Address) }])
  })

  it.live("is paid by the protocol's own client, which signs the approval along unless it has made one", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          for (const approves of [true, false]) {
            const payer = yield* newPayer(fleet)
            if (approves) yield* approve(fleet, payer)
            const first = yield* post(payer, fleet, "one")
            assert.strictEqual(first.status, 200, first.text)
            const opened = channelReceipt(first.response)
            assert.match(opened.transaction, /^0x[0-9a-f]{64}$/u)
            const next = yield* post(payer, fleet, "two")
            assert.strictEqual(next.status, 200, next.text)
            const { transaction, extra } = channelReceipt(next.response)
            assert.strictEqual(transaction, "")
            assert.strictEqual(extra.channelState.balance, opened.extra.channelState.balance)
            const returned = yield* Effect.promise(() => payer.refund(`${fleet.url}/v1/channels`))
            assert.isTrue(returned.success, JSON.stringify(returned))
          }
        }),
      {},
      byPermit2
    )
  )

  it.live("is answered 412 without the approval, and takes the same payment once it is made", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const payer = yield* newPayer(fleet)
          const json = { "content-type": "application/json" }
          const body = JSON.stringify(chat("one"))
          const call = (headers: Readonly<Record<string, string>> = {}) =>
            Effect.promise(async () => {
              const options = { method: "POST", headers: { ...json, ...headers }, body }
              const response = await fetch(`${fleet.url}/v1/chat/completions`, options)
              return { response, status: response.status, text: await response.text() }
            })
          const { accepts } = quoteOf((yield* call()).response)
          const offer = accepts.find(({ scheme }) => scheme === "batch-settlement") ?? assert.fail("no channels")
          assert.strictEqual(offer.extra?.["assetTransferMethod"], "permit2")
          const payment = { "payment-signature": yield* Effect.promise(() => payer.sign(offer)) }
          const refused = yield* call(payment)
          assert.strictEqual(refused.status, 412, refused.text)
          assert.strictEqual(refused.response.headers.get("x-error-code"), "PERMIT2_ALLOWANCE_REQUIRED")
          assert.strictEqual(quoteOf(refused.response).error, "invalid_batch_settlement_evm_permit2_allowance_required")
          yield* approve(fleet, payer)
          const answered = yield* call(payment)
          assert.strictEqual(answered.status, 200, answered.text)
          assert.match(channelReceipt(answered.response).transaction, /^0x[0-9a-f]{64}$/u)
          // The voucher is used up, and its deposit is not made again.
          const again = yield* call(payment)
          assert.strictEqual(again.status, 200, again.text)
          assert.strictEqual(
            channelReceipt(again.response).extra.channelState.balance,
            channelReceipt(answered.response).extra.channelState.balance
          )
        }),
      {},
      byPermit2
    )
  )

  it.live("is paid by the wallet of the command line", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const key = generatePrivateKey()
          yield* fleet.chain.fund(privateKeyToAccount(key).address, 1_000_000_000n)
          const { channels } = yield* openWallet("evm", { key: Redacted.make(key), rpcUrl: fleet.chain.rpcUrl })
          const json = { "content-type": "application/json" }
          const options = { method: "POST", headers: json, body: JSON.stringify(chat("one")) }
          const url = `${fleet.url}/v1/chat/completions`
          const { accepts } = quoteOf(yield* Effect.promise(() => fetch(url, options)))
          const offer = accepts.find(({ scheme }) => scheme === "batch-settlement")
          if (offer === undefined || channels === null) return assert.fail("no channels")
          const payment = yield* channels.pay(offer, { charged: 0n, deposit: 5n * BigInt(offer.amount) })
          const header = Buffer.from(JSON.stringify(payment)).toString("base64")
          const answer = yield* Effect.promise(() =>
            fetch(url, { ...options, headers: { ...json, "payment-signature": header } })
          )
          assert.strictEqual(answer.status, 200, yield* Effect.promise(() => answer.text()))
        }),
      {},
      byPermit2
    )
  )
})
