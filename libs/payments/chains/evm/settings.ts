/** The settings of one chain of this family: its name, its nodes, the token that is accepted, fees and times. */
import type { JsonRpcOptions } from "../json-rpc.ts"

export interface EvmSettings {
  /** CAIP-2, `eip155:8453`. */
  readonly network: string
  /** Asked in this order. */
  readonly rpcUrls: JsonRpcOptions["urls"]
  /** The token, and the account whose transfers the reconciliation reads. */
  readonly asset: string
  readonly payTo: string
  /** The accounts that payers of `upto` can name as the only ones that may settle. */
  readonly facilitators: ReadonlyArray<string>
  /** Contracts that may be called to deploy a payer's wallet. */
  readonly walletFactories: ReadonlyArray<string>
  /** For one question to one node. */
  readonly rpcDeadlineMs: number
  readonly connectionsMax: number
  /** An authorization that ends sooner is refused: it must still reach a block. */
  readonly marginSeconds: number
  /** The maximum ever offered for a unit of gas, including the tip. */
  readonly feeWeiMax: bigint
  /** How long to wait for a receipt. */
  readonly receiptDeadlineMs: number
  /** The time between two sends: nodes silently drop or skip transactions they have accepted. */
  readonly resendMs: number
  /** Blocks in one question for logs; nodes refuse more. */
  readonly logBlocksMax: bigint
  /** Questions for logs in one search. */
  readonly logPagesMax: number
}

export const evmDefaults = {
  facilitators: [],
  walletFactories: [],
  rpcDeadlineMs: 5_000,
  connectionsMax: 64,
  marginSeconds: 6,
  // 50 gwei: far above the prices of the chains that we settle on, and still only cents.
  feeWeiMax: 50_000_000_000n,
  receiptDeadlineMs: 20_000,
  // A block and a half of the chains that we settle on, and shorter than the wait before a gap is filled.
  resendMs: 3_000,
  logBlocksMax: 2_000n,
  logPagesMax: 50
} as const satisfies Partial<EvmSettings>

const pattern = /^eip155:([1-9][0-9]{0,15})$/u

/** The number in a chain's name. Throws for a name outside this family. */
export const chainIdOf = (network: string): bigint => {
  const digits = pattern.exec(network)?.[1]
  if (digits === undefined) throw new RangeError(`${network} is no network of the form eip155:<chain id>`)
  return BigInt(digits)
}
