/**
 * Settlers that are killed while they send what another server has signed for its channels, a claim, a sweep or a refund,
 * before and after they sent its transaction: the server is answered by another settler, and it is made once.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Result, Scope } from "effect"
import type { PaymentRequirements } from "#payments/contract"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import {
  channelIdFor,
  type ChannelContract,
  channelPaymentOf,
  claimBatchMessage,
  openChannelContract,
  refundMessage
} from "#payments"
import { localAccount } from "../../dev/chain/evm/accounts.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { localKey } from "../../libs/payments/chains/evm/signature.ts"
import { channelConfigOf } from "../../libs/payments/wallet/channels.ts"
import { channelOptions } from "../support/channel-fleet.ts"
import { channelOffer, type KilledPayer, killedPayer } from "../support/channel-payers.ts"
import { type PaidProcesses, sending, startPaidProcesses } from "../support/payment-kills.ts"

const authorizer = localAccount("channel kills", "authorizer of another server")
const authorizerKey = Result.getOrThrow(localKey("eip155:84532", Buffer.from(authorizer.privateKey.slice(2), "hex")))

let fleet: PaidProcesses
let scope: Scope.Closeable
let contract: ChannelContract
let offer: PaymentRequirements
let facilitator: string

beforeAll(async () => {
  const port = await freePort()
  facilitator = `http://127.0.0.1:${port}`
  const verifier = { FacilitatorPort: port }
  const { options } = channelOptions({ settler: { ChannelClaimSeconds: 3_600 }, verifier })
  fleet = await startPaidProcesses([["payment-verifier"], ["payment-settler"], ["model-gateway"]], options)
  const ours = await channelOffer(fleet.url)
  offer = { ...ours, amount: "1000", extra: { ...ours.extra, receiverAuthorizer: authorizer.address } }
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

const deposit = 10_000n
// A settler that says nothing for two seconds is gone, and its key is free a second later.
const soonMs = 15_000

interface Said {
  readonly success: boolean
  readonly transaction: string
  readonly amount?: string
  readonly errorReason?: string
  readonly atMs: number
}

const settle = async (payload: unknown): Promise<Said> => {
  const paymentPayload = { x402Version: 2, accepted: offer, payload }
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: offer })
  const headers = { "content-type": "application/json" }
  const response = await fetch(`${facilitator}/settle`, { method: "POST", headers, body })
  return { ...((await response.json()) as Omit<Said, "atMs">), atMs: Date.now() }
}

const seen = (payer: KilledPayer) => Effect.runPromise(contract.state(channelIdFor(payer, offer)))
const totals = () => Effect.runPromise(contract.totals(offer.payTo, offer.asset))
const signed = async (message: Uint8Array) =>
  `0x${Buffer.from(await Effect.runPromise(authorizerKey.sign(message))).toString("hex")}`

const voucherFor = (payer: KilledPayer, maxClaimable: bigint) => {
  const payment = channelPaymentOf(payer, offer, { maxClaimable, deposit: 0n, nowSeconds: 0 })
  return (payment.payload as { readonly voucher: { readonly channelId: string; readonly signature: string } }).voucher
}

/** A payer with a channel to the other server. */
const newPayer = async (name: string) => {
  const payer = killedPayer(`of another server: ${name}`)
  await Effect.runPromise(fleet.chain.fund(payer.address, deposit))
  const terms = { maxClaimable: 1_000n, deposit, nowSeconds: Math.floor(Date.now() / 1_000) }
  const made = await settle(channelPaymentOf(payer, offer, terms).payload)
  assert.isTrue(made.success, JSON.stringify(made))
  return payer
}

const claimOf = async (payer: KilledPayer, charged: bigint) => {
  const config = channelConfigOf(payer, offer)
  const { signature } = voucherFor(payer, charged)
  const row = { config, maxClaimable: charged, signature, totalClaimed: charged }
  const voucher = { channel: config, maxClaimableAmount: charged.toString() }
  return {
    type: "claim",
    claims: [{ voucher, signature, totalClaimed: charged.toString() }],
    claimAuthorizerSignature: await signed(claimBatchMessage(contract.separator, [row]))
  }
}

const sweep = () => ({ type: "settle", receiver: offer.payTo, token: offer.asset })

const refundOf = async (payer: KilledPayer, amount: bigint) => ({
  type: "refund",
  channelConfig: channelConfigOf(payer, offer),
  voucher: { ...voucherFor(payer, 0n), maxClaimableAmount: "0" },
  amount: amount.toString(),
  refundNonce: "0",
  claims: [],
  refundAuthorizerSignature: await signed(refundMessage(contract.separator, channelIdFor(payer, offer), 0n, amount))
})

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

/** The answer to what a settler has in hand when it is killed. */
const settledByAnother = async (payload: unknown, held: "call" | "answer") => {
  fleet.gate.hold(sending, held)
  const settling = settle(payload)
  const diedAtMs = await killsTheFirst()
  const said = await settling
  assert.isTrue(said.success, JSON.stringify(said))
  assert.match(said.transaction, /^0x[0-9a-f]{64}$/u)
  assert.isBelow(said.atMs - diedAtMs, soonMs)
  return said
}

const plain = (said: Said) => ({ ...said, atMs: 0 })

describe.each(["call", "answer"] as const)(
  "a settler that is killed with another server's transaction in hand, its sending held at the %s",
  (held) => {
    it("leaves a claim, and then its sweep, to another one, which makes each once and soon", async () => {
      const payer = await newPayer(`claim ${held}`)
      const before = await totals()
      const claim = await claimOf(payer, 1_000n)
      const claimed = await settledByAnother(claim, held)
      assert.strictEqual((await seen(payer)).totalClaimed, 1_000n)
      assert.deepStrictEqual(plain(await settle(claim)), plain(claimed))

      const swept = await settledByAnother(sweep(), held)
      assert.strictEqual(swept.amount, "1000")
      const after = await totals()
      assert.strictEqual(after.totalSettled - before.totalSettled, 1_000n)
      assert.strictEqual(after.totalClaimed, after.totalSettled)
      // Whoever was told of it is not told of it again.
      assert.include((await settle(sweep())).errorReason, "nothing_to_settle")
    })

    it("leaves a refund to another one, which makes it once and soon", async () => {
      const payer = await newPayer(`refund ${held}`)
      const refund = await refundOf(payer, 4_000n)
      const given = await settledByAnother(refund, held)
      const { balance, refundNonce } = await seen(payer)
      assert.deepStrictEqual([balance, refundNonce], [deposit - 4_000n, 1n])
      const again = await settle(refund)
      assert.deepStrictEqual([again.success, again.transaction], [true, given.transaction])
      assert.strictEqual((await seen(payer)).balance, deposit - 4_000n)
    })
  }
)

describe("a settler that is killed when its sweep is made, and is the only one", () => {
  it("has the next settler tell of that sweep, once, to the server that asks again", async () => {
    const payer = await newPayer("alone")
    assert.isTrue((await settle(await claimOf(payer, 1_000n))).success)
    fleet.gate.hold(sending, "answer")
    const sweeping = settle(sweep())
    await fleet.held()
    await until(async () => (await totals()).totalSettled === (await totals()).totalClaimed)
    await fleet.kill("payment-settler")
    fleet.gate.open()
    assert.isFalse((await sweeping).success)

    await fleet.run(["payment-settler"])
    let said = await settle(sweep())
    await until(async () => said.success || ((said = await settle(sweep())), false))
    assert.strictEqual(said.amount, "1000")
    assert.match(said.transaction, /^0x[0-9a-f]{64}$/u)
    assert.include((await settle(sweep())).errorReason, "nothing_to_settle")
  })
})
