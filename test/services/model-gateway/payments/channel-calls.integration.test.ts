import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { PaymentRequirements } from "#contracts"
import { eventually } from "../../../../dev/fixtures/bus.ts"
import { channelGateway } from "../../../support/channel-gateway.ts"
import { quoteOf } from "../../../support/payment-client.ts"
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
        assert.strictEqual(yield* sumOf(fleet, "payment_channel_orders_total"), 1)
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

const offerOf = Effect.fnUntraced(function* (fleet: ChannelFleet, text: string) {
  const { response } = yield* call(fleet.url, text)
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

const errorOf = (response: Response) => (quoteOf(response).error ?? "").replace("invalid_batch_settlement_evm_", "")

const upstreamCalls = ({ upstream }: ChannelFleet) =>
  upstream.calls.filter(({ path }) => !path.endsWith("/models")).length

const sign = (payer: ChannelPayer, offer: PaymentRequirements) => Effect.promise(() => payer.sign(offer))

describe("a hostile payer of a channel", () => {
  it.live("gets one answer for two hundred copies of a voucher that reach two gateways at once", () =>
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
        assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
        assert.strictEqual(upstreamCalls(fleet) - before, 1)
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

        const repeated = yield* call(fleet.url, "hello", good)
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

  it.live("loses nothing and gets nothing unpaid when it withdraws while its stream goes on", () =>
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
          yield* eventually(
            Effect.map(channel, ({ mirror, charged, work }) => work === null && mirror.totalClaimed === charged)
          )
          const total = (yield* channel).charged
          yield* fleet.chain.advance(fleet.extra.withdrawDelay + 1)
          assert.strictEqual(
            yield* sendAs(fleet.chain, payer.account, "finalizeWithdraw", [payload.channelConfig]),
            "done"
          )
          yield* eventually(Effect.map(channel, ({ mirror }) => mirror.balance === total))
          const refused = yield* call(fleet.url, "hello", yield* sign(payer, offer))
          assert.notStrictEqual(refused.status, 200)
        }),
      { settler: { ChannelClaimSeconds: 3_600 } }
    )
  )
})
