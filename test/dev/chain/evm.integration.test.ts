import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Effect, Exit, Scope } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { localAccount } from "../../../dev/chain/evm/accounts.ts"
import { bytecode } from "../../../dev/chain/evm/bytecode.ts"
import { compileContracts } from "../../../dev/chain/evm/compile.ts"
import { type LocalChain, type LocalEvmChainOptions, startLocalEvmChain } from "../../../dev/chain/evm/LocalEvmChain.ts"
import { addressTopic } from "../../../libs/payments/chains/evm/encoding.ts"
import { until } from "../../../dev/fixtures/eventually.ts"
const withChain = <A, E>(options: LocalEvmChainOptions, use: (chain: LocalChain) => Effect.Effect<A, E>) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(startLocalEvmChain(options), use)))

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const selector = { balanceOf: "0x70a08231", separator: "0x3644e515", name: "0x06fdde03", decimals: "0x313ce567" }
const read = (chain: LocalChain, data: string) => chain.rpc("eth_call", [{ to: chain.asset, data }, "latest"])
const balanceOf = (chain: LocalChain, owner: string) =>
  Effect.map(read(chain, `${selector.balanceOf}${addressTopic(owner).slice(2)}`), (word) => BigInt(String(word)))

describe("the contracts of the local chain", () => {
  it("are compiled from the sources beside them", () => {
    assert.deepStrictEqual(compileContracts(), { ...bytecode })
  })
})

describe("the local EVM chain", () => {
  it("has the dollar token at the clients' address, with the domain that they sign for", () =>
    withChain({}, (chain) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* chain.rpc("eth_chainId", []), "0x14a34")
        assert.strictEqual(chain.asset, "0x036CbD53842c5426634e7929541eC2318f3dCF7e")
        // The answers of the token at that address on the public chain.
        const separator = "0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818"
        assert.strictEqual(yield* read(chain, selector.separator), separator)
        assert.strictEqual(BigInt(String(yield* read(chain, selector.decimals))), 6n)
      })
    ))

  it("has a payer with tokens and settlers with coins for fees, and funds any given account", () =>
    withChain({ settlerCount: 3 }, (chain) =>
      Effect.gen(function* () {
        assert.isTrue((yield* balanceOf(chain, chain.payer.address)) > 0n)
        assert.strictEqual(chain.settlers.length, 3)
        for (const { address } of chain.settlers) {
          const wei = yield* chain.rpc("eth_getBalance", [address, "latest"])
          assert.isTrue(BigInt(String(wei)) > 10n ** 18n)
        }
        const somebody = localAccount("a test", "somebody").address
        yield* Effect.all([chain.fund(somebody, 5n), chain.fund(somebody, 7n)], { concurrency: 2 })
        assert.strictEqual(yield* balanceOf(chain, somebody), 12n)
      })
    ))

  it("has the same keys for the same seed, others for another, and new ones without one", () => {
    assert.deepStrictEqual(localAccount("home", "payer"), localAccount("home", "payer"))
    assert.notDeepEqual(localAccount("home", "payer"), localAccount("other home", "payer"))
    assert.notDeepEqual(localAccount("home", "payer"), localAccount("home", "settler 0"))
    return withChain({}, (first) =>
      Effect.promise(() =>
        withChain({}, (second) =>
          Effect.sync(() => {
            assert.notStrictEqual(first.payer.privateKey, second.payer.privateKey)
            assert.notStrictEqual(first.rpcUrl, second.rpcUrl)
          })
        )
      )
    )
  })

  it("answers nothing while it is paused, and then continues where it stopped", () =>
    withChain({}, (chain) =>
      Effect.gen(function* () {
        yield* chain.pause
        const silent = yield* Effect.timeoutOption(chain.rpc("eth_blockNumber", []), "200 millis")
        yield* chain.resume

        assert.strictEqual(silent._tag, "None")
        assert.isString(yield* chain.rpc("eth_blockNumber", []))
      })
    ))

  it("advances its clock when it is told to", () =>
    withChain({}, (chain) =>
      Effect.gen(function* () {
        const timestamp = Effect.map(chain.rpc("eth_getBlockByNumber", ["latest", false]), (block) =>
          Number((block as { readonly timestamp: string }).timestamp)
        )
        const before = yield* timestamp
        yield* chain.advance(1_000)
        assert.isAtLeast(yield* timestamp, before + 1_000)
      })
    ))

  it("takes the next port when the wanted one is taken", async () => {
    const neighbour = createServer()
    await new Promise<void>((resolve) => neighbour.listen(0, "127.0.0.1", () => resolve()))
    const address = neighbour.address()
    const taken = typeof address === "object" && address !== null ? address.port : 0

    const port = await withChain({ port: taken }, (chain) => Effect.succeed(Number(new URL(chain.rpcUrl).port)))
    neighbour.close()

    assert.isAbove(port, taken)
  })

  it("ends with its scope, paused or not", async () => {
    for (const isPaused of [false, true]) {
      const scope = Scope.makeUnsafe()
      const chain = await Effect.runPromise(Effect.provideService(startLocalEvmChain(), Scope.Scope, scope))
      if (isPaused) await Effect.runPromise(chain.pause)

      await Effect.runPromise(Scope.close(scope, Exit.void))

      assert.isFalse(isRunning(chain.pid))
    }
  })

  it("ends when the process that started it is killed without a chance to clean up", async () => {
    const parent = spawn(process.execPath, [join(import.meta.dirname, "chain-holder.ts")], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const pid = await new Promise<number>((resolve) =>
      createInterface({ input: parent.stdout }).once("line", (line) => resolve(Number(line)))
    )
    assert.isTrue(isRunning(pid))

    parent.kill("SIGKILL")

    await until(() => isRunning(pid), { is: false })
  })
})
