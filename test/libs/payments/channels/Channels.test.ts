import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable } from "#bus"
import { Metrics } from "#runtime"
import { Channels } from "../../../../libs/payments/channels/Channels.ts"
import { failingAtEach, recordedKv, type Recorder, recorder, told } from "../../../support/recorder.ts"
import { begin, charge, chargeWithAnswer, leaseMs, mirror, network, release, serve } from "./channel-at-work.ts"

const name = { network, channelId: `0x${"7a".repeat(32)}` }

/** Gateways with a memory of their own, on the same records. */
const gatewaysOn = (record: Recorder, count: number) => {
  const { layer } = recordedKv(record)
  const gateway = Layer.build(Layer.fresh(Layer.provide(Channels.layer, Layer.merge(layer, Metrics.layerTest))))
  return Effect.map(
    Effect.forEach(Array.from({ length: count }), () => gateway),
    (built) => built.map((context) => Context.get(context, Channels))
  )
}

describe("a channel that a gateway remembers", () => {
  it.effect("and that another has moved on is decided on by its record, wherever the memory alone refuses", () =>
    Effect.gen(function* () {
      const [one, two] = yield* gatewaysOn(recorder(), 2)
      if (one === undefined || two === undefined) return assert.fail()
      yield* one.run(name, mirror())
      yield* one.run(name, begin(1_000))
      // The first remembers a channel that is busy, and knows no work of the second's.
      yield* two.run(name, charge(700))
      yield* one.run(name, begin(1_700, { ticket: "t2" }))
      yield* two.run(name, release("t2"))
      yield* two.run(name, begin(1_700, { ticket: "t3", holder: "gateway-2" }))
      const last = yield* one.run(name, charge(300, "t3"))
      assert.strictEqual(last.charged, "1000")
    }).pipe(Effect.scoped)
  )

  it.effect("charges each call once, whichever of its calls to the broker fails", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const [gateway] = yield* gatewaysOn(record, 1)
          if (gateway === undefined) return assert.fail()
          const again = (command: Parameters<typeof gateway.run>[1]) =>
            Effect.retry(gateway.run(name, command), { times: 1, while: ({ _tag }) => _tag === "BusUnavailable" })
          for (const command of [
            mirror(),
            begin(1_000),
            charge(700),
            begin(1_700, { ticket: "t2" }),
            charge(300, "t2")
          ])
            yield* again(command)
          const read = yield* Effect.retry(gateway.read(name), { times: 1 })
          return Option.map(read, ({ charged }) => charged)
        }, Effect.scoped)
      )
      for (const run of runs) assert.deepStrictEqual(run.exit, Exit.succeed(Option.some("1000")), told(run))
      assert.isAtLeast(runs.length, 13)
    })
  )
})

/** One gateway, and a channel that it has just seen; `calls`: what it has asked of the broker since it was last asked. */
const gateway = Effect.gen(function* () {
  const record = recorder()
  const [one, two] = yield* gatewaysOn(record, 2)
  if (one === undefined || two === undefined) return assert.fail()
  yield* one.run(name, mirror())
  let seen = record.calls.length
  const calls = () => {
    const verbs = record.calls.slice(seen).map((call) => call.split(" ")[0])
    seen = record.calls.length
    return verbs
  }
  return { one, two, calls }
})

/** A gateway that has just seen the channel, of a broker that can be away for writes, or only for its answers. */
const awayGateway = Effect.fnUntraced(function* (isStored = false) {
  const record = recorder()
  let isAway = false
  const gone = new BusUnavailable({ operation: "update", detail: "no answer in time" })
  const call: Recorder["call"] = (what, work) => {
    if (isAway && isStored) return Effect.andThen(record.call(what, work), Effect.fail(gone))
    return isAway && what.startsWith("update") ? Effect.fail(gone) : record.call(what, work)
  }
  const [one] = yield* gatewaysOn({ ...record, call }, 1)
  if (one === undefined) return assert.fail()
  yield* one.run(name, mirror())
  return { one, record, away: (is: boolean) => void (isAway = is) }
})

describe("a channel's record", () => {
  it.effect("is not read for a channel that was used a moment ago, unless that holds an answer", () =>
    Effect.gen(function* () {
      const { one, calls } = yield* gateway
      for (const command of [begin(1_000), charge(700)]) yield* one.run(name, command)
      assert.deepStrictEqual(calls(), ["update", "update"])
      for (const command of [begin(1_700, { ticket: "t2" }), chargeWithAnswer(300, "t2")]) yield* one.run(name, command)
      assert.deepStrictEqual(calls(), ["update", "update"])
      // The next call needs that answer no more; anything else must not lose it.
      yield* one.run(name, mirror({ balance: "9000", block: 2 }))
      assert.deepStrictEqual(calls(), ["get", "update"])
      yield* one.run(name, begin(2_000, { ticket: "t3" }))
      assert.deepStrictEqual(calls(), ["update"])
    }).pipe(Effect.scoped)
  )

  it.effect("is read again after a write of unknown end", () =>
    Effect.gen(function* () {
      const { one, away, record } = yield* awayGateway()
      yield* one.run(name, begin(1_000))
      away(true)
      assert.strictEqual((yield* Effect.flip(one.run(name, charge(700))))._tag, "BusUnavailable")
      away(false)
      const before = record.calls.length
      assert.strictEqual((yield* one.run(name, charge(700))).charged, "700")
      assert.strictEqual(record.calls[before]?.split(" ")[0], "get")
    }).pipe(Effect.scoped)
  )
})

describe("a call that begins before its work is stored", () => {
  it.effect("may begin on a channel that is known and free, and that its voucher fits", () =>
    Effect.gen(function* () {
      const { one, two, calls } = yield* gateway
      assert.isFalse(yield* two.beginOptimistically(name, begin(1_000)), "the other has not seen the channel")
      assert.isFalse(yield* one.beginOptimistically(name, begin(1_001)), "the voucher is for another amount")
      assert.isTrue(yield* one.beginOptimistically(name, begin(1_000)))
      assert.isFalse(yield* one.beginOptimistically(name, begin(1_000, { ticket: "t2" })), "one is in work")
      assert.deepStrictEqual([yield* one.isServedUnsettled(name), yield* two.isServedUnsettled(name)], [true, false])
      assert.deepStrictEqual(calls(), [], "nothing is written")
      const busy = yield* Effect.flip(one.run(name, begin(1_000, { ticket: "t2" })))
      assert.strictEqual(busy._tag, "ChannelRefused")
    }).pipe(Effect.scoped)
  )

  it.effect("may begin where the channel holds the last call's answer, which its payer has by then", () =>
    Effect.gen(function* () {
      const { one } = yield* gateway
      for (const command of [begin(1_000), chargeWithAnswer(700)]) yield* one.run(name, command)
      assert.isTrue(yield* one.beginOptimistically(name, begin(1_700, { ticket: "t2" })))
    }).pipe(Effect.scoped)
  )

  it.effect("is stored with its charge, by one write", () =>
    Effect.gen(function* () {
      const { one, calls } = yield* gateway
      yield* one.beginOptimistically(name, begin(1_000))
      const after = yield* one.run(name, charge(700))
      assert.deepStrictEqual([after.charged, after.work, calls()], ["700", null, ["update"]])
      assert.isFalse(yield* one.isServedUnsettled(name))
      assert.isTrue(yield* one.beginOptimistically(name, begin(1_700, { ticket: "t2" })))
    }).pipe(Effect.scoped)
  )

  it.effect("is stored by its own begin, and released without a trace as long as it was not", () =>
    Effect.gen(function* () {
      const { one, calls } = yield* gateway
      yield* one.beginOptimistically(name, begin(1_000))
      const released = yield* one.run(name, release())
      assert.deepStrictEqual([released.charged, released.work, calls()], ["0", null, []])
      yield* one.beginOptimistically(name, begin(1_000, { ticket: "t2" }))
      const begun = yield* one.run(name, begin(1_000, { ticket: "t2" }))
      assert.deepStrictEqual([begun.work?.ticket, calls()], ["t2", ["update"]])
      yield* one.run(name, release("t2"))
      assert.deepStrictEqual(calls(), ["update"])
    }).pipe(Effect.scoped)
  )

  it.effect("is released by a write where an earlier one may have stored it", () =>
    Effect.gen(function* () {
      const { one, away } = yield* awayGateway(true)
      yield* one.beginOptimistically(name, begin(1_000))
      away(true)
      assert.strictEqual((yield* Effect.flip(one.run(name, serve())))._tag, "BusUnavailable")
      away(false)
      assert.strictEqual((yield* one.run(name, mirror({ balance: "9000", block: 2 }))).work?.ticket, "t1")
      yield* one.run(name, release())
      assert.isNull(Option.getOrThrow(yield* one.read(name)).work)
    }).pipe(Effect.scoped)
  )

  it.effect("leaves other changes of the channel to themselves, and continues after them", () =>
    Effect.gen(function* () {
      const { one, calls } = yield* gateway
      yield* one.beginOptimistically(name, begin(1_000))
      const looked = yield* one.run(name, mirror({ balance: "9000", block: 2 }))
      assert.deepStrictEqual([looked.work, calls()], [null, ["update"]])
      assert.isTrue(yield* one.isServedUnsettled(name))
      yield* one.run(name, serve())
      const after = yield* one.run(name, charge(700))
      assert.deepStrictEqual([after.charged, after.mirror.balance], ["700", "9000"])
    }).pipe(Effect.scoped)
  )

  it.effect("is forgotten at the end of its lease", () =>
    Effect.gen(function* () {
      const { one } = yield* gateway
      yield* one.beginOptimistically(name, begin(1_000))
      yield* TestClock.adjust(leaseMs - 1)
      assert.isTrue(yield* one.isServedUnsettled(name))
      yield* TestClock.adjust(1)
      assert.isFalse(yield* one.isServedUnsettled(name))
      assert.strictEqual((yield* Effect.flip(one.run(name, charge(700))))._tag, "ChannelRefused")
      assert.isTrue(yield* one.beginOptimistically(name, begin(1_000, { ticket: "t2" })))
    }).pipe(Effect.scoped)
  )

  it.effect("that another gateway has come before is refused, and none begins so for an hour", () =>
    Effect.gen(function* () {
      const { one, two } = yield* gateway
      yield* one.beginOptimistically(name, begin(1_000))
      yield* two.run(name, begin(1_000, { ticket: "theirs", holder: "gateway-2" }))
      const refused = yield* Effect.flip(one.run(name, charge(700)))
      assert.strictEqual(refused._tag, "ChannelRefused")
      yield* two.run(name, charge(500, "theirs"))
      yield* one.run(name, mirror({ block: 2 }))
      const next = begin(1_500, { ticket: "t2" })
      assert.isFalse(yield* one.beginOptimistically(name, next))
      yield* TestClock.adjust("59 minutes")
      assert.isFalse(yield* one.beginOptimistically(name, next))
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* one.beginOptimistically(name, next))
    }).pipe(Effect.scoped)
  )

  it.effect("that another gateway has come before and ended is refused as well, and none begins so for an hour", () =>
    Effect.gen(function* () {
      const { one, two } = yield* gateway
      yield* one.beginOptimistically(name, begin(1_000))
      yield* two.run(name, begin(1_000, { ticket: "theirs", holder: "gateway-2" }))
      yield* two.run(name, charge(500, "theirs"))
      assert.strictEqual((yield* Effect.flip(one.run(name, charge(700))))._tag, "ChannelRefused")
      assert.isFalse(yield* one.beginOptimistically(name, begin(1_500, { ticket: "t2" })))
    }).pipe(Effect.scoped)
  )

  it.effect("is charged later, when the broker is back", () =>
    Effect.gen(function* () {
      const { one, away } = yield* awayGateway()
      yield* one.beginOptimistically(name, begin(1_000))
      away(true)
      assert.strictEqual((yield* Effect.flip(one.run(name, charge(700))))._tag, "BusUnavailable")
      assert.isTrue(yield* one.isServedUnsettled(name))
      away(false)
      assert.strictEqual((yield* one.run(name, charge(700))).charged, "700")
    }).pipe(Effect.scoped)
  )

  it.effect("charges once, whichever of its calls to the broker fails", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const [one] = yield* gatewaysOn(record, 1)
          if (one === undefined) return assert.fail()
          const again = (command: Parameters<typeof one.run>[1]) =>
            Effect.retry(one.run(name, command), { times: 1, while: ({ _tag }) => _tag === "BusUnavailable" })
          yield* again(mirror())
          assert.isTrue(yield* one.beginOptimistically(name, begin(1_000)))
          yield* again(charge(700))
          const read = yield* Effect.retry(one.read(name), { times: 1 })
          return Option.map(read, ({ charged, work }) => [charged, work])
        }, Effect.scoped)
      )
      for (const run of runs) assert.deepStrictEqual(run.exit, Exit.succeed(Option.some(["700", null])), told(run))
      assert.isAtLeast(runs.length, 7)
    })
  )
})
