import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Result, Stream } from "effect"
import { Kv } from "#bus"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { Channels, ChannelRefused } from "../../../../libs/payments/channels/Channels.ts"
import { Channel, type ChannelCommand, channelReason } from "../../../../libs/payments/channels/channel.ts"
import {
  begin,
  charge,
  chargeWithAnswer,
  mirror,
  network,
  receipted,
  release,
  renew,
  serve,
  testConfig
} from "./channel-at-work.ts"

const name = { network, channelId: `0x${"7a".repeat(32)}` }

/** Two gateways on one broker, each with a connection and a memory of its own. */
const twoGateways = <A, E>(
  test: (one: Channels["Service"], two: Channels["Service"]) => Effect.Effect<A, E, Kv>
): Effect.Effect<A, unknown> =>
  Effect.gen(function* () {
    const server = yield* natsServer
    const gateway = Layer.build(Layer.fresh(Channels.layer.pipe(Layer.provideMerge(busOn(server)))))
    const [one, two] = yield* Effect.all([gateway, gateway])
    const serviceIn = (context: typeof one) => Effect.provideContext(Channels, context)
    return yield* Effect.provideContext(test(yield* serviceIn(one), yield* serviceIn(two)), one)
  }).pipe(Effect.scoped)

const refusalOf = (result: Result.Result<Channel, unknown>) =>
  Result.isFailure(result) && result.failure instanceof ChannelRefused ? result.failure.reason : "none"

const run = (channels: Channels["Service"], command: ChannelCommand) => channels.run(name, command)
const refused = (channels: Channels["Service"], command: ChannelCommand) =>
  Effect.map(Effect.result(run(channels, command)), refusalOf)
const ahead = (channels: Channels["Service"], ...given: Parameters<typeof begin>) =>
  channels.beginOptimistically(name, begin(...given))
const readBy = (channels: Channels["Service"]) => Effect.flatMap(channels.read(name), Effect.fromOption)

const revision = Effect.gen(function* () {
  const bucket = yield* (yield* Kv).open("channels", Channel)
  return (yield* bucket.entries)[0]?.revision ?? 0
})

describe("the records of channels", () => {
  it.live("go from gateway to gateway, each of which continues where the other was", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        yield* run(one, begin(1_000))
        yield* run(one, charge(700))
        yield* run(two, begin(1_700, { ticket: "t2", holder: "gateway-2" }))
        yield* run(two, charge(300, "t2"))
        const last = yield* run(one, begin(2_000, { ticket: "t3" }))

        assert.strictEqual(last.charged, "1000")
        const read = Option.getOrThrow(yield* two.read(name))
        assert.deepStrictEqual(read, last)
        const all = yield* Stream.runCollect(one.all)
        assert.deepStrictEqual(
          all.map(({ value }) => value),
          [last]
        )
      })
    )
  )

  it.live("take one of two hundred vouchers of the same height that reach two gateways at once", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        const tries = Array.from({ length: 200 }, (_, index) => index)
        const results = yield* Effect.forEach(
          tries,
          (index) => {
            const isFirst = index % 2 === 0
            const work = begin(1_000, { ticket: `t${index}`, holder: isFirst ? "gateway-1" : "gateway-2" })
            return Effect.result(run(isFirst ? one : two, work))
          },
          { concurrency: 200 }
        )

        const taken = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
        assert.strictEqual(taken.length, 1)
        assert.strictEqual(results.filter((result) => refusalOf(result) === channelReason.busy).length, 199)
        const stored = Option.getOrThrow(yield* one.read(name))
        assert.strictEqual(stored.work?.ticket, taken[0]?.work?.ticket)
      })
    )
  )

  it.live("refuse nothing for what another gateway has changed since", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        yield* run(one, begin(1_000))
        yield* run(two, mirror({ balance: "20000", block: 2 }))
        yield* run(one, charge(1_000))
        // The first gateway remembers a balance of 10,000.
        const begun = yield* run(one, begin(16_000, { ticket: "t2", amount: 15_000 }))
        assert.strictEqual(begun.mirror.balance, "20000")
      })
    )
  )

  it.live("end what a dead gateway has left before they take anything new, even when that is refused", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        const work = begin(1_000, { kind: "stream" })
        assert.isTrue(work._tag === "Begin")
        yield* run(one, { ...work, leaseMs: 1 } as ChannelCommand)
        yield* run(one, serve())
        yield* Effect.sleep("20 millis")
        const refused = yield* Effect.result(run(two, begin(1_000, { ticket: "t2", holder: "gateway-2" })))

        assert.strictEqual(refusalOf(refused), channelReason.mismatch)
        const stored = Option.getOrThrow(yield* one.read(name))
        assert.strictEqual(stored.charged, "100")
        assert.isNull(stored.work)
        // The first gateway was not dead but slow: its charge comes too late, and nothing is charged twice.
        assert.strictEqual(refusalOf(yield* Effect.result(run(one, charge(500)))), channelReason.workOver)
      })
    )
  )

  it.live("keep their answers whoever writes what between two calls, and give them up to the next call alone", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        const answer = Effect.map(one.read(name), (read) => Option.getOrThrow(read).ended?.answer)
        yield* run(one, mirror())
        yield* run(one, begin(1_000))
        const charged = yield* run(one, chargeWithAnswer(700))
        assert.strictEqual(charged.ended?.answer, "SGVsbG8=")
        yield* run(one, mirror({ balance: "20000", block: 2 }))
        yield* run(two, mirror({ balance: "30000", block: 3 }))
        yield* run(one, receipted("t1"))
        assert.strictEqual(yield* answer, "SGVsbG8=")
        const refused = yield* Effect.result(run(one, begin(1_000, { ticket: "t2" })))
        assert.strictEqual(refusalOf(refused), channelReason.mismatch)
        assert.strictEqual(
          Result.isFailure(refused) &&
            refused.failure instanceof ChannelRefused &&
            refused.failure.channel?.ended?.answer,
          "SGVsbG8="
        )
        yield* run(one, begin(1_700, { ticket: "t2" }))
        assert.isUndefined(yield* answer)
      })
    )
  )

  it.live("are not written for a command that changes nothing", () =>
    twoGateways((one) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        yield* run(one, begin(1_000))
        yield* run(one, release())
        const before = yield* revision
        yield* run(one, release())
        yield* run(one, mirror({ block: 40 }))
        assert.strictEqual(yield* revision, before)
        assert.strictEqual((yield* run(one, mirror())).config.payer, testConfig.payer)
      })
    )
  )
})

describe("a work that has begun in memory", () => {
  it.live("is stored with its charge by one write, and by none where it fails", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        const before = yield* revision
        assert.isTrue(yield* ahead(one, 1_000))
        assert.isNull((yield* readBy(two)).work)
        yield* run(one, release())
        assert.strictEqual(yield* revision, before)

        assert.isTrue(yield* ahead(one, 1_000, { ticket: "t2" }))
        const charged = yield* run(one, chargeWithAnswer(700, "t2"))
        assert.strictEqual(yield* revision, before + 1)
        assert.deepStrictEqual(yield* readBy(two), charged)
        assert.deepInclude(charged, { charged: "700", work: null, signed: begin(1_000).work.voucher })
        assert.deepInclude(charged.owed?.[0], { ticket: "t2", amount: "700", ceiling: "1000" })
        assert.strictEqual(charged.ended?.answer, "SGVsbG8=")
        // The charge that is sent again, for its answer was lost, changes nothing.
        assert.deepStrictEqual(yield* run(one, chargeWithAnswer(700, "t2")), charged)
        assert.strictEqual(yield* revision, before + 1)
      })
    )
  )

  it.live("is stored by what comes first: by its renewal, or by a stream's first byte", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        assert.isTrue(yield* ahead(one, 1_000))
        yield* run(one, renew())
        assert.strictEqual((yield* readBy(two)).work?.ticket, "t1")
        assert.isFalse(yield* one.isServedUnsettled(name))
        yield* run(one, charge(1_000))

        assert.isTrue(yield* ahead(one, 2_000, { ticket: "t2", kind: "stream" }))
        yield* run(one, serve("t2"))
        assert.deepInclude((yield* readBy(two)).work, { ticket: "t2", isServing: true, spent: "100" })
        assert.strictEqual((yield* run(one, charge(300, "t2"))).charged, "1300")
      })
    )
  )

  it.live("keeps its channel busy in its process, which reads nothing for that, until it ends or its lease does", () =>
    twoGateways((one) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        assert.isTrue(yield* ahead(one, 1_000))
        assert.isFalse(yield* ahead(one, 1_000, { ticket: "t2" }))
        assert.strictEqual(yield* refused(one, begin(1_000, { ticket: "t2" })), channelReason.busy)
        yield* run(one, release())
        assert.isTrue(yield* one.beginOptimistically(name, { ...begin(1_000, { ticket: "t3" }), leaseMs: 1 }))
        // A deposit, which asks for this alone, is not kept off by a work that could not be stored.
        yield* eventually(one.isServedUnsettled(name), { is: (isServedUnsettled) => !isServedUnsettled })
        assert.isTrue(yield* ahead(one, 1_000, { ticket: "t4" }))
        assert.strictEqual(yield* refused(one, charge(500, "t3")), channelReason.workOver)
        assert.strictEqual((yield* run(one, charge(500, "t4"))).charged, "500")
      })
    )
  )

  it.live("is refused where another process has taken the channel, which is left to it no second time", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        assert.isTrue(yield* ahead(one, 1_000))
        yield* run(two, begin(1_000, { ticket: "t2", holder: "gateway-2" }))
        assert.strictEqual(yield* refused(one, charge(700)), channelReason.busy)
        assert.strictEqual(yield* refused(one, release()), channelReason.workOver)
        yield* run(two, charge(600, "t2"))
        assert.strictEqual((yield* readBy(one)).charged, "600")
        // Its own last write is the newest again, and still the voucher is stored first.
        yield* run(one, begin(1_600, { ticket: "t3" }))
        yield* run(one, charge(1_000, "t3"))
        assert.isFalse(yield* ahead(one, 2_600, { ticket: "t4" }))
        // The other gateway knows nothing of that, and nothing newer than its own charge.
        assert.isFalse(yield* ahead(two, 2_600, { ticket: "t5" }))
      })
    )
  )

  it.live("continues where another process has only looked at the chain meanwhile", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        assert.isTrue(yield* ahead(one, 1_000))
        yield* run(two, mirror({ balance: "20000", block: 2 }))
        const charged = yield* run(one, charge(700))
        assert.deepInclude(charged, { charged: "700", work: null })
        assert.strictEqual(charged.mirror.balance, "20000")
        assert.isTrue(yield* ahead(one, 1_700, { ticket: "t2" }))
      })
    )
  )

  it.live("is refused what its payer has begun to withdraw meanwhile, and charged nothing", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        yield* run(one, mirror())
        assert.isTrue(yield* ahead(one, 1_000))
        yield* run(two, mirror({ withdrawAmount: "9500", withdrawRequestedAt: 1, block: 2 }))
        assert.strictEqual(yield* refused(one, charge(700)), channelReason.exceedsBalance)
        assert.deepInclude(yield* readBy(two), { charged: "0", work: null })
      })
    )
  )

  it.live("needs a record that is remembered and allows it", () =>
    twoGateways((one, two) =>
      Effect.gen(function* () {
        assert.isFalse(yield* ahead(one, 1_000))
        yield* run(one, mirror())
        assert.isFalse(yield* ahead(two, 1_000, { holder: "gateway-2" }))
        assert.isFalse(yield* ahead(one, 900))
        assert.isFalse(yield* ahead(one, 11_000, { amount: 11_000 }))
        yield* run(one, begin(1_000))
        assert.isFalse(yield* ahead(one, 1_000, { ticket: "t2" }))
      })
    )
  )
})
