import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Latch, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Leases } from "#bus"
import { Metrics } from "#runtime"
import { ChainUnavailable, type LeaseEnd, type OpenNetwork, type SettlerKey } from "#payments"
import { openSignerPool, type SignerPool } from "../../../services/payment-settler/signer-pool.ts"
import { checkedPayment, testNetwork } from "../../support/payments.ts"

const noChain = new ChainUnavailable({ operation: "heal", detail: "no node answers" })

const keyOf = (address: string, isUnavailable = false): SettlerKey => ({
  network: testNetwork.Network,
  address,
  isUnavailable: () => isUnavailable,
  sign: () => Effect.succeed(new Uint8Array(0))
})

interface Given {
  readonly keys: ReadonlyArray<SettlerKey>
  readonly heldMax?: number
  readonly named?: ReadonlyArray<string>
  readonly retiring?: ReadonlyArray<string>
  /** How many gaps each healing fills, one after the other. */
  readonly heals?: ReadonlyArray<number | "fails">
  /** What happens during each healing. */
  readonly meanwhile?: () => Effect.Effect<void>
}

/** A pool of keys whose leases the test gives and takes away. */
const world = ({ keys, heldMax = 8, named = [], retiring = [], heals = [], meanwhile }: Given) => {
  const leases = new Map(keys.map(({ address }) => [address, latchesOf()]))
  const asked: Array<string> = []
  const ends: Array<string> = []
  let healed = 0
  const account = ({ address }: SettlerKey) => ({
    take: Effect.succeed({ key: keys.find((key) => key.address === address), nonce: 1 }),
    end: (_lease: unknown, how: LeaseEnd) => Effect.sync(() => void ends.push(`${address} ${how}`)),
    mayBeStuck: Effect.succeed(false),
    heal: Effect.suspend(() => {
      const count = heals[healed] ?? 0
      healed += 1
      const done = count === "fails" ? Effect.fail(noChain) : Effect.succeed(count)
      return meanwhile === undefined ? done : Effect.andThen(meanwhile(), done)
    })
  })
  const network = {
    entry: { ...testNetwork, FacilitatorAddresses: named, RetiringAddresses: retiring },
    isRemote: false,
    account
  } as unknown as OpenNetwork
  const whileHeld = ({ key }: { readonly key: string }, work: Effect.Effect<unknown>) => {
    const address = key.slice(key.lastIndexOf("-") + 1)
    const { given, gone } = leases.get(address) ?? latchesOf()
    const once = Effect.andThen(given.await, Effect.raceFirst(work, gone.await))
    return Effect.andThen(
      Effect.sync(() => asked.push(address)),
      Effect.forever(once)
    )
  }
  const open = openSignerPool({ network, keys, holder: "a", heldMax })
  return {
    open: open as Effect.Effect<SignerPool, never, Leases | Metrics | Scope.Scope>,
    services: Layer.merge(Layer.succeed(Leases, { whileHeld } as never), Metrics.layerTest),
    give: (address: string) => turn(leases.get(address), true),
    takeAway: (address: string) => turn(leases.get(address), false),
    asked,
    ends,
    healed: () => healed
  }
}

const latchesOf = () => ({ given: Latch.makeUnsafe(false), gone: Latch.makeUnsafe(true) })
const turn = (latches: ReturnType<typeof latchesOf> | undefined, isGiven: boolean) =>
  latches === undefined
    ? Effect.die("no such key")
    : Effect.andThen(
        isGiven
          ? Effect.andThen(latches.gone.close, latches.given.open)
          : Effect.andThen(latches.given.close, latches.gone.open),
        Effect.yieldNow
      )

const takes = (pool: SignerPool, facilitator?: string) =>
  pool.take(facilitator === undefined ? null : { ...checkedPayment("one"), facilitator })
const takenBy = (pool: SignerPool, facilitator?: string) =>
  Effect.map(Effect.exit(takes(pool, facilitator)), (exit) =>
    Exit.isSuccess(exit) ? exit.value.lease.key.address : "none"
  )
const isThere = ({ some, none }: Pick<SignerPool, "some" | "none">) => [Latch.isOpen(some), Latch.isOpen(none)]

describe("the keys that a settler can sign with", () => {
  it.effect("are those whose leases it holds, and it knows when there is none", () => {
    const { open, services, give, takeAway } = world({ keys: [keyOf("k1")] })
    return Effect.gen(function* () {
      const pool = yield* open
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([isThere(pool), yield* takenBy(pool)], [[false, true], "none"])
      yield* give("k1")
      assert.deepStrictEqual([isThere(pool), yield* takenBy(pool)], [[true, false], "k1"])
      assert.deepStrictEqual(isThere(pool.keyOf("k1") ?? assert.fail("no latches")), [true, false])
      assert.isUndefined(pool.keyOf("k2"))
      yield* takeAway("k1")
      assert.deepStrictEqual([isThere(pool), yield* takenBy(pool)], [[false, true], "none"])
    }).pipe(Effect.provide(services))
  })

  it.effect("are asked for three seconds apart, no more than it may hold beside those that payers name", () => {
    const keys = ["k1", "k2", "k3", "k4"].map((address) => keyOf(address))
    const { open, services, asked } = world({ keys, heldMax: 2, named: ["k2"] })
    return Effect.gen(function* () {
      yield* open
      const counts: Array<number> = []
      for (const ms of [0, 2_999, 1, 3_000, 60_000]) {
        yield* TestClock.adjust(ms)
        counts.push(asked.length)
      }
      assert.deepStrictEqual(counts, [1, 1, 2, 3, 3])
      // A process begins with a key of its own.
      assert.deepStrictEqual(asked, ["k3", "k4", "k2"])
    }).pipe(Effect.provide(services))
  })

  it.effect("serve a payment that names one only by that, and a retiring one serves no others", () => {
    const keys = ["k1", "k2"].map((address) => keyOf(address))
    const { open, services, give } = world({ keys, retiring: ["k2"] })
    return Effect.gen(function* () {
      const pool = yield* open
      yield* TestClock.adjust("1 minute")
      yield* give("k2")
      assert.deepStrictEqual(isThere(pool), [false, true])
      assert.deepStrictEqual(isThere(pool.keyOf("k2") ?? assert.fail("no latches")), [true, false])
      assert.deepStrictEqual(
        [yield* takenBy(pool), yield* takenBy(pool, "k1"), yield* takenBy(pool, "k2")],
        ["none", "none", "k2"]
      )
      yield* give("k1")
      assert.deepStrictEqual([yield* takenBy(pool), yield* takenBy(pool)], ["k1", "k1"])
    }).pipe(Effect.provide(services))
  })

  it.effect("share the work: the least busy is taken, and one whose signer is away only when all are", () => {
    const keys = [keyOf("k1"), keyOf("k2"), keyOf("k3", true)]
    const { open, services, give, takeAway, ends } = world({ keys })
    return Effect.gen(function* () {
      const pool = yield* open
      yield* TestClock.adjust("1 minute")
      for (const address of ["k1", "k2", "k3"]) yield* give(address)
      const [one, other] = [yield* takes(pool), yield* takes(pool)]
      assert.deepStrictEqual([one.lease.key.address, other.lease.key.address].toSorted(), ["k1", "k2"])
      yield* one.end("used")
      assert.strictEqual(yield* takenBy(pool), one.lease.key.address)
      assert.deepStrictEqual(ends, [`${one.lease.key.address} used`])
      yield* Effect.andThen(takeAway("k1"), takeAway("k2"))
      assert.strictEqual(yield* takenBy(pool), "k3")
    }).pipe(Effect.provide(services))
  })
})

describe("gaps between a key's nonces", () => {
  it.effect("are filled every two seconds until there are none, and after each lease that was not used", () => {
    const { open, services, give, healed } = world({ keys: [keyOf("k1")], heals: [2, "fails", "fails", 1, 0] })
    return Effect.gen(function* () {
      const pool = yield* open
      yield* TestClock.adjust(0)
      yield* give("k1")
      const heal = (times: number) => Effect.map(TestClock.adjust(times * 2_000), healed)
      assert.strictEqual(yield* heal(4), 4)
      // The last one has filled a gap, so that the next one looks once more.
      assert.deepStrictEqual([yield* heal(1), yield* heal(5)], [5, 5])
      const text = yield* (yield* Metrics).text
      assert.match(text, /^payment_nonce_gaps_filled_total\{.*\} 3$/mu)
      for (const [how, looks] of [
        ["used", 5],
        ["unsent", 6],
        ["unknown", 7]
      ] as const) {
        const { end } = yield* takes(pool)
        yield* end(how)
        assert.strictEqual(yield* heal(3), looks, how)
      }
    }).pipe(Effect.provide(services))
  })
})

it.effect("a gap that a lease leaves while others are filled is looked for at the next turn", () => {
  let meanwhile: Effect.Effect<void> = Effect.void
  const { open, services, give, healed } = world({ keys: [keyOf("k1")], meanwhile: () => meanwhile })
  return Effect.gen(function* () {
    const pool = yield* open
    yield* TestClock.adjust(0)
    yield* give("k1")
    const lease = yield* takes(pool)
    meanwhile = Effect.andThen(
      Effect.sync(() => void (meanwhile = Effect.void)),
      lease.end("unsent")
    )
    yield* TestClock.adjust("10 seconds")
    assert.strictEqual(healed(), 2)
  }).pipe(Effect.provide(services))
})

describe("the keys of a chain that counts no transactions", () => {
  const shared = (keys: ReadonlyArray<SettlerKey>, isRemote = false) =>
    openSignerPool({
      network: { entry: testNetwork, isRemote, account: null } as unknown as OpenNetwork,
      keys,
      holder: "a",
      heldMax: 1
    })
  const paying = (feePayer: string) => {
    const { requirements } = checkedPayment("one")
    return { ...checkedPayment("one"), requirements: { ...requirements, extra: { feePayer } } }
  }
  const services = Layer.merge(
    Layer.succeed(Leases, { whileHeld: () => Effect.die("no lease is needed") } as never),
    Metrics.layerTest
  )

  it.effect("need no lease: the one that pays a payment's fee signs it", () =>
    Effect.gen(function* () {
      const pool = yield* shared([keyOf("k1"), keyOf("k2")])
      assert.deepStrictEqual(isThere(pool), [true, false])
      assert.strictEqual((yield* pool.take(paying("k2"))).lease.key.address, "k2")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(pool.take(paying("k3")))))
      assert.isDefined(pool.keyOf("k1"))
      assert.isUndefined(pool.keyOf("k3"))
      assert.deepStrictEqual(isThere(yield* shared([])), [false, true])
    }).pipe(Effect.provide(services))
  )

  it.effect("are its own where a facilitator signs, whoever pays the fee", () =>
    Effect.gen(function* () {
      const pool = yield* shared([], true)
      assert.deepStrictEqual(isThere(pool), [true, false])
      const { lease } = yield* pool.take(paying("k3"))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(lease.key.sign(new Uint8Array(0)))))
      assert.isDefined(pool.keyOf("k3"))
    }).pipe(Effect.provide(services))
  )
})
