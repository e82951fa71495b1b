import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Stream } from "effect"
import type { BookFinding } from "#payments/contract"
import { Metrics } from "#runtime"
import { type Channel, channelIdIn, Channels } from "#payments"
import { Ledger, type StoredCharge } from "../../../../services/payment-settler/ledger.ts"
import { compareChannels, type ReceiptSum } from "../../../../services/payment-settler/channels/channel-books.ts"
import { Books } from "../../../../services/payment-settler/reconciliation/Books.ts"
import { testNetwork } from "../../../support/payments.ts"
import { recordedBucket, recordedKv, recorder } from "../../../support/recorder.ts"
import {
  begin,
  channelAtWork,
  charge,
  mirror,
  receipted,
  testConfig
} from "../../../libs/payments/channels/channel-at-work.ts"

const contract = { separator: new Uint8Array(32) }
const addressOf = (number: number) => `0x${number.toString(16).padStart(40, "0")}`
const idOf = ({ config }: Pick<Channel, "config">) => channelIdIn(contract, config)

/** A payer's channel that was charged 100, whose receipt is written. */
const channelOf = (payer = 1, salt = 0): Channel => {
  const channel = channelAtWork()
  channel.tries(mirror())
  channel.tries(begin(100, { amount: 100 }))
  channel.tries(charge(100))
  channel.tries(receipted("t1"))
  const config = { ...testConfig, payer: addressOf(payer), salt: `0x${salt.toString(16).padStart(64, "0")}` }
  return { ...channel.state(), config }
}
const chargeOf = (channel: Channel, sequence: number, isNamed = true): StoredCharge => ({
  sequence,
  payer: channel.config.payer,
  channel: isNamed ? idOf(channel) : null,
  amount: 100n
})

/** The books of these channels, which a test compares with what has been receipted by then. */
const world = Effect.fnUntraced(function* (channels: ReadonlyArray<Channel>) {
  const known = new Map(channels.map((channel) => [idOf(channel), channel] as const))
  const present = new Map(known)
  const charges: Array<StoredCharge> = []
  const looked: Array<string> = []
  const kv = recordedKv(recorder())
  const context = yield* Layer.build(Layer.merge(Layer.provide(Books.layer, kv.layer), Metrics.layerTest))
  const books = Context.get(context, Books)
  const metrics = Context.get(context, Metrics)
  const seen = { balance: 0n, totalClaimed: 0n, withdrawAmount: 0n, withdrawRequestedAt: 0, refundNonce: 0n, block: 1 }
  const state = (channelId: string) => Effect.sync(() => (looked.push(channelId), seen))
  const stores = Layer.mergeAll(
    Layer.succeed(Channels, {
      run: () => Effect.void,
      read: ({ channelId }: { readonly channelId: string }) =>
        Effect.sync(() => Option.fromUndefinedOr(present.get(channelId as `0x${string}`)))
    } as never),
    Layer.succeed(Ledger, {
      charges: (_: string, from: number) => Stream.fromIterable(charges.filter(({ sequence }) => sequence >= from))
    } as never)
  )
  const keeper = {
    network: { name: testNetwork.Network, entry: testNetwork, contract: { ...contract, state } },
    receiptSums: {
      sums: recordedBucket<ReceiptSum>(recorder()),
      places: recordedBucket<{ readonly through: number }>(recorder())
    }
  } as unknown as Parameters<typeof compareChannels>[0]
  const gauge = Effect.map(metrics.text, (text) =>
    Number(/^payment_channel_differences\{.*\} (\d+)$/mu.exec(text)?.[1])
  )
  const counted = Effect.map(metrics.text, (text) =>
    Number(/^payment_book_findings_total\{.*ChannelDiffers.*\} (\d+)$/mu.exec(text)?.[1] ?? 0)
  )
  return {
    compare: compareChannels(keeper, known).pipe(Effect.provide(stores), Effect.provideContext(context)),
    findings: Effect.map(books.all(testNetwork), (all) => all.map(({ value }) => value)),
    books,
    charges,
    present,
    looked,
    gauge,
    counted
  }
})

const faults = (findings: ReadonlyArray<BookFinding>) => findings.map(({ channel, end }) => [channel?.fault, end?.how])
const missing = "100 of what is charged has no receipt"

describe("the channels of a network", () => {
  it.effect("are in order while each charge has its receipt, under the channel's name or its only owner's", () =>
    Effect.gen(function* () {
      const [one, two, three] = [channelOf(1), channelOf(2), channelOf(2, 1)]
      const { compare, findings, charges, gauge } = yield* world([one, two, three])
      charges.push(chargeOf(one, 1, false), chargeOf(two, 2), chargeOf(three, 3), chargeOf(two, 4, false))
      yield* compare
      assert.deepStrictEqual(yield* findings, [], "a receipt of an older release belongs to no one of two channels")
      assert.strictEqual(yield* gauge, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("differ by a charge without a receipt until that is written, and it is counted once", () =>
    Effect.gen(function* () {
      const [one, other] = [channelOf(1), channelOf(2)]
      const { compare, findings, charges, gauge, counted } = yield* world([one, other])
      charges.push(chargeOf(other, 1))
      yield* compare
      yield* compare
      assert.deepStrictEqual(faults(yield* findings), [[missing, undefined]])
      assert.deepStrictEqual([yield* gauge, yield* counted], [1, 1])
      charges.push(chargeOf(one, 2))
      yield* compare
      assert.deepStrictEqual(faults(yield* findings), [[missing, "resolved"]])
      assert.strictEqual(yield* gauge, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("that an operator has explained are not reported again, and those that were in order since are", () =>
    Effect.gen(function* () {
      for (const how of ["accepted", "resolved"] as const) {
        const { compare, findings, books, counted } = yield* world([channelOf()])
        yield* compare
        const [found] = yield* findings
        yield* books.end(found?.id ?? "", { how })
        yield* compare
        assert.deepStrictEqual(faults(yield* findings), [[missing, how === "accepted" ? how : undefined]])
        assert.strictEqual(yield* counted, how === "accepted" ? 1 : 2)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("of which a record is gone are told with what it was charged", () =>
    Effect.gen(function* () {
      const channel = channelOf()
      const { compare, findings, present } = yield* world([channel])
      present.clear()
      yield* compare
      const [finding] = yield* findings
      assert.deepInclude(finding?.channel, { channelId: idOf(channel), fault: "its record is gone", amount: "100" })
    }).pipe(Effect.scoped)
  )

  it.effect("are compared 512 at a time, each in its turn, and a turn says nothing about the others", () =>
    Effect.gen(function* () {
      const channels = Array.from({ length: 600 }, (_, index) => channelOf(index + 1))
      const { compare, findings, looked, charges } = yield* world(channels)
      yield* compare
      assert.lengthOf(new Set(looked.splice(0)), 512)
      charges.push(...channels.map((channel, index) => chargeOf(channel, index + 1)))
      const standing = Effect.map(findings, (all) => all.filter(({ end }) => end === null).length)
      assert.strictEqual(yield* standing, 512)
      yield* compare
      assert.lengthOf(new Set(looked.splice(0)), 88)
      assert.strictEqual(yield* standing, 512)
      yield* compare
      assert.lengthOf(new Set(looked), 512)
      assert.strictEqual(yield* standing, 0)
    }).pipe(Effect.scoped)
  )
})
