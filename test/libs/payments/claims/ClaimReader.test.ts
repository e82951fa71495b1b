import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Kv, type SourceMessage, StreamReader } from "#bus"
import { ClaimReader, type ClaimRecord } from "#payments"
import { checkedPayment, testCall } from "../../../support/payments.ts"

const { claimKey, payload, requirements, ...checked } = checkedPayment("one")

const record: ClaimRecord = {
  state: "SETTLING",
  network: checked.network,
  asset: checked.asset,
  payer: checked.payer,
  payTo: checked.payTo,
  amount: "1",
  ...testCall(),
  moves: 1,
  validBeforeMs: 1,
  claimedAtMs: 1,
  requestedAtMs: 1,
  transactions: [],
  asked: 1,
  reason: null,
  payment: { payload, requirements }
}

const message = (sequence: number): SourceMessage => ({
  subject: `$KV.authorizations.${claimKey}`,
  sequence,
  storedAtMs: 0,
  data: new TextEncoder().encode(JSON.stringify(record)),
  header: () => undefined
})

const reading = (reader: object, limit = 50, from?: number) => {
  const bucket = { get: () => Effect.succeedNone }
  const services = Layer.mergeAll(
    Layer.succeed(StreamReader, reader as never),
    Layer.succeed(Kv, { open: () => Effect.succeed(bucket) } as never)
  )
  return Effect.gen(function* () {
    const reader = yield* ClaimReader
    const { claims, next } = yield* reader.list({}, { from, limit })
    return [claims.map(({ key }) => key), next]
  }).pipe(Effect.provide(ClaimReader.layer.pipe(Layer.provide(services))))
}

/** A bucket whose last sequence is 9, of which a follower hears one claim and then nothing. `left`: what is behind it. */
const listing = (left: number | undefined) =>
  reading({
    bounds: () => Effect.succeed({ firstSequence: 1, lastSequence: 9, messages: 2 }),
    follow: () => Stream.concat(Stream.make(message(4)), Stream.never),
    next: () => Effect.succeed(Option.map(Option.fromNullishOr(left), (sequence) => message(sequence)))
  })

/** A bucket of so many records, all there at once. */
const bucketOf = (count: number, subject?: string) => ({
  bounds: () => Effect.succeed({ firstSequence: 1, lastSequence: count, messages: count }),
  follow: (_: string, from: number) =>
    count === 0
      ? Stream.never
      : Stream.map(Stream.range(from, count), (sequence) => ({ ...message(sequence), ...(subject && { subject }) })),
  next: (_: string, sequence: number) => Effect.succeedSome(message(sequence))
})

describe("a list of claims that hears nothing more", () => {
  it.effect("is at its end when the rest has expired or came later, and continues where a slow broker stopped it", () =>
    Effect.gen(function* () {
      const listings = Effect.forEach([undefined, 12, 7], listing, { concurrency: "unbounded" })
      const heard = yield* Effect.forkChild(listings, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const pages = yield* Fiber.join(heard)
      assert.deepStrictEqual(pages, [
        [[claimKey], undefined],
        [[claimKey], undefined],
        [[claimKey], 5]
      ])
    })
  )
})

describe("a list of claims", () => {
  it.effect("of an empty bucket is there at once", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* reading(bucketOf(0)), [[], undefined])
    })
  )

  it.effect("ends with the bucket, and at its limit says where to continue", () =>
    Effect.gen(function* () {
      const keys = (count: number) => Array.from({ length: count }, () => claimKey)
      assert.deepStrictEqual(yield* reading(bucketOf(3), 3), [keys(3), undefined])
      assert.deepStrictEqual(yield* reading(bucketOf(4), 3), [keys(3), 4])
      assert.deepStrictEqual(yield* reading(bucketOf(4), 3, 4), [keys(1), undefined])
      assert.deepStrictEqual(yield* reading(bucketOf(1)), [keys(1), undefined])
    })
  )

  it.effect("looks at 4,096 records at most", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* reading(bucketOf(5_000, "$KV.authorizations.payer.x.y")), [[], 4_097])
    })
  )
})
