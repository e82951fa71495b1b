import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Health, Metrics } from "#runtime"
import { ChainUnavailable } from "#payments"
import { feeChecks, lowKeys } from "../../../services/payment-settler/fee-checks.ts"
import { Networks } from "../../../services/payment-settler/networks.ts"

const network = "eip155:84532"

describe("a settler's keys", () => {
  it.each([
    [[{ key: "0xa", left: 100 }], undefined],
    [[], undefined],
    [
      [
        { key: "0xa", left: 99 },
        { key: "0xb", left: 5_000 },
        { key: "0xc", left: 0 }
      ],
      "fees for fewer than 100 transfers are left to 0xa, 0xc (none)"
    ]
  ])("with %o to pay fees with are judged", (keys, expected) => {
    assert.strictEqual(lowKeys(keys), expected)
  })

  it.effect("show what each can still pay for; a chain that is away says nothing new", () => {
    const left = new Map<string, bigint | "away">([
      ["0xa", 40_000n],
      ["0xb", 7n]
    ])
    const transfersLeft = (address: string) => {
      const now = left.get(address) ?? "away"
      return now === "away"
        ? Effect.fail(new ChainUnavailable({ operation: "read a balance", detail: "no answer" }))
        : Effect.succeed(now)
    }
    const own = { entry: { Network: network }, chain: { transfersLeft }, isRemote: false, addresses: ["0xa", "0xb"] }
    const networks = new Map([
      [network, own],
      ["eip155:1", { ...own, entry: { Network: "eip155:1" }, isRemote: true }]
    ])
    const runtime = Layer.mergeAll(Health.layer, Metrics.layerTest)
    return Effect.gen(function* () {
      yield* Layer.build(feeChecks.pipe(Layer.provide(Layer.succeed(Networks, networks as never))))
      const shown = Effect.map((yield* Health).ready, ({ checks }) => checks[`fees ${network}`])
      const series = Effect.map((yield* Metrics).text, (text) =>
        text.split("\n").filter((line) => line.startsWith("payment_settler_transactions_left{"))
      )
      yield* TestClock.adjust(0)
      const low = "fees for fewer than 100 transfers are left to 0xb"
      assert.strictEqual(yield* shown, low)
      assert.deepStrictEqual(yield* series, [
        `payment_settler_transactions_left{role="fleet",network="${network}",key="0xa"} 10000`,
        `payment_settler_transactions_left{role="fleet",network="${network}",key="0xb"} 7`
      ])
      left.set("0xb", "away")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* shown, low)
      left.set("0xb", 500n)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shown, "ok")
      left.set("0xa", 0n)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* shown, "fees for fewer than 100 transfers are left to 0xa (none)")
    }).pipe(Effect.scoped, Effect.provide(runtime))
  })
})
