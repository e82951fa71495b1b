/** How one chain of this family is named and spoken to: its nodes, the token that is taken, fees and finality. */
import type { JsonRpcOptions } from "../json-rpc.ts"

/** When a block counts as final: what the node itself says, or a number of blocks on top of it. */
export type Finality = "safe" | "finalized" | { readonly confirmations: number }

export interface EvmSettings {
  /** CAIP-2, `eip155:8453`. */
  readonly network: string
  /** Asked in this order. */
  readonly rpcUrls: JsonRpcOptions["urls"]
  /** The token and the account whose transfers are read for the reconciliation. */
  readonly asset: string
  readonly payTo: string
  /** For one question to one node. */
  readonly rpcDeadlineMs: number
  readonly connectionsMax: number
  /** An authorization that ends sooner is refused: it must still reach a block. */
  readonly marginSeconds: number
  /** Fixed; null asks the node for every transaction. Unused gas is not paid for. */
  readonly gas: bigint | null
  /** An estimate above it is not signed: a token that needs more is not the one we know. */
  readonly gasMax: bigint
  /** The most that is ever offered for a unit of gas, tip and all. */
  readonly feeWeiMax: bigint
  /** How long a receipt is waited for. */
  readonly receiptDeadlineMs: number
  /** Between two sendings: nodes drop what they have taken in, or pass it over, and nobody says so. */
  readonly resendMs: number
  readonly finality: Finality
  /** Blocks in one question for logs; nodes refuse more. */
  readonly logBlocksMax: bigint
  /** Questions for logs in one search. */
  readonly logPagesMax: number
}

export const evmDefaults = {
  rpcDeadlineMs: 5_000,
  connectionsMax: 64,
  marginSeconds: 6,
  // A transfer with authorization of the dollar token uses some 65,000 to 90,000.
  gas: 150_000n,
  gasMax: 400_000n,
  // 50 gwei: far above what the chains that we settle on ask for, and still cents.
  feeWeiMax: 50_000_000_000n,
  receiptDeadlineMs: 20_000,
  // A block and a half of the chains that we settle on, and before a place that nothing was sent for is filled.
  resendMs: 3_000,
  finality: "finalized",
  logBlocksMax: 2_000n,
  logPagesMax: 50
} as const satisfies Partial<EvmSettings>

const pattern = /^eip155:([1-9][0-9]{0,15})$/u

/** Nothing for a name of another family. */
export const chainIdOf = (network: string): bigint | undefined => {
  const digits = pattern.exec(network)?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

/** The name of a chain of this family (CAIP-2, `eip155:8453`) and the number in it. Pure. */
export const networkOf = (chainId: bigint | number): string => `eip155:${chainId}`
