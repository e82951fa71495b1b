import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Channel } from "#payments"
import type { ChannelOrders } from "../../../../../services/model-gateway/payments/channels/orders.ts"
import { channelReceipts } from "../../../../../services/model-gateway/payments/channels/receipts.ts"
import type { Voucher } from "../../../../../services/model-gateway/payments/channels/voucher.ts"
import { network, testConfig } from "../../../../libs/payments/channels/channel-at-work.ts"

const name = { network, channelId: `0x${"7a".repeat(32)}` }
const voucher = { name, checked: { config: testConfig, channelId: name.channelId } } as unknown as Voucher
const owing = (...tickets: ReadonlyArray<string>) =>
  ({ owed: tickets.map((ticket) => ({ ticket })) }) as unknown as Channel

/** A gateway whose settlers answer what the test says; `asked`: when they were. */
const world = (answer: () => "Done" | "Later" = () => "Done") =>
  Effect.gen(function* () {
    let asked = 0
    const orders = {
      ask: () =>
        Effect.sync(() => {
          asked += 1
          return { _tag: answer() }
        })
    } as unknown as ChannelOrders
    return { ...(yield* channelReceipts(orders)), asked: () => asked }
  })

const many = Array.from({ length: 1_000 }, (_, index) => `t${index}`)

describe("the receipts of a channel's charges", () => {
  it.effect("are asked for once for all charges of a moment, and are known as written when they were", () =>
    Effect.gen(function* () {
      const { ask, asked, written } = yield* world()
      yield* ask(voucher, owing("t1"))
      yield* ask(voucher, owing("t1", "t2"))
      assert.deepStrictEqual([asked(), written(name)], [0, []])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([asked(), written(name)], [1, ["t1", "t2"]])
      yield* ask(voucher, owing("t2", "t3"))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([asked(), written(name)], [2, ["t1", "t2", "t3"]])
    }).pipe(Effect.scoped)
  )

  it.effect("are asked for at once when there are many", () =>
    Effect.gen(function* () {
      const { ask, asked, written } = yield* world()
      yield* ask(voucher, owing("t1"))
      yield* ask(voucher, owing(...many))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual([asked(), written(name).length], [1, many.length])
    }).pipe(Effect.scoped)
  )

  it.effect("are not known as written where the settlers did not say so", () =>
    Effect.gen(function* () {
      const { ask, asked, written } = yield* world(() => "Later")
      yield* ask(voucher, owing("t1"))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([asked(), written(name)], [1, []])
    }).pipe(Effect.scoped)
  )

  it.effect("are told to the channel's record once, each channel its own", () =>
    Effect.gen(function* () {
      const { add, reported, written } = yield* world()
      const other = { ...name, channelId: `0x${"7b".repeat(32)}` }
      add(name, owing("t1", "t2"))
      add(name, owing("t2"))
      add(name, null)
      assert.deepStrictEqual([written(name), written(other)], [["t1", "t2"], []])
      reported(name, ["t1"])
      assert.deepStrictEqual(written(name), ["t2"])
      reported(name, ["t2", "t1"])
      assert.deepStrictEqual(written(name), [])
    }).pipe(Effect.scoped)
  )
})
