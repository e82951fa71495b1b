/**
 * Another server that is paid by channel and has us as its facilitator: the protocol's own middleware, scheme and
 * channel manager, whose client is the protocol's own too.
 */
import type { AddressInfo } from "node:net"
import { HTTPFacilitatorClient } from "@x402/core/http"
import { BatchSettlementEvmScheme, InMemoryChannelStorage } from "@x402/evm/batch-settlement/server"
import { paymentMiddleware, x402ResourceServer } from "@x402/express"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import express from "express"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { asset, network, payTo } from "../../../../dev/fixtures/evm/terms.ts"
import { referenceChannels } from "../../../../dev/fixtures/evm/reference-channels.ts"
import { channelRequirements } from "../../../../dev/fixtures/evm/terms.ts"
import { newPayer } from "../../../../dev/fixtures/evm/payments.ts"
import { channelPayer } from "../../../support/channel-client.ts"
import { type ChannelFleet, withChannels } from "../../../support/channel-fleet.ts"
import { channelGateway } from "../../../support/channel-gateway.ts"
import { ask } from "../../../support/gateway.ts"

const price = { amount: "1000", asset, extra: { name: "USDC", version: "2" } }

/** A server of somebody else, with a key of its own for claims and refunds. */
const startServer = (fleet: ChannelFleet) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const authorizer = privateKeyToAccount(generatePrivateKey())
      const scheme = new BatchSettlementEvmScheme(payTo as `0x${string}`, {
        receiverAuthorizerSigner: authorizer as never,
        withdrawDelay: 900,
        storage: new InMemoryChannelStorage()
      })
      const facilitator = new HTTPFacilitatorClient({ url: fleet.facilitator })
      const resources = new x402ResourceServer(facilitator).register(network, scheme)
      const accepts = { scheme: "batch-settlement", network, payTo, price, maxTimeoutSeconds: 600 } as const
      const app = express()
      app.use(paymentMiddleware({ "GET /answer": { accepts, description: "an answer" } }, resources))
      app.get("/answer", (_, response) => void response.json({ answer: 42 }))
      const listening = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
        const server = app.listen(0, "127.0.0.1", () => resolve(server))
      })
      const { port } = listening.address() as AddressInfo
      const manager = scheme.createChannelManager(facilitator, network)
      return { url: `http://127.0.0.1:${port}/answer`, listening, manager, authorizer }
    }),
    ({ listening }) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            listening.closeAllConnections()
            listening.close(() => resolve())
          })
      )
  )

const settlement = (fleet: ChannelFleet, payload: unknown, changes: object = {}) => {
  const terms = { scheme: "batch-settlement", network, amount: "0", asset, payTo, maxTimeoutSeconds: 0, extra: {} }
  const paymentRequirements = { ...terms, ...changes }
  const body = {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: paymentRequirements, payload },
    paymentRequirements
  }
  return Effect.map(ask({ url: fleet.facilitator }, "/settle", body), ({ body: said }) => said)
}

describe("the facilitator of a server that is paid by channel", () => {
  it.live(
    "deposits, verifies, claims, moves and gives back for the protocol's own parts, and keeps no record of it",
    () =>
      withChannels((fleet) =>
        Effect.gen(function* () {
          const key = generatePrivateKey()
          yield* fleet.chain.fund(privateKeyToAccount(key).address, 100_000n)
          const payer = channelPayer(fleet.chain.rpcUrl, key)
          const server = yield* startServer(fleet)
          const contract = yield* fleet.contract

          for (const _ of [1, 2, 3]) {
            const response = yield* Effect.promise(() => payer.fetch(server.url))
            assert.strictEqual(response.status, 200)
            assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { answer: 42 })
          }
          assert.deepInclude(yield* Effect.promise(payer.known), { charged: 3_000n, balance: 10_000n })

          const { claims, settle } = yield* Effect.promise(() => server.manager.claimAndSettle())
          assert.strictEqual(claims[0]?.vouchers, 1)
          for (const transaction of [claims[0]?.transaction, settle?.transaction]) {
            assert.match(transaction ?? "", /^0x[0-9a-f]{64}$/u)
          }
          assert.deepStrictEqual([...(yield* fleet.transfers)], [3_000n])

          const part = yield* Effect.promise(() => payer.refund(server.url, "5000"))
          assert.deepInclude(part, { success: true, amount: "5000" })
          const after = yield* Effect.promise(() => payer.fetch(server.url))
          assert.strictEqual(after.status, 200)
          // One that is charged, so that what it owes is claimed in the same transaction.
          const [rest] = yield* Effect.promise(() => server.manager.refund())
          const seen = yield* contract.state(rest?.channel ?? "")
          assert.deepStrictEqual([seen.balance, seen.totalClaimed, seen.refundNonce], [4_000n, 4_000n, 2n])

          const { channels } = yield* channelGateway(fleet.server, network)
          assert.strictEqual(yield* Stream.runCount(channels.all), 0)
        })
      )
  )

  it.live("names the scheme, and no key of ours for it", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const supported = yield* Effect.promise(() =>
          new HTTPFacilitatorClient({ url: fleet.facilitator }).getSupported()
        )
        const kinds = supported.kinds.filter(({ scheme }) => scheme === "batch-settlement")
        assert.deepStrictEqual(kinds, [{ x402Version: 2, scheme: "batch-settlement", network }])
      })
    )
  )

  it.live(
    "makes a deposit once, however often it is asked for, and verifies none that its payer has no money for",
    () =>
      withChannels((fleet) =>
        Effect.gen(function* () {
          const client = new HTTPFacilitatorClient({ url: fleet.facilitator })
          const reference = referenceChannels(fleet.chain)
          const requirements = channelRequirements(reference.authorizer.address)
          const payer = newPayer()
          const payment = yield* Effect.promise(() => reference.pay(reference.client(payer), requirements))
          const poor = yield* Effect.promise(() => client.verify(payment, requirements))
          assert.deepInclude(poor, {
            isValid: false,
            invalidReason: "invalid_batch_settlement_evm_deposit_simulation_failed"
          })
          yield* fleet.chain.fund(payer.address, 20_000n)
          const good = yield* Effect.promise(() => client.verify(payment, requirements))
          assert.deepInclude(good, { isValid: true, payer: payer.address })
          assert.deepInclude(good.extra, { balance: "0", totalClaimed: "0", withdrawRequestedAt: 0, refundNonce: "0" })
          const first = yield* Effect.promise(() => client.settle(payment, requirements))
          const again = yield* Effect.promise(() => client.settle(payment, requirements))
          assert.isTrue(first.success)
          assert.deepStrictEqual(again, first)
          const state = first.extra?.["channelState"] as { readonly balance: string; readonly channelId: string }
          assert.strictEqual(state.balance, first.amount)
          assert.strictEqual(String((yield* (yield* fleet.contract).state(state.channelId)).balance), first.amount)

          // Its voucher is now a payment by itself, until it asks for more than there is.
          const { deposit: _, ...voucher } = payment.payload
          const plain = { ...payment, payload: { ...voucher, type: "voucher" } }
          assert.isTrue((yield* Effect.promise(() => client.verify(plain, requirements))).isValid)
          const dear = { ...requirements, amount: "2000" }
          const little = yield* Effect.promise(() => client.verify({ ...plain, accepted: dear }, dear))
          assert.deepInclude(little, { invalidReason: "invalid_batch_settlement_evm_cumulative_below_claimed" })
        })
      )
  )

  it.live("spends no fees on what is not paid to us, and says what is wrong with anything else", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const foreign = `0x${"7".repeat(40)}`
        const reference = referenceChannels(fleet.chain)
        const { payload } = yield* Effect.promise(() =>
          reference.pay(reference.client(newPayer()), channelRequirements(reference.authorizer.address))
        )
        const { channelConfig, voucher } = payload as { readonly channelConfig: object; readonly voucher: object }
        const { maxClaimableAmount, signature } = voucher as {
          readonly maxClaimableAmount: string
          readonly signature: string
        }
        const row = { voucher: { channel: channelConfig, maxClaimableAmount }, signature, totalClaimed: "1" }
        const claim = { type: "claim", claims: [row], claimAuthorizerSignature: signature }
        const elsewhere = { ...row, voucher: { channel: { ...channelConfig, receiver: foreign }, maxClaimableAmount } }
        const cases: ReadonlyArray<readonly [unknown, string]> = [
          [{ type: "settle", receiver: foreign, token: asset }, "receiver_mismatch"],
          [{ type: "settle", receiver: payTo, token: foreign }, "token_mismatch"],
          [{ type: "settle", receiver: payTo, token: asset }, "nothing_to_settle"],
          [{ ...claim, claims: [row, elsewhere] }, "receiver_mismatch"],
          // Not its authorizer's.
          [claim, "claim_simulation_failed"],
          [{ type: "claim", claims: [row] }, "claim_payload"],
          [{ ...claim, claims: [] }, "claim_payload"],
          [{ ...claim, claims: Array.from({ length: 101 }, () => row) }, "claim_payload"],
          [{ type: "refund", channelConfig, voucher, amount: "1" }, "refund_payload"],
          [
            {
              type: "refund",
              channelConfig,
              voucher,
              amount: "1",
              refundNonce: "0",
              claims: [],
              refundAuthorizerSignature: signature
            },
            "refund_simulation_failed"
          ],
          [{ ...payload, type: "voucher" }, "unknown_settle_action"],
          [{}, "unknown_settle_action"]
        ]
        for (const [given, reason] of cases) {
          assert.deepInclude(yield* settlement(fleet, given), {
            success: false,
            errorReason: `invalid_batch_settlement_evm_${reason}`,
            transaction: ""
          })
        }
        assert.deepInclude(yield* settlement(fleet, claim, { payTo: foreign }), {
          errorReason: "invalid_payment_requirements"
        })
        const broken = yield* ask({ url: fleet.facilitator }, "/verify", {
          x402Version: 2,
          paymentRequirements: { scheme: "batch-settlement" }
        })
        assert.strictEqual(broken.status, 400)
        assert.include(String(broken.body["invalidMessage"]), "/paymentPayload")
        assert.deepStrictEqual(yield* fleet.transfers, [])
      })
    )
  )
})
