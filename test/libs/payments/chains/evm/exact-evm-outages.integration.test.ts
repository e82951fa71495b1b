import { Effect, Result, Stream } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import type { EvmScheme } from "../../../../../libs/payments/chains/evm/exact-evm.ts"
import { goodPayment, type EvmFixture, startEvmFixture } from "../../../../../dev/fixtures/evm/fixture.ts"
import { answered, rejected, type FaultyAnswer, type FaultyNode, startFaultyNode } from "./faulty-node.ts"

// Nothing listens there: the port is reserved and binding it needs rights.
const closedUrl = "http://127.0.0.1:1"

describe("a chain without an answer", () => {
  let fixture: EvmFixture
  let node: FaultyNode
  /** Fails calls that do not answer at once; a busy machine may need longer for those that do. */
  let impatient: EvmScheme
  beforeAll(async () => {
    fixture = await startEvmFixture({})
    node = await startFaultyNode(fixture.chain.rpcUrl)
    impatient = await fixture.schemeWith({ rpcDeadlineMs: 250, receiptDeadlineMs: 250 })
  })
  afterEach(async () => {
    node.behave = () => undefined
    await fixture.run(fixture.chain.resume)
  })
  afterAll(async () => {
    await node.end()
    await fixture.end()
  })

  type Good = Awaited<ReturnType<typeof goodPayment>>

  /** Everything that asks the chain, each by its error's name. */
  const outcomes = async (scheme: EvmScheme, good: Good) => {
    const lease = await fixture.lease()
    const tags = await fixture.run(
      Effect.all([
        Effect.flip(scheme.simulate(good)),
        Effect.flip(scheme.recheck(good)),
        Effect.flip(scheme.prepare(good, lease)),
        Effect.flip(scheme.look(good, null)),
        Effect.flip(scheme.node.transactionCount(lease.key.address, "pending"))
      ])
    )
    return tags.map(({ _tag }) => _tag)
  }
  const unavailable = [
    "ChainUnavailable",
    "ChainUnavailable",
    "ChainUnavailable",
    "ChainUnavailable",
    "ChainUnavailable"
  ]

  it.each<readonly [string, FaultyAnswer]>([
    ["an error of the server", { status: 500, body: "oh no" }],
    ["a gateway's page", { status: 502, body: "<html><body>Bad Gateway</body></html>" }],
    ["nothing at all", { status: 200, body: "" }],
    ["no JSON", { status: 200, body: "{" }],
    ["JSON of another kind", { status: 200, body: "[]" }],
    ["neither a result nor an error", { status: 200, body: `{"jsonrpc":"2.0","id":1}` }],
    ["a result of another kind", answered({ of: "another kind" })],
    ["a result that is no hex", answered("reverted")],
    ["more than may be read", { status: 200, body: `"${"x".repeat(2_000_000)}"` }],
    ["a limit that is reached", { status: 429, body: "" }],
    ["a limit in the protocol's words", rejected(-32_005, "limit exceeded")],
    ["an internal error", rejected(-32_603, "Internal error")],
    ["a block that it lacks", rejected(-32_000, "header not found")],
    ["a method that it lacks", rejected(-32_601, "the method eth_call does not exist")],
    ["gas that ran out", rejected(-32_000, "out of gas")]
  ])("gives no verdict on a payment when it answers with %s", async (_, answer) => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url] })
    node.behave = () => answer

    assert.deepStrictEqual(await outcomes(scheme, good), unavailable)
  })

  it("gives no verdict on a payment when nothing listens", async () => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [closedUrl] })

    assert.deepStrictEqual(await outcomes(scheme, good), unavailable)
  })

  it("gives no verdict on a payment when it accepts calls and is silent", async () => {
    const good = await goodPayment(fixture)
    const lease = await fixture.lease()
    await fixture.run(fixture.chain.pause)

    const outcome = await fixture.run(Effect.flip(impatient.simulate(good)))
    const prepared = await fixture.run(Effect.flip(impatient.prepare(good, lease)))

    assert.strictEqual(outcome._tag, "ChainUnavailable")
    assert.strictEqual(prepared._tag, "ChainUnavailable")
  })

  it("gives no verdict on a payment when it falls silent between the refusal and the reason", async () => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url] })
    await fixture.run(scheme.simulate(good))
    let calls = 0
    const revert = rejected(3, "execution reverted")
    node.behave = () => ((calls += 1) === 1 ? revert : { status: 503, body: "" })

    const outcome = await fixture.run(Effect.flip(scheme.simulate(good)))

    assert.strictEqual(outcome._tag, "ChainUnavailable")
  })

  it("leaves a settlement pending that may have been sent, and sending it again is harmless", async () => {
    const good = await goodPayment(fixture)
    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    await fixture.run(fixture.chain.pause)

    const outcome = await fixture.run(Effect.flip(impatient.broadcast(prepared, good)))
    await fixture.run(fixture.chain.resume)
    const settled = await fixture.run(fixture.scheme.broadcast(prepared, good))

    assert.deepInclude(outcome, { _tag: "SettlementPending", transaction: prepared.transaction })
    assert.strictEqual(settled.transaction, prepared.transaction)
    assert.deepStrictEqual(await fixture.run(fixture.scheme.look(good, null)), {
      _tag: "Settled",
      transaction: prepared.transaction
    })
  })

  it("certainly got no transaction when nothing listens", async () => {
    const good = await goodPayment(fixture)
    const prepared = await fixture.run(fixture.scheme.prepare(good, await fixture.lease()))
    const scheme = await fixture.schemeWith({ rpcUrls: [closedUrl] })

    const outcome = await fixture.run(Effect.flip(scheme.broadcast(prepared, good)))

    assert.strictEqual(outcome._tag, "ChainUnavailable")
  })

  it("is settled through a node that cannot send and wait in one call", async () => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url] })
    const prepared = await fixture.run(scheme.prepare(good, await fixture.lease()))
    node.behave = (method) =>
      method === "eth_sendRawTransactionSync" ? rejected(-32_601, "Method not found") : undefined

    const settled = await fixture.run(scheme.broadcast(prepared, good))

    assert.strictEqual(settled.transaction, prepared.transaction)
    assert.include(node.calls, "eth_sendRawTransaction")
    assert.include(node.calls, "eth_getTransactionReceipt")
  })

  it("does not count a settlement without the token's own event", async () => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url] })
    const prepared = await fixture.run(scheme.prepare(good, await fixture.lease()))
    node.behave = (method) =>
      method === "eth_sendRawTransactionSync"
        ? answered({ transactionHash: prepared.transaction, status: "0x1", blockNumber: "0x1", logs: [] })
        : undefined

    const outcome = await fixture.run(Effect.flip(scheme.broadcast(prepared, good)))

    assert.deepInclude(outcome, {
      _tag: "SettlementRefused",
      code: "PAYMENT_INVALID",
      reason: "invalid_exact_evm_transfer_event_mismatch"
    })
  })

  it("is replaced by another node when there is one", async () => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [closedUrl, node.url, fixture.chain.rpcUrl] })
    node.behave = () => rejected(-32_005, "limit exceeded")

    assert.isTrue(Result.isSuccess(await fixture.run(Effect.result(scheme.simulate(good)))))
  })

  it("is skipped after repeated failures, and called again when it is back", async () => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url] })
    node.behave = () => ({ status: 503, body: "" })
    const failing = Effect.flip(scheme.simulate(good))
    await fixture.run(Effect.repeat(failing, { times: 4 }))
    const before = node.calls.length

    const alone = await fixture.run(failing)
    const asked = node.calls.length - before
    node.behave = () => undefined
    const back = await fixture.run(
      Effect.result(scheme.simulate(good)).pipe(
        Effect.delay("50 millis"),
        Effect.repeat({ until: Result.isSuccess, times: 100 })
      )
    )

    assert.strictEqual(alone._tag, "ChainUnavailable")
    assert.strictEqual(asked, 0)
    assert.isTrue(Result.isSuccess(back))
  })

  it("has its refusal explained without a multicall contract", async () => {
    const good = await goodPayment(fixture)
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url] })
    const prepared = await fixture.run(scheme.prepare(good, await fixture.lease()))
    await fixture.run(fixture.scheme.broadcast(prepared, good))
    const code = await fixture.run(
      fixture.chain.rpc("eth_getCode", ["0xcA11bde05977b3631167028862bE2a173976CA11", "latest"])
    )
    await fixture.run(fixture.chain.rpc("anvil_setCode", ["0xcA11bde05977b3631167028862bE2a173976CA11", "0x"]))

    const outcome = await fixture.run(Effect.flip(scheme.simulate(good)))
    await fixture.run(fixture.chain.rpc("anvil_setCode", ["0xcA11bde05977b3631167028862bE2a173976CA11", code]))

    assert.deepInclude(outcome, { code: "PAYMENT_REPLAY", reason: "invalid_exact_evm_nonce_already_used" })
  })

  it.each([
    ["says that there are too many", rejected(-32_005, "query returned more than 10000 results")],
    ["answers with more than is read", answered("0".repeat(2_000_000))]
  ])("is asked for fewer blocks when it %s logs in them", async (_how, refusal) => {
    const scheme = await fixture.schemeWith({ rpcUrls: [node.url], logBlocksMax: 64n })
    for (let index = 0; index < 3; index += 1) {
      const good = await goodPayment(fixture)
      const lease = await fixture.lease()
      await fixture.run(
        Effect.flatMap(fixture.scheme.prepare(good, lease), (prepared) => fixture.scheme.broadcast(prepared, good))
      )
    }
    await fixture.run(Effect.repeat(fixture.chain.rpc("evm_mine", []), { times: 3 }))
    const blocksOf = (body: string) => {
      const [range] = (JSON.parse(body) as { params: [{ fromBlock: string; toBlock: string }] }).params
      return Number(range.toBlock) - Number(range.fromBlock) + 1
    }
    const asked: Array<number> = []
    node.behave = (method, body) => {
      if (method !== "eth_getLogs") return undefined
      asked.push(blocksOf(body))
      return blocksOf(body) > 2 ? refusal : undefined
    }

    const all = await fixture.run(Stream.runCollect(scheme.transfers(null)))

    assert.deepStrictEqual(all, await fixture.run(Stream.runCollect(fixture.scheme.transfers(null))))
    assert.isAtLeast(all.length, 3)
    assert.isAbove(Math.max(...asked), 2)
  })
})
