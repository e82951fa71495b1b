/**
 * Settlers that are killed with an order about a channel in hand, a deposit or a refund, before and after they sent its
 * transaction: the caller that waits for it is answered by another settler, and the money moves once.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import type { PaymentRequirements } from "#payments/contract"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { channelIdFor, type ChannelContract, channelPaymentOf, channelRefundOf, openChannelContract } from "#payments"
import { until } from "../../dev/fixtures/eventually.ts"
import { channelOptions } from "../support/channel-fleet.ts"
import { channelReceipt } from "../support/channel-client.ts"
import { channelOffer, type KilledPayer, killedPayer, payOnce } from "../support/channel-payers.ts"
import { chat } from "../support/gateway.ts"
import { type PaidProcesses, path, sending, startPaidProcesses } from "../support/payment-kills.ts"

let fleet: PaidProcesses
let scope: Scope.Closeable
let contract: ChannelContract
let offer: PaymentRequirements

beforeAll(async () => {
  const { options } = channelOptions({ settler: { ChannelClaimSeconds: 3_600 } })
  fleet = await startPaidProcesses([["payment-verifier"], ["payment-settler"], ["model-gateway"]], options)
  offer = await channelOffer(fleet.url)
  scope = Scope.makeUnsafe()
  const opening = openChannelContract({ network: offer.network, rpcUrls: [fleet.chain.rpcUrl] }).pipe(
    Effect.provide(ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest)))
  )
  contract = await Effect.runPromise(Scope.provide(opening, scope))
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await fleet.end()
})

const deposit = 1_000_000n
const funds = 10n ** 12n
// A settler that says nothing for two seconds is gone, and its key is free a second later; one that stays away is
// waited for thirty.
const soonMs = 15_000

const newPayer = async (name: string) => {
  const payer = killedPayer(name)
  await Effect.runPromise(fleet.chain.fund(payer.address, funds))
  return payer
}
const seen = (payer: KilledPayer) => Effect.runPromise(contract.state(channelIdFor(payer, offer)))

const header = (payment: unknown) => ({
  "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64")
})

/** One request, with its answer and when that came. */
const timed = async (url: string, init: RequestInit) => {
  const response = await fetch(url, init)
  await response.text()
  return { response, atMs: Date.now() }
}

/** The first call of a channel, which brings its deposit. */
const firstCall = (payer: KilledPayer) => {
  const terms = { maxClaimable: BigInt(offer.amount), deposit, nowSeconds: Math.floor(Date.now() / 1_000) }
  const payment = channelPaymentOf(payer, offer, terms)
  const body = JSON.stringify(chat("question", { max_tokens: 8 }))
  const headers = { "content-type": "application/json", ...header(payment) }
  return () => timed(`${fleet.url}${path}`, { method: "POST", headers, body })
}

const refundOf = (payer: KilledPayer, amount: bigint) => {
  const payment = channelRefundOf(payer, { ...offer, amount: "0" }, { charged: payer.charged, amount })
  return () => timed(`${fleet.url}/v1/channels`, { headers: header(payment) })
}

/** SIGKILL for the settler whose transaction the gate holds, while another one is there; when it died. */
const killsTheFirst = async () => {
  await fleet.held()
  const first = fleet.of("payment-settler")
  await fleet.run(["payment-settler"])
  first.signal("SIGKILL")
  await first.ended
  const diedAtMs = Date.now()
  fleet.gate.open()
  return diedAtMs
}

describe.each(["call", "answer"] as const)(
  "a settler that is killed with an order in hand, its sending held at the %s",
  (held) => {
    it("leaves a deposit to another one, which makes it once and soon", async () => {
      const payer = await newPayer(`deposit ${held}`)
      fleet.gate.hold(sending, held)
      const call = firstCall(payer)
      const calling = call()
      const diedAtMs = await killsTheFirst()
      const { response, atMs } = await calling
      assert.strictEqual(response.status, 200)
      assert.isBelow(atMs - diedAtMs, soonMs)
      assert.match(channelReceipt(response).transaction, /^0x[0-9a-f]{64}$/u)
      assert.strictEqual((await seen(payer)).balance, deposit)
      // The very payment again is no second deposit either: its answer is given again.
      const again = await call()
      assert.strictEqual(again.response.status, 200)
      assert.deepStrictEqual(channelReceipt(again.response).extra, channelReceipt(response).extra)
      assert.strictEqual((await seen(payer)).balance, deposit)
    })

    it("leaves a part of a refund to another one, which gives it back once and soon", async () => {
      const payer = await newPayer(`refund ${held}`)
      await payOnce(fleet.url, offer, payer, "question")
      const before = (await seen(payer)).balance
      fleet.gate.hold(sending, held)
      const refunding = refundOf(payer, 1_000n)()
      const diedAtMs = await killsTheFirst()
      const { response, atMs } = await refunding
      assert.strictEqual(response.status, 200)
      assert.isBelow(atMs - diedAtMs, soonMs)
      const after = await seen(payer)
      assert.strictEqual(before - after.balance, 1_000n)
      assert.strictEqual(after.refundNonce, 1n)
      await payOnce(fleet.url, offer, payer, "another question")
    })
  }
)

describe("a settler that is killed with a deposit in hand, and is the only one", () => {
  it("lets its caller know within seconds, and the same payment is good for the next settler", async () => {
    const payer = await newPayer("alone")
    const call = firstCall(payer)
    fleet.gate.hold(sending, "call")
    const calling = call()
    await fleet.held()
    await fleet.kill("payment-settler")
    const diedAtMs = Date.now()
    fleet.gate.open()
    const { response, atMs } = await calling
    assert.strictEqual(response.status, 503)
    assert.isAbove(Number(response.headers.get("retry-after")), 0)
    assert.isBelow(atMs - diedAtMs, 6_000)

    await fleet.run(["payment-settler"])
    let answer = await call()
    await until(async () => answer.response.status === 200 || ((answer = await call()), false))
    assert.strictEqual((await seen(payer)).balance, deposit)
    const asked = /^gateway_payments_total\{[^}]*outcome="asked_again"[^}]*\} (\d+)$/gmu
    const counts = [...(await fleet.of("model-gateway").metrics()).matchAll(asked)].map(([, count]) => Number(count))
    assert.isAbove(Math.max(...counts), 0)
  })
})
