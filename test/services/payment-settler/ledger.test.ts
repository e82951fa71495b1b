import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { channelScheme } from "#payments/contract"
import { receiptCodec } from "#payments"
import { subjects } from "#base"
import { type End, Ledger } from "../../../services/payment-settler/ledger.ts"
import { memoryStream } from "../../support/memory-stream.ts"
import { receiptOf } from "../../support/money.ts"
import { checkedPayment, testNetwork } from "../../support/payments.ts"
import { recorder } from "../../support/recorder.ts"
import { record } from "../../libs/payments/claims/moves.ts"

const end: End = { outcome: "settled", transaction: "0xsent", reason: null }
const claimOf = (name: string) => ({
  key: checkedPayment(name).claimKey,
  revision: 1,
  record: { ...record("SETTLING"), payer: checkedPayment(name).payer, ticket: name }
})
const subjectOf = subjects.receipts(testNetwork.Network, "payer")

const world = () => {
  const stream = memoryStream(recorder())
  return { ...stream, layer: Ledger.layer.pipe(Layer.provide(stream.layer)) }
}

const written = Effect.flatMap(Ledger, ({ from }) =>
  Effect.map(Stream.runCollect(from(1)), (all) => all.map(({ receipt }) => receipt))
)

describe("the receipt of a payment", () => {
  it.effect("is found among those of its payer, by its claim", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const ledger = yield* Ledger
      assert.isFalse(yield* ledger.has(claimOf("one")))
      for (const name of ["one", "two", "three"]) assert.isTrue(yield* ledger.write(claimOf(name), end, true))
      assert.isTrue(yield* ledger.has(claimOf("one")))
      assert.isFalse(yield* ledger.has(claimOf("four")))
      assert.strictEqual((yield* written).length, 3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is written once, however long ago the first settler wrote it", () => {
    const { layer, forget } = world()
    return Effect.gen(function* () {
      const { write } = yield* Ledger
      const results = [
        yield* write(claimOf("one"), end, false),
        // The broker still knows the id.
        yield* write(claimOf("one"), end, false),
        yield* Effect.andThen(Effect.sync(forget), write(claimOf("one"), end, true))
      ]
      assert.deepStrictEqual(results, [true, false, false])
      assert.lengthOf(yield* written, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("that is gone is written again, though the broker remembers its id", () => {
    const { layer, messages } = world()
    return Effect.gen(function* () {
      const { write } = yield* Ledger
      yield* write(claimOf("one"), end, false)
      yield* write(claimOf("two"), end, false)
      messages.splice(0, 1)
      assert.isTrue(yield* write(claimOf("one"), end, true))
      assert.isFalse(yield* write(claimOf("one"), end, true))
      assert.lengthOf(yield* written, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("says what was charged, under which ceiling and scheme, for which model and at which cost", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const { write } = yield* Ledger
      const plain = claimOf("one")
      yield* write(plain, { ...end, outcome: "uncollected", reason: "x".repeat(300) }, true)
      const more = { charge: "7", model: "a model", providerCost: "3", requestedAtMs: 5, payment: null }
      yield* write({ ...claimOf("two"), record: { ...claimOf("two").record, ...more } }, end, true)
      const [first, second] = yield* written
      assert.deepInclude(first, { amount: "25685", scheme: "exact", outcome: "uncollected", requestedAtMs: 0 })
      assert.strictEqual(first?.reason, "x".repeat(256))
      assert.notProperty(first, "ceiling")
      assert.deepInclude(second, {
        amount: "7",
        ceiling: "25685",
        model: "a model",
        providerCost: "3",
        requestedAtMs: 5
      })
      assert.notProperty(second, "scheme")
    }).pipe(Effect.provide(layer))
  })

  it.effect("of a refund is another than its payment's, and is written once too", () => {
    const { layer, forget } = world()
    return Effect.gen(function* () {
      const ledger = yield* Ledger
      const refund = (key: string) => receiptOf("one", { outcome: "refunded", refund: key })
      yield* ledger.writeCharge({ ticket: "t", receipt: receiptOf("one") }, true)
      for (const key of ["a", "b", "a"]) {
        yield* ledger.writeRefund(refund(key), true)
        forget()
      }
      yield* ledger.writeCharge({ ticket: "t", receipt: receiptOf("one") }, true)
      assert.deepStrictEqual(
        (yield* written).map((receipt) => receipt.refund),
        [undefined, "a", "b"]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("is read at its own place alone, and one that cannot be read is left out", () => {
    const { layer, store, messages } = world()
    store(subjectOf, receiptCodec.encode(receiptOf("one")).data)
    store(subjectOf, new TextEncoder().encode("nonsense"))
    store(subjectOf, receiptCodec.encode(receiptOf("two")).data)
    return Effect.gen(function* () {
      const { at, from } = yield* Ledger
      assert.deepStrictEqual(
        (yield* written).map(({ claimKey }) => claimKey),
        [receiptOf("one").claimKey, receiptOf("two").claimKey]
      )
      assert.deepStrictEqual(
        (yield* Stream.runCollect(from(2))).map(({ sequence, storedAtMs }) => [sequence, storedAtMs]),
        [[3, 3]]
      )
      assert.strictEqual(Option.getOrUndefined(yield* at(3))?.claimKey, receiptOf("two").claimKey)
      assert.isTrue(Option.isNone(yield* at(2)))
      messages.splice(0, 1)
      assert.isTrue(Option.isNone(yield* at(1)))
    }).pipe(Effect.provide(layer))
  })
})

describe("the charges of a network's channels", () => {
  it.effect("are its settled receipts by channel, oldest first, from a place on", () => {
    const { layer, store } = world()
    const charge = { scheme: channelScheme, channel: "0xc1" } as const
    const receipts = [
      receiptOf("one", charge),
      receiptOf("two", { ...charge, outcome: "uncollected", transaction: null }),
      receiptOf("three", { scheme: "exact" }),
      receiptOf("four", { scheme: channelScheme, amount: "5" })
    ]
    for (const receipt of receipts) store(subjectOf, receiptCodec.encode(receipt).data)
    store(subjects.receipts("eip155:1", "payer"), receiptCodec.encode(receiptOf("five", charge)).data)
    store(subjectOf, new TextEncoder().encode("nonsense"))
    return Effect.gen(function* () {
      const { charges } = yield* Ledger
      const found = (from: number) =>
        Effect.map(Stream.runCollect(charges(testNetwork.Network, from)), (all) =>
          all.map(({ sequence, channel, amount }) => [sequence, channel, amount])
        )
      assert.deepStrictEqual(yield* found(1), [
        [1, "0xc1", 1_000n],
        [4, null, 5n]
      ])
      assert.deepStrictEqual(yield* found(2), [[4, null, 5n]])
    }).pipe(Effect.provide(layer))
  })

  it.effect("of an empty ledger are none", () =>
    Effect.gen(function* () {
      const { charges } = yield* Ledger
      assert.deepStrictEqual(yield* Stream.runCollect(charges(testNetwork.Network, 1)), [])
    }).pipe(Effect.provide(world().layer))
  )
})
