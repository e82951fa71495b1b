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

/** A bucket whose last sequence is 9, of which a follower hears one claim and then nothing. `left`: what is behind it. */
const listing = (left: number | undefined) => {
  const reader = {
    bounds: () => Effect.succeed({ firstSequence: 1, lastSequence: 9, messages: 2 }),
    follow: () => Stream.concat(Stream.make(message(4)), Stream.never),
    next: () => Effect.succeed(Option.map(Option.fromNullishOr(left), message))
  }
  const bucket = { get: () => Effect.succeedNone }
  const services = Layer.mergeAll(
    Layer.succeed(StreamReader, reader as never),
    Layer.succeed(Kv, { open: () => Effect.succeed(bucket) } as never)
  )
  return Effect.gen(function* () {
    const reader = yield* ClaimReader
    const { claims, next } = yield* reader.list({}, { from: undefined, limit: 50 })
    return [claims.map(({ key }) => key), next]
  }).pipe(Effect.provide(ClaimReader.layer.pipe(Layer.provide(services))))
}

describe("a list of claims that hears nothing more", () => {
  it.effect("is at its end when the rest has expired or came later, and goes on where a slow broker stopped it", () =>
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
