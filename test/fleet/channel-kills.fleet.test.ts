/**
 * Payers that pay by channel, one call after the other, while the processes of the gateway and of the settler are killed
 * and the chain falls silent. Whatever dies when: every voucher is charged once or not at all, the sum of what was
 * charged is the sum of what the answers cost, and all of it is claimed. An answer that was lost with its gateway, after
 * its charge was stored, is charged, and its payer is told so.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { type LocalAccount, localAccount } from "#dev/chain"
import type { PaymentRequired, PaymentRequirements } from "#contracts"
import { channelIdFor, channelPaymentOf, Channels, type ChannelSigner } from "#x402"
import { busOf } from "../../dev/fixtures/payment-bus.ts"
import { until } from "../../dev/fixtures/starling.ts"
import { channelOptions } from "../support/channel-fleet.ts"
import { channelReceipt } from "../support/channel-client.ts"
import { chat } from "../support/gateway.ts"
import { quoteOf } from "../support/payment-client.ts"
import { type PaidProcesses, path, startPaidProcesses } from "../support/payment-kills.ts"

const channelCount = 6
const headers = { "content-type": "application/json" }
const body = JSON.stringify(chat("hello"))

interface Payer extends ChannelSigner {
  /** What the payer knows that it was charged. */
  charged: bigint
  balance: bigint
  answered: number
  /** Charged, and the answer never came. */
  lost: number
}

let fleet: PaidProcesses
let scope: Scope.Closeable
let channels: Channels["Service"]
let offer: PaymentRequirements
let payers: ReadonlyArray<Payer>

const payerOf = ({ address, privateKey }: LocalAccount): Payer => ({
  address,
  key: Buffer.from(privateKey.slice(2), "hex"),
  salt: `0x${"0".repeat(64)}`,
  charged: 0n,
  balance: 0n,
  answered: 0,
  lost: 0
})

const channelOfferOf = ({ accepts }: PaymentRequired) =>
  accepts.find(({ scheme }) => scheme === "batch-settlement") ?? assert.fail("channels are not offered")

beforeAll(async () => {
  const { options } = channelOptions({
    payments: { LeaseSeconds: 2 },
    settler: { ChannelClaimSeconds: 1 }
  })
  const processes = [["payment-verifier"], ["payment-settler"], ["model-gateway"]] as const
  fleet = await startPaidProcesses(processes, options)
  offer = channelOfferOf(quoteOf(await fetch(`${fleet.url}${path}`, { method: "POST", headers, body })))
  const accounts = Array.from({ length: channelCount }, (_, index) => localAccount("channel kills", `payer ${index}`))
  for (const { address } of accounts) await Effect.runPromise(fleet.chain.fund(address, 10n ** 12n))
  payers = accounts.map(payerOf)
  scope = Scope.makeUnsafe()
  channels = await Effect.runPromise(
    Effect.gen(function* () {
      const bus = yield* busOf(fleet.server)
      const context = yield* Effect.provideContext(Layer.build(Channels.layer({ holder: null })), bus)
      return yield* Effect.provideContext(Channels, context)
    }).pipe(Scope.provide(scope))
  )
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await fleet.end()
})

/** One call by the next voucher, sent again as it is until it is answered or known to be charged. */
const payOnce = async (payer: Payer) => {
  const price = BigInt(offer.amount)
  const deposit = payer.charged + price > payer.balance ? price * 1_000n : 0n
  const maxClaimable = payer.charged + price
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const payment = channelPaymentOf(payer, offer, { maxClaimable, deposit, nowSeconds })
  const signature = Buffer.from(JSON.stringify(payment)).toString("base64")
  await until(async () => {
    const response = await fetch(`${fleet.url}${path}`, {
      method: "POST",
      headers: { ...headers, "payment-signature": signature },
      body
    }).catch(() => undefined)
    if (response === undefined) return false
    await response.text().catch(() => "")
    if (response.status === 200) {
      const { channelState, chargedAmount } = channelReceipt(response).extra
      assert.strictEqual(BigInt(channelState.chargedCumulativeAmount), payer.charged + BigInt(chargedAmount ?? "0"))
      payer.charged = BigInt(channelState.chargedCumulativeAmount)
      payer.balance = BigInt(channelState.balance)
      payer.answered += 1
      return true
    }
    if (response.status !== 402) return false
    const quote = quoteOf(response)
    assert.strictEqual(quote.error, "invalid_batch_settlement_evm_cumulative_amount_mismatch")
    const told = channelOfferOf(quote).extra as {
      readonly channelState: { readonly chargedCumulativeAmount: string; readonly balance: string }
      readonly voucherState: { readonly signedMaxClaimable: string }
    }
    // Only this very voucher can have been charged.
    assert.strictEqual(told.voucherState.signedMaxClaimable, String(maxClaimable))
    payer.charged = BigInt(told.channelState.chargedCumulativeAmount)
    payer.balance = BigInt(told.channelState.balance)
    payer.lost += 1
    return true
  }, 60_000)
}

/** Everybody pays on while something dies. */
const payWhile = async (calls: number, happens: () => Promise<void>) => {
  const paying = payers.map(async (payer) => {
    for (let call = 0; call < calls; call += 1) await payOnce(payer)
  })
  await happens()
  await Promise.all(paying)
}

const recordOf = async (payer: Payer) => {
  const name = { network: offer.network, channelId: channelIdFor(payer, offer) }
  return Option.getOrThrow(await Effect.runPromise(channels.read(name)))
}

/** What the records, the payers and the chain say. */
const agrees = async () => {
  for (const payer of payers) {
    const { charged, signed } = await recordOf(payer)
    assert.strictEqual(BigInt(charged), payer.charged)
    assert.isTrue(BigInt(signed?.maxClaimable ?? "0") >= payer.charged)
  }
  await until(async () => {
    const records = await Promise.all(payers.map(recordOf))
    return records.every(({ charged, mirror }) => charged === mirror.totalClaimed)
  }, 60_000)
}

const lostInAll = () => payers.reduce((sum, { lost }) => sum + lost, 0)

describe("channels", () => {
  it("pay for what was answered, and for nothing else, while nothing dies", async () => {
    await payWhile(5, async () => undefined)
    assert.strictEqual(lostInAll(), 0)
    await agrees()
  })

  it("lose no charge and no voucher when gateways are killed under load", async () => {
    const kills = 3
    await payWhile(40, async () => {
      for (let kill = 0; kill < kills; kill += 1) {
        await until(async () => payers.every(({ answered }) => answered >= 5 + 8 * (kill + 1)), 60_000)
        await fleet.kill("model-gateway")
        await fleet.run(["model-gateway"])
      }
    })
    // At most the one call of each channel that was being answered.
    assert.isAtMost(lostInAll(), kills * channelCount)
    await agrees()
  })

  it("are claimed in the end when settlers are killed under load", async () => {
    const lost = lostInAll()
    await payWhile(30, async () => {
      for (let kill = 0; kill < 3; kill += 1) {
        await until(async () =>
          (await Promise.all(payers.map(recordOf))).some(({ charged, mirror }) => charged !== mirror.totalClaimed)
        )
        await fleet.kill("payment-settler")
        await fleet.run(["payment-settler"])
      }
    })
    assert.strictEqual(lostInAll(), lost)
    await agrees()
  })

  it("pay on while the chain is silent, and are claimed when it is back", async () => {
    await Effect.runPromise(fleet.chain.pause)
    try {
      await payWhile(5, async () => undefined)
    } finally {
      await Effect.runPromise(fleet.chain.resume)
    }
    await agrees()
  })
})
