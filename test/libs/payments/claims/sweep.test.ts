import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Leases, StreamReader } from "#bus"
import { Metrics } from "#runtime"
import { liveClaims, sweepClaim, sweepClaims } from "../../../../libs/payments/claims/sweep.ts"
import { claimsInMemory } from "./claims-in-memory.ts"

const utf8 = new TextEncoder()
const message = (sequence: number, value: unknown) => ({
  subject: "",
  sequence,
  storedAtMs: sequence * 1_000,
  data: utf8.encode(typeof value === "string" ? value : JSON.stringify(value)),
  header: () => undefined
})
const claim = (state: string, asked = 0) => ({ state, asked, payer: "whatever else it says" })
const payer = (places: ReadonlyArray<unknown>) => ({ network: "eip155:1", payer: "0x1", places, denied: null })

describe("a sweeper's view of the bucket", () => {
  it("is the newest state of each open claim, oldest first", () => {
    const live = liveClaims()
    live.see("claim.a", message(1, claim("CLAIMED")))
    live.see("claim.b", message(2, claim("CLAIMED")))
    live.see("claim.c", message(3, claim("SERVING")))
    live.see("claim.a", message(4, claim("SETTLING", 2)))
    live.see("claim.b", message(5, claim("SETTLED")))
    assert.deepStrictEqual(live.claims(), [
      ["claim.c", { state: "SERVING", asked: 0, revision: 3, writtenAtMs: 3_000 }],
      ["claim.a", { state: "SETTLING", asked: 2, revision: 4, writtenAtMs: 4_000 }]
    ])
    assert.deepStrictEqual([live.has("claim.a"), live.has("claim.b")], [true, false])
    assert.strictEqual(live.oldestSequence(), 3)
  })

  it("has a claim as soon as it is seen, and until it has ended", () => {
    const live = liveClaims()
    live.see("claim.a", message(1, claim("CLAIMED")))
    assert.isTrue(live.has("claim.a"))
    live.see("claim.a", message(2, claim("RELEASED")))
    assert.isFalse(live.has("claim.a"))
  })

  it("stays in order, at any moment of the reading", () => {
    const live = liveClaims()
    live.see("claim.a", message(1, claim("CLAIMED")))
    assert.strictEqual(live.oldestSequence(), 1)
    live.see("claim.b", message(2, claim("CLAIMED")))
    assert.strictEqual(live.oldestSequence(), 1)
    live.see("claim.a", message(3, claim("CLAIMED")))
    assert.deepStrictEqual(
      live.claims().map(([key]) => key),
      ["claim.b", "claim.a"]
    )
    live.see("claim.b", message(4, claim("RELEASED")))
    live.see("claim.a", message(5, claim("UNCOLLECTED")))
    live.see("sweep", message(6, { holder: "me", from: 1 }))
    assert.deepStrictEqual([live.claims(), live.oldestSequence()], [[], 7])
  })

  it("holds a payer as long as it has places", () => {
    const live = liveClaims()
    const place = { claimKey: "claim.eip155=3a1.0x2.0x1.0x3", ticket: "one" }
    live.see("payer.a", message(1, payer([place])))
    live.see("payer.b", message(2, payer([place])))
    assert.deepStrictEqual(
      live.payers().map(([key, { revision }]) => [key, revision]),
      [
        ["payer.a", 1],
        ["payer.b", 2]
      ]
    )
    live.see("payer.a", message(3, payer([])))
    assert.deepStrictEqual(
      live.payers().map(([key]) => key),
      ["payer.b"]
    )
    assert.strictEqual(live.oldestSequence(), 2)
  })

  it("knows each place's age, however often its payer's record is written", () => {
    const live = liveClaims()
    const place = (ticket: string) => ({ claimKey: `claim.eip155=3a1.0x2.0x1.${ticket}`, ticket })
    live.see("payer.a", message(1, payer([place("one")])))
    assert.deepStrictEqual([...(live.payers()[0]?.[1].sinceMs ?? [])], [["one", 1_000]])
    live.see("payer.a", message(2, payer([place("one"), place("two")])))
    live.see("payer.a", message(5, payer([place("one"), place("two"), place("three")])))
    const since = live.payers()[0]?.[1].sinceMs
    assert.deepStrictEqual([since?.get("one"), since?.get("three")], [1_000, 5_000])
    live.see("payer.a", message(6, payer([place("three")])))
    assert.deepStrictEqual([...(live.payers()[0]?.[1].sinceMs ?? [])], [["three", 5_000]])
  })

  it("drops removed and unreadable entries, and continues", () => {
    const live = liveClaims()
    live.see("claim.a", message(1, claim("CLAIMED")))
    live.see("claim.b", message(2, claim("CLAIMED")))
    live.see("claim.a", message(3, ""))
    live.see("claim.b", message(4, claim("NO SUCH STATE")))
    live.see("claim.c", message(5, claim("CLAIMED")))
    assert.deepStrictEqual(
      live.claims().map(([key]) => key),
      ["claim.c"]
    )
  })

  it("is the same for a bucket larger than the unread buffer", () => {
    const live = liveClaims()
    const count = 1_500
    for (let index = 0; index < count; index += 1) live.see(`claim.${index}`, message(index + 1, claim("CLAIMED")))
    for (let index = 0; index < count; index += 1) {
      if (index % 5 !== 0) live.see(`claim.${index}`, message(count + index + 1, claim("SETTLED")))
    }
    assert.strictEqual(live.claims().length, count / 5)
    assert.strictEqual(live.oldestSequence(), 1)
  })

  it("does not change with the cut of the bytes", () => {
    const live = liveClaims()
    const came = message(1, claim("CLAIMED"))
    live.see("claim.a", came)
    came.data.fill(0)
    assert.strictEqual(live.claims()[0]?.[1].state, "CLAIMED")
  })
})

describe("a claim whose holder is gone", () => {
  const swept = Effect.fnUntraced(function* (due: "Release" | "Settle" | "AskAgain", revision = 1) {
    const done: Array<string> = []
    const found = { key: "claim.a", revision: 1, record: {} as never }
    const claims = {
      read: () => Effect.succeedSome(found),
      moveAsRead: (_: unknown, { _tag }: { readonly _tag: string }) => Effect.sync(() => (done.push(_tag), found)),
      requestSettlement: () => Effect.sync(() => void done.push("a job"))
    }
    yield* sweepClaim(claims as never, { key: "claim.a", revision, due })
    return done
  })

  it.effect("is released, or is settled by a job, as long as it has not moved", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* swept("Release"), ["Release"])
      assert.deepStrictEqual(yield* swept("Settle"), ["Settle", "a job"])
      assert.deepStrictEqual(yield* swept("AskAgain"), ["AskAgain", "a job"])
      assert.deepStrictEqual(yield* swept("Settle", 2), [])
    })
  )
})

describe("a sweeper", () => {
  it.effect("tells what is unpaid, and writes it down with the place from which another continues", () => {
    const { layer, kv } = claimsInMemory()
    const places = [{ claimKey: "claim.eip155=3a1.0x2.0x1.0x3", ticket: "one", amount: "5000000" }]
    const credit = { earned: 2_000_000, owed: { microUsd: 0, atMs: 0 } }
    const messages = [
      { ...message(3, { ...payer(places), credit }), subject: "$KV.authorizations.payer.a" },
      { ...message(4, claim("CLAIMED")), subject: "$KV.authorizations.claim.a" }
    ]
    const reader = { follow: () => Stream.concat(Stream.fromIterable(messages), Stream.never) }
    const services = Layer.mergeAll(
      kv.layer,
      Layer.succeed(StreamReader, reader as never),
      Layer.succeed(Leases, { whileHeld: (_lease: unknown, work: Effect.Effect<never>) => work } as never)
    )
    const times = { leaseMs: 15_000, settleWithinMs: 30_000 }
    return Effect.gen(function* () {
      yield* Effect.forkChild(sweepClaims({ holder: "settler-1", times, everyMs: 2_000 }), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      const text = yield* (yield* Metrics).text
      assert.match(text, /^x402_unpaid_usd\{.*part="all".*\} 5$/mu)
      assert.match(text, /^x402_unpaid_usd\{.*part="newcomers".*\} 3$/mu)
      const written: unknown = kv.entries.get("authorizations")?.get("sweep")?.value
      assert.deepStrictEqual(written, { holder: "settler-1", from: 3, newcomers: { unpaid: 3_000_000, asOf: 4 } })
    }).pipe(Effect.provide(Layer.merge(services, layer)))
  })
})
