import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Schema, Scope, Stream } from "effect"
import type { KvBucket, KvEntry } from "#bus"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { addressToken, BookFinding, ChannelPayload } from "#payments/contract"
import { subjects } from "#base"
import { receiptCodec } from "#payments"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { newPayer } from "../../../../dev/fixtures/evm/payments.ts"
import { referenceChannels } from "../../../../dev/fixtures/evm/reference-channels.ts"
import { channelRequirements } from "../../../../dev/fixtures/evm/terms.ts"
import { Channel } from "../../../../libs/payments/channels/channel.ts"
import { ReceiptSum } from "../../../../services/payment-settler/channels/channel-books.ts"
import { channelGateway } from "../../../support/channel-gateway.ts"
import { withChannels, sendAs } from "../../../support/channel-fleet.ts"
import { signerKinds, signersInFiles } from "../../../support/settler-signers.ts"

const decode = Schema.decodeUnknownSync(ChannelPayload)

const depositOf = (payload: unknown) => {
  const decoded = decode(payload)
  if (decoded.type !== "deposit") throw new Error(`the client has made a ${decoded.type}`)
  return decoded
}

describe.each(signerKinds)("the settlers of payment channels whose keys are in: %s", (signer) => {
  it.live("deposit once, claim what is charged in one transaction, move it, and give the rest back", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain, authorizer, server } = fleet
          const gateway = yield* channelGateway(server, chain.network)
          const reference = referenceChannels(chain)
          const offered = channelRequirements(authorizer, { extra: fleet.extra })
          const contract = yield* fleet.contract
          const payers = [newPayer(), newPayer(), newPayer()]
          const deposits = yield* Effect.forEach(payers, (payer) =>
            Effect.gen(function* () {
              yield* chain.fund(payer.address, 20_000n)
              const made = yield* Effect.promise(() => reference.pay(reference.client(payer), offered))
              const payload = depositOf(made.payload)
              const first = yield* gateway.deposit(payload)
              const again = yield* gateway.deposit(payload)
              assert.strictEqual(first._tag, "Done")
              // The order again is answered as before, and nothing is sent.
              assert.deepStrictEqual(again, first)
              return payload
            })
          )
          const [one] = deposits
          const [payer] = payers
          if (one === undefined || payer === undefined) return assert.fail("no deposit")
          for (const payload of deposits) yield* gateway.call(payload, "1000", "700")
          assert.strictEqual(yield* fleet.transactionsOf("claim"), 0)

          // One owes so much now that all are claimed.
          yield* gateway.call(yield* fleet.refundVoucher(payer, one, "1700"), "1000", "900")
          yield* eventually(fleet.transfers, {
            is: (transfers) => transfers.reduce((sum, each) => sum + each, 0n) === 3_000n
          })

          // The chain shows a sweep before its settler has counted it.
          yield* eventually(fleet.transactionsOf("sweep"), { is: (sweeps) => sweeps === 1 })
          assert.strictEqual(yield* fleet.transactionsOf("claim"), 1)
          for (const payload of deposits) {
            const charged = payload === one ? 1_600n : 700n
            const seen = yield* contract.state(payload.voucher.channelId)
            assert.strictEqual(seen.totalClaimed, charged)
            yield* eventually(gateway.read(payload), { is: ({ mirror }) => BigInt(mirror.totalClaimed) === charged })
          }
          // A sweep is no payment without a receipt.
          assert.notInclude(
            yield* fleet.metrics,
            'finding="TransferWithoutReceipt",network="eip155:84532",role="test"} 1'
          )

          const refundPayload = yield* fleet.refundVoucher(payer, one, "1600")
          const part = yield* gateway.refund(refundPayload, "1500")
          const rest = yield* gateway.refund(refundPayload, null)
          const nothing = yield* gateway.refund(refundPayload, null)
          assert.deepInclude(part, { _tag: "Done", amount: "1500" })
          assert.deepInclude(rest, { _tag: "Done", amount: "1900" })
          assert.deepInclude(nothing, { _tag: "Refused", reason: "invalid_batch_settlement_evm_refund_no_balance" })
          assert.deepInclude((yield* gateway.read(one)).mirror, { balance: "1600", refundNonce: "2" })
        }),
      { settler: { ChannelClaimSeconds: 3_600, ChannelClaimUsd: 0.0015 }, signer }
    )
  )
})

describe("the settlers of payment channels whose authorizer is another one now", () => {
  it.live("claim what the channels of the previous one owe, as long as its key is retiring", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain, authorizer, server } = fleet
          const before = yield* Scope.make()
          yield* Scope.provide(fleet.start("payment-settler"), before)
          const gateway = yield* channelGateway(server, chain.network)
          const reference = referenceChannels(chain)
          const offered = channelRequirements(authorizer, { extra: fleet.extra })
          const payer = newPayer()
          yield* chain.fund(payer.address, 20_000n)
          const made = yield* Effect.promise(() => reference.pay(reference.client(payer), offered))
          const payload = depositOf(made.payload)
          assert.strictEqual((yield* gateway.deposit(payload))._tag, "Done")
          yield* gateway.call(payload, "1000", "700")
          yield* Scope.close(before, Exit.void)
          const contract = yield* fleet.contract
          const { channelId } = payload.voucher
          assert.strictEqual((yield* contract.state(channelId)).totalClaimed, 0n)

          const key = generatePrivateKey()
          const { Payments } = fleet.configuration as unknown as {
            readonly Payments: { readonly Channels: ReadonlyArray<object> }
          }
          const [terms] = Payments.Channels
          const changed = {
            ...terms,
            ReceiverAuthorizer: privateKeyToAccount(key).address,
            AuthorizerKeyEnvVar: undefined,
            AuthorizerSigner: "new",
            RetiringAuthorizerKeyEnvVars: ["TEST_CHANNEL_AUTHORIZER"]
          }
          const Signers = yield* signersInFiles([["new", key]])
          const configuration: unknown = JSON.parse(
            JSON.stringify({
              ...fleet.configuration,
              Payments: { ...Payments, Signers, Channels: [changed] },
              PaymentSettler: { ChannelWatchSeconds: 0.1, ChannelClaimSeconds: 0.2 }
            })
          )
          yield* fleet.start("payment-settler", configuration as typeof fleet.configuration)
          yield* eventually(fleet.transfers, { is: ([transfer]) => transfer === 700n })
          assert.strictEqual((yield* contract.state(channelId)).totalClaimed, 700n)
        }),
      { roles: ["payment-verifier", "model-gateway"], settler: { ChannelClaimSeconds: 3_600 } }
    )
  )
})

describe("the settlers of payment channels", () => {
  it.live("claim at once when a payer withdraws, however little it owes, and see when it has its money", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain, authorizer, server } = fleet
          const gateway = yield* channelGateway(server, chain.network)
          const reference = referenceChannels(chain)
          const payer = newPayer()
          yield* chain.fund(payer.address, 20_000n)
          const offered = channelRequirements(authorizer, { extra: fleet.extra })
          const payload = depositOf(
            (yield* Effect.promise(() => reference.pay(reference.client(payer), offered))).payload
          )
          yield* gateway.deposit(payload)
          yield* gateway.call(payload, "1000", "40")

          const begun = yield* sendAs(chain, payer, "initiateWithdraw", [payload.channelConfig, 4_000n])
          assert.strictEqual(begun, "done")

          yield* eventually(gateway.read(payload), {
            is: ({ mirror }) => mirror.totalClaimed === "40" && mirror.withdrawAmount === "4000"
          })
          yield* chain.advance(fleet.extra.withdrawDelay + 1)
          assert.strictEqual(yield* sendAs(chain, payer, "finalizeWithdraw", [payload.channelConfig]), "done")
          yield* eventually(gateway.read(payload), {
            is: ({ mirror }) => mirror.balance === "1000" && mirror.withdrawRequestedAt === 0
          })
          yield* eventually(fleet.metrics, {
            is: (text) => /^payment_channel_units\{[^}]*sum="lost"[^}]*\} 0$/mu.test(text)
          })
        }),
      { settler: { ChannelClaimSeconds: 3_600 } }
    )
  )

  it.live("claim before the time when one channel owes much", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain, authorizer, server } = fleet
          const gateway = yield* channelGateway(server, chain.network)
          const reference = referenceChannels(chain)
          const payer = newPayer()
          yield* chain.fund(payer.address, 20_000n)
          const offered = channelRequirements(authorizer, { extra: fleet.extra })
          const payload = depositOf(
            (yield* Effect.promise(() => reference.pay(reference.client(payer), offered))).payload
          )
          yield* gateway.deposit(payload)
          yield* gateway.call(payload, "1000", "1000")
          yield* eventually(gateway.read(payload), { is: ({ mirror }) => mirror.totalClaimed === "1000" })
        }),
      { settler: { ChannelClaimSeconds: 3_600, ChannelClaimUsd: 0.001 } }
    )
  )

  it.live("refuse a deposit without money, one to another channel's id, and a refund of what is not there", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const { chain, authorizer, server } = fleet
        const gateway = yield* channelGateway(server, chain.network)
        const reference = referenceChannels(chain)
        const payer = newPayer()
        const offered = channelRequirements(authorizer, { extra: fleet.extra })
        const payload = depositOf(
          (yield* Effect.promise(() => reference.pay(reference.client(payer), offered))).payload
        )

        const poor = yield* gateway.deposit(payload)
        assert.deepInclude(poor, { _tag: "Refused", reason: "invalid_batch_settlement_evm_deposit_simulation_failed" })
        const other = { ...payload, voucher: { ...payload.voucher, channelId: `0x${"5".repeat(64)}` } }
        assert.deepInclude(yield* gateway.deposit(other), {
          _tag: "Refused",
          reason: "invalid_batch_settlement_evm_channel_id_mismatch"
        })
        assert.deepInclude(yield* gateway.refund(payload, null), {
          _tag: "Refused",
          reason: "invalid_batch_settlement_evm_refund_no_balance"
        })
      })
    )
  )
})

describe("the books of payment channels", () => {
  it.live("tell what receipts and charges differ by, once, also after the settler that has told it is gone", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain, authorizer, server } = fleet
          const first = yield* Scope.make()
          yield* Scope.provide(fleet.start("payment-settler"), first)
          const gateway = yield* channelGateway(server, chain.network)
          const { kv, publisher } = gateway
          const reference = referenceChannels(chain)
          const payer = newPayer()
          yield* chain.fund(payer.address, 20_000n)
          const offered = channelRequirements(authorizer, { extra: fleet.extra })
          const payload = depositOf(
            (yield* Effect.promise(() => reference.pay(reference.client(payer), offered))).payload
          )
          yield* gateway.deposit(payload)
          yield* gateway.call(payload, "1000", "700")
          yield* gateway.receipts(payload)
          yield* eventually(fleet.receipts, { is: ({ length }) => length === 1 })
          const [receipt] = yield* fleet.receipts
          if (receipt === undefined) return assert.fail("no receipt")
          assert.strictEqual(receipt.channel, payload.voucher.channelId.toLowerCase())

          const kept = yield* kv.open("payment-books", BookFinding)
          const sums = yield* kv.open("payment-books", ReceiptSum)
          const found = Stream.runCollect(kept.scan("finding.>")).pipe(
            Effect.map((all) =>
              all.flatMap(({ value: { kind, channel, end } }) =>
                kind === "ChannelDiffers" ? [[channel?.fault, channel?.amount, end?.how ?? null]] : []
              )
            )
          )
          const summed = Effect.map(Stream.runCollect(sums.scan("receipted.>")), (all) =>
            all.map(({ value }) => value.receipted).join(" ")
          )
          yield* eventually(summed, { is: (sum) => sum === "700" })
          assert.deepStrictEqual(yield* found, [])

          // A receipt that nothing was charged for.
          const forged = { ...receipt, claimKey: `${receipt.claimKey.slice(0, -1)}_`, amount: "5" }
          const subject = subjects.receipts(forged.network, addressToken(forged.network, forged.payer))
          yield* publisher.publish(subject, receiptCodec, forged, { messageId: "forged" })
          const beyond = ["its receipts are 5 more than was charged", "5"]
          yield* eventually(found, { is: (all) => JSON.stringify(all) === JSON.stringify([[...beyond, null]]) })
          yield* eventually(fleet.metrics, { is: (text) => /^payment_channel_differences\{[^}]*\} 1$/mu.test(text) })

          yield* Scope.close(first, Exit.void)
          yield* fleet.start("payment-settler")
          yield* gateway.call(yield* fleet.refundVoucher(payer, payload, "1700"), "1000", "40")
          yield* gateway.receipts(payload)
          yield* eventually(summed, { is: (sum) => sum === "745" })
          assert.deepStrictEqual(yield* found, [[...beyond, null]])

          // As if the charge had been lost with an older backup, and is back; and then one without a receipt.
          const charge = Effect.fnUntraced(
            function* (more: bigint) {
              const records = yield* kv.open("channels", Channel)
              const [record] = yield* Stream.runCollect(records.scan(">"))
              if (record === undefined) return assert.fail("no record")
              const charged = (BigInt(record.value.charged) + more).toString()
              yield* records.update(record.key, { ...record.value, charged }, record.revision)
            },
            // The settler writes the same record.
            Effect.retry({ times: 10, while: ({ _tag }) => _tag === "RevisionConflict" })
          )
          yield* charge(5n)
          yield* eventually(found, { is: (all) => JSON.stringify(all) === JSON.stringify([[...beyond, "resolved"]]) })
          yield* charge(7n)
          const missing = ["7 of what is charged has no receipt", "7", null]
          yield* eventually(found, {
            is: (all) => all.some((each) => JSON.stringify(each) === JSON.stringify(missing))
          })
        }),
      {
        roles: ["payment-verifier", "model-gateway"],
        settler: { ChannelClaimSeconds: 3_600, ChannelClaimUsd: 1, ReconcileSeconds: 1 }
      }
    )
  )
})

describe("the answer that a channel's record holds", () => {
  it.live("is kept for two days, and no longer where the payer does not continue", () =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain, authorizer, server } = fleet
          const gateway = yield* channelGateway(server, chain.network)
          const offered = channelRequirements(authorizer, { extra: fleet.extra })
          const payers = [newPayer(), newPayer()]
          const records = yield* gateway.kv.open("channels", Channel)
          for (const [index, payer] of payers.entries()) {
            yield* chain.fund(payer.address, 20_000n)
            const reference = referenceChannels(chain)
            const payload = depositOf(
              (yield* Effect.promise(() => reference.pay(reference.client(payer), offered))).payload
            )
            yield* gateway.deposit(payload)
            yield* gateway.call(payload, "1000", "700")
            yield* gateway.receipts(payload)
            yield* answeredDaysAgo(records, payer.address, index === 0 ? 2.01 : 1.99)
          }
          const answers = Effect.map(Stream.runCollect(records.scan(">")), (all) =>
            payers.map(({ address }) => all.find(isOf(address))?.value.ended?.answer)
          )
          yield* eventually(answers, { is: ([old]) => old === undefined })
          assert.deepStrictEqual(yield* answers, [undefined, "SGVsbG8="])
        }),
      {
        roles: ["payment-settler"],
        settler: { ChannelClaimSeconds: 3_600, ChannelClaimUsd: 1, ChannelWatchSeconds: 1 }
      }
    )
  )

  const isOf = (payer: string) => (entry: KvEntry<Channel>) =>
    entry.value.config.payer.toLowerCase() === payer.toLowerCase()

  /** As if it had been charged then. */
  const answeredDaysAgo = Effect.fnUntraced(function* (records: KvBucket<Channel>, payer: string, days: number) {
    const record = (yield* Stream.runCollect(records.scan(">"))).find(isOf(payer)) ?? assert.fail("no record")
    const { value } = record
    const ended = { ...(value.ended ?? assert.fail("no call")), answer: "SGVsbG8=" }
    const chargedAtMs = Math.floor((yield* Clock.currentTimeMillis) - days * 86_400_000)
    yield* records.update(record.key, { ...value, ended, chargedAtMs }, record.revision)
  })
})
