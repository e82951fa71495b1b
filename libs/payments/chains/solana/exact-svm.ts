/**
 * The exact scheme on Solana: the payer signs a transfer of SPL tokens, and we pay its fee. One per network, mint and
 * receiver. Checking needs no key; settling is given one. The scheme stores nothing about any payment.
 */
import { Effect, type Scope } from "effect"
import type { ConfiguredHttp } from "#egress"
import type { Metrics } from "#runtime"
import { openJsonRpc } from "../json-rpc.ts"
import { chargingExactly, type PaymentChain, type PaymentScheme } from "../../scheme.ts"
import type { SchemeFamily } from "../families.ts"
import { blockhashLifeMsMax, checkPayment, type CheckedSvmPayment } from "./payment.ts"
import { fundsOf, simulatePayment } from "./simulate.ts"
import { type FeeLimits, tokenProgram, associatedTokenAccount } from "./instructions.ts"
import { lookAtPayment, lookForPayment } from "./look.ts"
import { broadcastSettlement, type PreparedSvmSettlement, prepareSettlement, type SettleOptions } from "./send.ts"
import { readSettlerKey } from "./keys.ts"
import { solanaNode, type SolanaNode } from "./SolanaNode.ts"
import { transfersFrom } from "./transfers.ts"
import { ChainMismatch, type ChainUnavailable } from "../../errors.ts"

export type SvmScheme = PaymentChain & PaymentScheme<CheckedSvmPayment, PreparedSvmSettlement>

export interface SvmOptions {
  /** CAIP-2. */
  readonly network: string
  /** The mint, base58. */
  readonly asset: string
  /** The owner of the receiving token account, base58. */
  readonly payTo: string
  /** Addresses of our accounts that pay fees, base58. A quote's `extra.feePayer` is one of them. */
  readonly feePayers: ReadonlyArray<string>
  /** Nodes, asked in this order. */
  readonly rpcUrls: ReadonlyArray<string>
  /** For one call to one node. */
  readonly rpcDeadlineMs?: number
  readonly rpcConnectionsMax?: number
  readonly limits?: Partial<FeeLimits>
  readonly settle?: Partial<SettleOptions>
  /** A facilitator pays the fee, signs and sends, so the transactions' names are not ours. */
  readonly isRemote?: boolean
}

/**
 * Fees: a payment costs us 5,000 lamports for each of two signatures and at most 200,000 units at 0.05 lamports,
 * 10,000 more. A transfer with a memo uses about 15,000 units, wallets' assertions tens of thousands; x402 clients
 * offer 1 to 70 micro-lamports, wallets more. Settling: a block comes every 0.4 s and most transactions are confirmed
 * within three.
 */
export const svmDefaults = {
  rpcDeadlineMs: 5_000,
  rpcConnectionsMax: 16,
  limits: { priorityFeeMax: 50_000, computeUnitsMax: 200_000, requiredSignaturesMax: 2 } satisfies FeeLimits,
  settle: { deadlineMs: 30_000, pollMs: 250, resendMs: 2_000 } satisfies SettleOptions
}

const lamportsPerSignature = 5_000
const microLamportsPerLamport = 1_000_000
/** What an account without data must keep to exist. */
const rentLamports = 890_880n

const transfersFor = (balance: bigint, { priorityFeeMax, computeUnitsMax, requiredSignaturesMax }: FeeLimits) => {
  const priorityFee = Math.ceil((priorityFeeMax * computeUnitsMax) / microLamportsPerLamport)
  const left = balance - rentLamports
  return left < 0n ? 0n : left / BigInt(requiredSignaturesMax * lamportsPerSignature + priorityFee)
}

export const openSvmScheme = Effect.fn("openSvmScheme")(function* (
  options: SvmOptions
): Effect.fn.Return<SvmScheme, never, ConfiguredHttp | Metrics | Scope.Scope> {
  const { network, asset, payTo, feePayers } = options
  const limits = { ...svmDefaults.limits, ...options.limits }
  const settle = { ...svmDefaults.settle, ...options.settle }
  const { call, reach } = yield* openJsonRpc({
    network,
    urls: options.rpcUrls,
    deadlineMs: options.rpcDeadlineMs ?? svmDefaults.rpcDeadlineMs,
    connectionsMax: options.rpcConnectionsMax ?? svmDefaults.rpcConnectionsMax
  })
  const rpc = solanaNode(call)
  const account = associatedTokenAccount(payTo, tokenProgram, asset) ?? payTo
  const check: SvmScheme["check"] = (payload, requirements, nowMs) =>
    checkPayment({ network, feePayers, limits }, payload, requirements, nowMs)
  return {
    network,
    reach: reach("getSlot"),
    probe: ({ decimals }) => probeMint(rpc, { mint: asset, tokenProgram, decimals }),
    check,
    charging: chargingExactly,
    // No call to the chain before sending.
    checkAgain: check,
    simulate: (checked) => simulatePayment(rpc, checked),
    funds: (checked) => fundsOf(rpc, checked),
    // The node simulates it before forwarding it.
    recheck: () => Effect.void,
    prepare: (checked, lease) => prepareSettlement(checked, lease),
    broadcast: (prepared, checked) => broadcastSettlement(rpc, settle, prepared, checked),
    look: (checked, transaction) =>
      options.isRemote === true ? lookForPayment(rpc, checked, transaction) : lookAtPayment(rpc, checked, transaction),
    feeBalance: (address) => rpc.balance(address),
    transfersLeft: (address) => Effect.map(rpc.balance(address), (balance) => transfersFor(balance, limits)),
    transfers: (from) => transfersFrom(rpc, { network, asset, payTo, account, pageSize: 1_000 }, from)
  }
})

/** A blockhash is valid for about 60 s; clients may use one that is half that old. */
const surelyCollectableMs = 30_000

export const solanaFamily: SchemeFamily = {
  open: ({ Network, Asset, PayTo, RpcUrls, FeePayer, FacilitatorUrl }) =>
    Effect.map(
      openSvmScheme({
        network: Network,
        asset: Asset,
        payTo: PayTo,
        rpcUrls: RpcUrls,
        feePayers: FeePayer === undefined ? [] : [FeePayer],
        isRemote: FacilitatorUrl !== undefined
      }),
      (exact) => ({ chain: exact, schemes: { exact }, account: null })
    ),
  readKey: readSettlerKey,
  quoteExtra: ({ FeePayer }): Readonly<Record<string, string>> =>
    FeePayer === undefined ? {} : { feePayer: FeePayer },
  // Its key is a hash of the decoded message, and its blockhash reveals no time.
  statedTerms: () => undefined,
  // Its latest end is counted from the check.
  collectMarginMs: blockhashLifeMsMax - surelyCollectableMs
}

interface MintTerms {
  readonly mint: string
  readonly tokenProgram: string
  readonly decimals: number
}

/** Checks that the mint belongs to the token program by which payments are read, and has the decimals of our prices. */
const probeMint = Effect.fn("Svm.probe")(function* (
  rpc: SolanaNode,
  terms: MintTerms
): Effect.fn.Return<void, ChainMismatch | ChainUnavailable> {
  const detail = mintFault(terms, yield* rpc.account(terms.mint))
  if (detail !== undefined) return yield* new ChainMismatch({ detail })
})

// Authority, supply, decimals, whether it is set up; then the freezing authority. Token-2022 appends more.
const mintBytes = 82
const decimalsAt = 44
const initializedAt = 45

/** The mint's fault in words; undefined if there is none. Pure. */
export const mintFault = (
  { mint, tokenProgram, decimals }: MintTerms,
  account: { readonly owner: string; readonly data: Uint8Array } | null
): string | undefined => {
  if (account === null) return `there is no mint ${mint} on it`
  const { owner, data } = account
  if (owner !== tokenProgram) return `the mint ${mint} belongs to the program ${owner} instead of ${tokenProgram}`
  // A token account is longer, and belongs to the same program.
  if (data.length !== mintBytes || data[initializedAt] !== 1) return `${mint} is no mint`
  const actual = data[decimalsAt]
  return actual === decimals ? undefined : `the mint ${mint} is configured with ${decimals} decimals, and has ${actual}`
}
