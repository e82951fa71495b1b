/**
 * The payer's side: makes and signs the transaction that pays a quote, leaving the fee payer's slot empty. Our own
 * command uses it; any x402 client makes the same. It makes no call to the chain: the blockhash is an argument. Pure.
 */
import { type Address, type Blockhash, getCompiledTransactionMessageEncoder } from "@solana/kit"
import { Result } from "effect"
import type { ExactSvmPayload, PaymentRequirements } from "#payments/contract"
import { decodeAddress, encodeBase58, publicKeyOf, signMessage } from "./keys.ts"
import {
  computeBudgetProgram,
  memoProgram,
  setComputeUnitLimit,
  setComputeUnitPrice,
  tokenProgram,
  transferChecked,
  associatedTokenAccount
} from "./instructions.ts"

interface TransferToSign {
  readonly requirements: PaymentRequirements
  /** 32 bytes: the first half of a secret key. */
  readonly seed: Uint8Array
  /** Base58, recent. */
  readonly blockhash: string
  /** The mint's decimals. */
  readonly decimals: number
  /** Makes two equal payments differ, unless the quote asks for a memo of its own. At most 256 bytes. */
  readonly memo: string
}

// A transfer and a memo take about 15,000 units; the price is the lowest above zero.
const computeUnits = 20_000
const microLamports = 1n

/** The payload, or the reason why there is none: the quote names no fee payer, or an address is invalid. */
export const signTransfer = (order: TransferToSign): Result.Result<ExactSvmPayload, string> => {
  const { requirements, seed } = order
  const payer = encodeBase58(publicKeyOf(seed))
  const { asset, extra, payTo } = requirements
  const source = associatedTokenAccount(payer, tokenProgram, asset)
  const destination = associatedTokenAccount(payTo, tokenProgram, asset)
  const feePayer = extra?.["feePayer"]
  if (typeof feePayer !== "string") return Result.fail("the quote names no fee payer")
  if (source === undefined || destination === undefined) return Result.fail("the asset or the receiver is no address")
  // Fee payer and payer sign; source and destination change; the rest are only read.
  const accounts = [feePayer, payer, source, destination, asset, computeBudgetProgram, tokenProgram, memoProgram]
  const message = compile(order, accounts)
  if (message === undefined) return Result.fail("the fee payer or the blockhash is no address")
  const wire = Buffer.concat([Uint8Array.of(2), new Uint8Array(64), signMessage(seed, message), message])
  return Result.succeed({ transaction: wire.toString("base64") })
}

const compile = (order: TransferToSign, accounts: ReadonlyArray<string>): Uint8Array | undefined => {
  if ([...accounts, order.blockhash].map(decodeAddress).includes(undefined)) return undefined
  const wanted = order.requirements.extra?.["memo"]
  const memo = new TextEncoder().encode(typeof wanted === "string" && wanted !== "" ? wanted : order.memo)
  const limit = Buffer.alloc(5, setComputeUnitLimit)
  limit.writeUInt32LE(computeUnits, 1)
  const price = Buffer.alloc(9, setComputeUnitPrice)
  price.writeBigUInt64LE(microLamports, 1)
  const transfer = Buffer.alloc(10, transferChecked)
  transfer.writeBigUInt64LE(BigInt(order.requirements.amount), 1)
  transfer[9] = order.decimals
  const bytes = encoder.encode({
    version: 0,
    header: { numSignerAccounts: 2, numReadonlySignerAccounts: 1, numReadonlyNonSignerAccounts: 4 },
    staticAccounts: accounts.map((account) => account as Address),
    lifetimeToken: order.blockhash as Blockhash,
    instructions: [
      { programAddressIndex: 5, data: limit },
      { programAddressIndex: 5, data: price },
      { programAddressIndex: 6, accountIndices: [2, 4, 3, 1], data: transfer },
      { programAddressIndex: 7, data: memo.subarray(0, 256) }
    ]
  })
  return new Uint8Array(bytes)
}

const encoder = getCompiledTransactionMessageEncoder()
