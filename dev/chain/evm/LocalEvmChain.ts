/**
 * The EVM chain of the embedded default and of tests: an anvil of our own with the dollar token at the address where
 * clients know it, Permit2 and the proxy of the scheme `upto` at theirs, the contracts of payment channels, a contract for
 * several reads at once, one that deploys wallets, a funded payer and funded settlers. Nothing on it has any value, and
 * nothing is kept when it ends. Tests can pause it and move its time.
 */
import { Effect, Option, Random, type Scope, Semaphore } from "effect"
import { knownTokenOf } from "#payments/contract"
import { channelsAddress, depositCollectorAddress, permit2CollectorAddress } from "#payments"
import { callOf, hexOf } from "#payments/evm-encoding"
import { localAccount, type LocalAccount } from "./accounts.ts"
import { type AnvilMissing, type LocalChainNotStarted, startAnvil } from "./anvil.ts"
import { bytecode } from "./bytecode.ts"
import { askLocal, type LocalChainFailed } from "./local-rpc.ts"
import { pickUpPassedOver } from "./pick-up-passed-over.ts"

export interface LocalEvmChainOptions {
  /**
   * The public chain that it imitates, by CAIP-2, one of those whose dollar token is known; by default Base's test
   * chain.
   */
  readonly network?: string
  /** 0, the default, takes any free one; a taken one gives way to the next. */
  readonly port?: number
  /** Keys are derived from it; without one they are new with every start. */
  readonly seed?: string
  /** The time between blocks. Each transaction also gets a block at once, unless `onlyInterval`. */
  readonly blockTimeMs?: number
  readonly onlyInterval?: boolean
  readonly settlerCount?: number
}

export interface LocalChain {
  readonly rpcUrl: string
  readonly chainId: number
  /** CAIP-2. */
  readonly network: string
  readonly asset: `0x${string}`
  readonly pid: number
  /** Holds tokens. */
  readonly payer: LocalAccount
  /** Hold the chain's own coin for fees. */
  readonly settlers: ReadonlyArray<LocalAccount>
  /** Gives an address tokens, in the smallest unit. */
  readonly fund: (address: string, units: bigint) => Effect.Effect<void, LocalChainFailed>
  /** Calls any JSON-RPC method, including the node's own commands. */
  readonly rpc: (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, LocalChainFailed>
  /** Moves the chain's clock on and makes a block there. */
  readonly advance: (seconds: number) => Effect.Effect<void, LocalChainFailed>
  /** From now on it accepts connections and answers nothing, until `resume`. */
  readonly pause: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

export const localEvmChainId = 84_532
/** The address of this chain's dollar token, as clients expect it. */
export const localEvmAsset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
/** The same address as on every public chain. */
export const manyCallsAddress = "0xcA11bde05977b3631167028862bE2a173976CA11"
export const permit2Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
export const uptoProxyAddress = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002"
/** An address of our own: it deploys contract wallets, of which no public chain has the like. */
export const walletFactoryAddress = "0x5ca1ab1e00000000000000000000000000000001"

const payerUnits = 1_000_000_000_000n
const settlerWei = 10n ** 24n

/** Ends with its scope. */
export const startLocalEvmChain = Effect.fn("startLocalEvmChain")(function* (
  options: LocalEvmChainOptions = {}
): Effect.fn.Return<LocalChain, AnvilMissing | LocalChainNotStarted | LocalChainFailed, Scope.Scope> {
  const token = knownTokenOf(options.network ?? `eip155:${localEvmChainId}`)
  const chainId = Number(token?.network.split(":")[1] ?? localEvmChainId)
  const asset = (token?.asset ?? localEvmAsset) as `0x${string}`
  const { url, pid } = yield* startAnvil({
    port: options.port ?? 0,
    chainId,
    blockTimeMs: options.blockTimeMs ?? 3_000,
    onlyInterval: options.onlyInterval ?? false
  })
  const seed = options.seed ?? String(yield* Random.nextInt)
  const payer = localAccount(seed, "payer")
  const settlers = Array.from({ length: options.settlerCount ?? 2 }, (_, index) =>
    localAccount(seed, `settler ${index}`)
  )
  const rpc = (method: string, params: ReadonlyArray<unknown>) => askLocal(url, method, params)
  const minter = localAccount(seed, "minter")
  // The node numbers the minter's transactions itself, and gives two at once the same nonce.
  const minting = Semaphore.makeUnsafe(1)
  const chain: LocalChain = {
    rpcUrl: url,
    chainId,
    network: `eip155:${chainId}`,
    asset,
    pid,
    payer,
    settlers,
    rpc,
    fund: (address, units) => minting.withPermits(1)(mintTo(rpc, minter.address, asset, { to: address, units })),
    advance: (seconds) => Effect.andThen(rpc("evm_increaseTime", [seconds]), rpc("evm_mine", [])),
    pause: Effect.andThen(signalTo(pid, "SIGSTOP"), untilSilent(rpc)),
    resume: signalTo(pid, "SIGCONT")
  }
  yield* furnish(chain, minter, token?.name === "USD Coin" ? bytecode.LocalCoin : bytecode.LocalDollar)
  yield* Effect.forkScoped(pickUpPassedOver(rpc))
  return chain
})

const mint = callOf("mint(address,uint256)")

/** Mints in a block of its own, however seldom the chain makes one. */
const mintTo = (
  rpc: LocalChain["rpc"],
  minter: string,
  asset: string,
  { to, units }: { readonly to: string; readonly units: bigint }
) =>
  Effect.andThen(
    rpc("eth_sendTransaction", [{ from: minter, to: asset, data: hexOf(mint(to, units)) }]),
    rpc("evm_mine", [])
  )

const furnish = Effect.fnUntraced(function* (
  { rpc, fund, payer, settlers, asset }: LocalChain,
  minter: LocalAccount,
  code: `0x${string}`
) {
  yield* Effect.all(
    [
      rpc("anvil_setCode", [asset, code]),
      rpc("anvil_setCode", [manyCallsAddress, bytecode.ManyCalls]),
      rpc("anvil_setCode", [permit2Address, bytecode.Permit2]),
      rpc("anvil_setCode", [uptoProxyAddress, bytecode.UptoPermit2Proxy]),
      rpc("anvil_setCode", [walletFactoryAddress, bytecode.LocalWalletFactory]),
      rpc("anvil_setCode", [channelsAddress, bytecode.LocalChannels]),
      rpc("anvil_setCode", [depositCollectorAddress, bytecode.LocalDepositCollector]),
      rpc("anvil_setCode", [permit2CollectorAddress, bytecode.LocalPermit2Collector]),
      rpc("anvil_impersonateAccount", [minter.address]),
      ...[minter, ...settlers].map(({ address }) => rpc("anvil_setBalance", [address, `0x${settlerWei.toString(16)}`]))
    ],
    { concurrency: "unbounded" }
  )
  yield* fund(payer.address, payerUnits)
})

const answerMs = 50

/** Its threads stop one after the other; one that still runs may answer. */
const untilSilent = (rpc: LocalChain["rpc"]) =>
  rpc("eth_chainId", []).pipe(
    Effect.ignore,
    Effect.timeoutOption(answerMs),
    Effect.repeat({ until: Option.isNone }),
    Effect.asVoid
  )

const signalTo = (pid: number, signal: NodeJS.Signals) => Effect.sync(() => void process.kill(pid, signal))
