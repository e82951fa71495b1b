import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema } from "effect"
import { ConfiguredHttp } from "#egress"
import { PaymentNetwork } from "#payments/contract"
import { Health, Metrics } from "#runtime"
import { openChains, TokenWatch } from "#payments"
import { startLocalEvmChain } from "../../../dev/chain/evm/LocalEvmChain.ts"
import { startLocalSolanaChain } from "../../../dev/chain/solana/LocalSolanaChain.ts"
import { mintAccount, token2022Program, tokenProgram } from "../../../dev/chain/solana/token-state.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { startFaultyNode } from "./chains/evm/faulty-node.ts"
import { payTo } from "../../../dev/fixtures/evm/payments.ts"

const services = Layer.mergeAll(ConfiguredHttp.layer, Health.layer).pipe(Layer.provideMerge(Metrics.layerTest))
const entryOf = (written: unknown) => Result.getOrThrow(Schema.decodeUnknownResult(PaymentNetwork)(written))

const watching = (written: unknown) =>
  Effect.gen(function* () {
    const chains = yield* openChains({ Networks: [entryOf(written)] })
    const context = yield* Layer.build(TokenWatch.layer(chains, { isNeeded: true, everyMs: 50 }))
    return yield* TokenWatch.pipe(Effect.provideContext(context))
  })

const readiness = Effect.gen(function* () {
  const health = yield* Health
  yield* health.started
  return yield* health.ready
})

const sickNode = (behind: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startFaultyNode(behind)),
    (node) => Effect.promise(() => node.end())
  )

describe("the watch over a network's token", () => {
  it.live("does not suspect a chain that does not answer, and checks it as soon as it does", () =>
    Effect.gen(function* () {
      const chain = yield* startLocalEvmChain()
      const node = yield* sickNode(chain.rpcUrl)
      node.behave = () => ({ status: 503, body: "" })
      const { network } = chain
      const written = { Network: network, RpcUrls: [node.url], PayTo: payTo, AssetName: "USD Coin" }
      const watch = yield* watching(written)
      assert.isUndefined(watch.stopped(network))
      assert.isTrue((yield* readiness).ok)
      assert.isAbove(node.calls.length, 0)

      node.behave = () => undefined
      yield* eventually(() => watch.stopped(network), { is: (seen) => seen !== undefined })
      assert.include(watch.stopped(network), 'says name "USDC"')
      const report = yield* readiness
      assert.isFalse(report.ok)
      assert.include(report.checks[`token of ${network}`], 'configured as name "USD Coin"')
      assert.include(yield* (yield* Metrics).text, `x402_token_mismatch{role="fleet",network="${network}"} 1`)

      // While it is away nothing new is known of it.
      const asked = node.calls.length
      node.behave = () => ({ status: 503, body: "" })
      yield* eventually(() => node.calls.length, { is: (length) => length > asked })
      assert.isDefined(watch.stopped(network))
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("stops a network whose nodes serve another chain, and resumes it when they serve its own again", () =>
    Effect.gen(function* () {
      const chain = yield* startLocalEvmChain({ network: "eip155:8453" })
      const node = yield* sickNode(chain.rpcUrl)
      const watch = yield* watching({ Network: chain.network, RpcUrls: [node.url], PayTo: payTo })
      assert.isUndefined(watch.stopped(chain.network))
      node.behave = (method) =>
        method === "eth_chainId"
          ? { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1" }) }
          : undefined
      yield* eventually(() => watch.stopped(chain.network), { is: (seen) => seen !== undefined })
      assert.include(watch.stopped(chain.network), "id is 1 instead of 8453")
      node.behave = () => undefined
      yield* eventually(() => watch.stopped(chain.network), { is: undefined })
      assert.isTrue((yield* readiness).ok)
    }).pipe(Effect.scoped, Effect.provide(services))
  )

  it.live("stops a Solana network whose mint has other decimals or another program", () =>
    Effect.gen(function* () {
      const chain = yield* startLocalSolanaChain()
      const { network, mint } = chain
      const [feePayer] = chain.feePayers
      const watch = yield* watching({
        Network: network,
        RpcUrls: [chain.rpcUrl],
        PayTo: chain.payTo.address,
        FeePayer: feePayer?.address
      })
      assert.isUndefined(watch.stopped(network))
      chain.bank.svm.setAccount(mintAccount(mint, tokenProgram, 9))
      yield* eventually(() => watch.stopped(network)?.includes("and has 9") === true)
      chain.bank.svm.setAccount(mintAccount(mint, token2022Program, 6))
      yield* eventually(() => watch.stopped(network)?.includes("belongs to the program Tokenz") === true)
      chain.bank.svm.setAccount(mintAccount(mint, tokenProgram, 6))
      yield* eventually(() => watch.stopped(network), { is: undefined })
    }).pipe(Effect.scoped, Effect.provide(services))
  )
})
