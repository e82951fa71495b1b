/**
 * The Solana chain of the embedded default and of tests: LiteSVM in this process behind a JSON-RPC of our own, with the
 * dollar token at its mainnet address and the mainnet's network name, because clients know no other. It has a funded
 * payer, a payee, and accounts that pay fees. Nothing on it has any value and nothing is kept when it ends. The memo
 * program, which asserts nothing, stands in for wallets' assertions (Lighthouse).
 */
import { address, getAddressEncoder, getProgramDerivedAddress, lamports } from "@solana/kit"
import { Context, Effect, Layer, Random, type Scope } from "effect"
import { type LocalSolanaAccount, localAccount } from "./accounts.ts"
import { Bank } from "./Bank.ts"
import { rpcMethods } from "./rpc-methods.ts"
import { serveRpc } from "./rpc-server.ts"
import { Switches } from "./Switches.ts"
import { mintAccount, readTokenAccount, tokenAccount, tokenProgram } from "./token-state.ts"

export interface LocalSolanaChainOptions {
  /** 0, the default, takes any free one. */
  readonly port?: number
  /** Keys are derived from it; without one they are new with every start. */
  readonly seed?: string
  readonly feePayerCount?: number
  readonly slotMs?: number
  /** How long a blockhash is valid: 150 slots of 0.4 s make the chain's minute. */
  readonly blockhashSlots?: number
  /** How far final blocks are behind: 32 on the real chain. */
  readonly finalitySlots?: number
  /** How many transactions are kept. */
  readonly historyMax?: number
}

export interface LocalSolana {
  readonly rpcUrl: string
  /** CAIP-2. */
  readonly network: string
  readonly mint: string
  readonly decimals: number
  /** Holds tokens. */
  readonly payer: LocalSolanaAccount
  /** Receives payments; has a token account. */
  readonly payTo: LocalSolanaAccount
  /** Hold SOL for fees. */
  readonly feePayers: ReadonlyArray<LocalSolanaAccount>
  /** Gives an owner so many more tokens, in the smallest unit, and a token account if there is none. */
  readonly fund: (owner: string, units: bigint) => Effect.Effect<void>
  /** In the smallest unit; null without a token account. */
  readonly balance: (owner: string) => Effect.Effect<bigint | null>
  readonly giveSol: (owner: string, lamports: bigint) => Effect.Effect<void>
  /** Invalidates every blockhash that was given out so far. */
  readonly expireBlockhashes: Effect.Effect<void>
  /** The chain itself, for tests that make states by hand. */
  readonly bank: Bank
  readonly switches: Switches
  /** How often each method was called. */
  readonly calls: ReadonlyMap<string, number>
}

export const localSolanaNetwork = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
/** The dollar token of the real chain. */
export const localSolanaMint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
const decimals = 6
const payerUnits = 1_000_000_000_000n
const feePayerLamports = 1_000_000_000_000n
const associatedTokenProgram = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
const memoProgram = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
const lighthouseProgram = address("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")

export class LocalSolanaChain extends Context.Service<LocalSolanaChain, LocalSolana>()(
  "starling/dev/LocalSolanaChain"
) {
  static readonly layer = (options: LocalSolanaChainOptions = {}) =>
    Layer.effect(LocalSolanaChain, startLocalSolanaChain(options))
}

/** Ends with its scope. */
export const startLocalSolanaChain = Effect.fn("startLocalSolanaChain")(function* (
  options: LocalSolanaChainOptions = {}
): Effect.fn.Return<LocalSolana, Error, Scope.Scope> {
  const bank = new Bank({
    slotMs: options.slotMs ?? 400,
    lifeSlots: options.blockhashSlots ?? 150,
    finalitySlots: options.finalitySlots ?? 0,
    historyMax: options.historyMax ?? 10_000
  })
  const switches = new Switches()
  const calls = new Map<string, number>()
  const onCall = (method: string) => void calls.set(method, (calls.get(method) ?? 0) + 1)
  const { url } = yield* serveRpc({ port: options.port ?? 0, methods: rpcMethods(bank, switches), switches, onCall })
  const seed = options.seed ?? String(yield* Random.nextInt)
  const account = (name: string) => localAccount(seed, name)
  const chain: LocalSolana = {
    rpcUrl: url,
    network: localSolanaNetwork,
    mint: localSolanaMint,
    decimals,
    payer: account("payer"),
    payTo: account("payee"),
    feePayers: Array.from({ length: options.feePayerCount ?? 2 }, (_, index) => account(`fee payer ${index}`)),
    fund: (owner, units) => Effect.promise(() => addTokens(bank, owner, units)),
    balance: (owner) => Effect.promise(() => tokensOf(bank, owner)),
    giveSol: (owner, units) => Effect.sync(() => void bank.svm.airdrop(address(owner), lamports(units))),
    expireBlockhashes: Effect.sync(() => bank.blockhashes.expireAll()),
    bank,
    switches,
    calls
  }
  yield* furnish(chain)
  return LocalSolanaChain.of(chain)
})

const furnish = Effect.fnUntraced(function* ({ bank, feePayers, fund, giveSol, payTo, payer }: LocalSolana) {
  bank.svm.setAccount(mintAccount(localSolanaMint, tokenProgram, decimals))
  const memo = bank.account(memoProgram)
  if (memo !== null) bank.svm.addProgram(lighthouseProgram, Uint8Array.from(memo.data))
  for (const one of feePayers) yield* giveSol(one.address, feePayerLamports)
  yield* fund(payTo.address, 0n)
  yield* fund(payer.address, payerUnits)
})

const tokenAddress = async (owner: string) => {
  const seeds = [address(owner), tokenProgram, address(localSolanaMint)].map((one) => getAddressEncoder().encode(one))
  const [found] = await getProgramDerivedAddress({ programAddress: associatedTokenProgram, seeds })
  return found
}

const tokensOf = async (bank: Bank, owner: string) => {
  const account = bank.account(await tokenAddress(owner))
  return account === null ? null : (readTokenAccount(account)?.amount ?? null)
}

const addTokens = async (bank: Bank, owner: string, units: bigint) => {
  const amount = ((await tokensOf(bank, owner)) ?? 0n) + units
  const state = { mint: localSolanaMint, owner, amount, isFrozen: false }
  bank.svm.setAccount(tokenAccount(await tokenAddress(owner), tokenProgram, state))
}
