import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { newHome, starling } from "../../../../dev/fixtures/starling.ts"
import { evmBalance } from "../../../support/paid-fleet.ts"
import { withChannels } from "../../../support/channel-fleet.ts"

const funds = 1_000_000_000n

/** The amount of a line of standard error, in millionths of a dollar. */
const amountIn = (error: string, line: RegExp): bigint => {
  const found = new RegExp(`^${line.source} (\\d+)\\.(\\d{6}) USD`, "mu").exec(error)
  return found === null ? assert.fail(`${line.source} is not told:\n${error}`) : BigInt(`${found[1]}${found[2]}`)
}

describe("./starling pay by payment channel", () => {
  it.live("deposits once, pays by voucher, tells charge and rest, and gets the rest back", () =>
    withChannels((fleet) =>
      Effect.gen(function* () {
        const key = generatePrivateKey()
        const { address } = privateKeyToAccount(key)
        yield* fleet.chain.fund(address, funds)
        const home = yield* Effect.acquireRelease(
          Effect.sync(() => newHome({ A_KEY: key })),
          ({ remove }) => Effect.sync(remove)
        )
        const target = ["--gateway", fleet.url, "--rpc", fleet.chain.rpcUrl, "--key-env", "A_KEY"]
        const pay = (...parameters: ReadonlyArray<string>) =>
          Effect.promise(() => starling(home, "pay", ...parameters, ...target))

        const byChannel = ["one two three", "--scheme", "batch-settlement"]
        const opened = yield* pay(...byChannel)
        assert.deepStrictEqual([opened.code, opened.out], [0, "one two three\n"], opened.error)
        const deposit = amountIn(opened.error, /deposit: +/u)
        const charged = amountIn(opened.error, /charged: +/u)
        assert.strictEqual(amountIn(opened.error, /channel: +/u), deposit - charged)
        const { rpcUrl, asset } = fleet.chain
        const balance = Effect.promise(() => evmBalance(rpcUrl, asset, address))
        assert.strictEqual(yield* balance, funds - deposit)

        // This run knows nothing of the one before: the gateway tells it what was charged.
        const second = yield* pay(...byChannel)
        assert.deepStrictEqual([second.code, second.out], [0, "one two three\n"], second.error)
        assert.notInclude(second.error, "deposit:")
        assert.strictEqual(amountIn(second.error, /charged: +/u), charged)
        assert.strictEqual(amountIn(second.error, /channel: +/u), deposit - 2n * charged)

        const refunded = yield* pay("--refund")
        assert.strictEqual(refunded.code, 0, refunded.error)
        assert.strictEqual(amountIn(refunded.error, /refund: +/u), deposit - 2n * charged)
        assert.strictEqual(yield* balance, funds - 2n * charged)
        const empty = yield* pay("--refund")
        assert.strictEqual(empty.code, 1)
        assert.include(empty.error, "invalid_batch_settlement_evm_refund_no_balance")
        assert.notInclude(`${opened.error}${second.error}${refunded.error}${empty.error}`, key.slice(2))
      })
    )
  )
})
