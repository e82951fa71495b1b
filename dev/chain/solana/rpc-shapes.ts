/** Answers in the shapes of Solana's JSON-RPC, for accounts and transactions. */
import {
  address,
  type EncodedAccount,
  getBase58Decoder,
  getBase64Decoder,
  getCompiledTransactionMessageDecoder
} from "@solana/kit"
import type { Bank, Landed } from "./Bank.ts"
import { parsedJson } from "./token-state.ts"

/** As a validator says it: the largest number of 64 bits. */
const exemptFromRent = 2n ** 64n - 1n

export type Settings = Readonly<Record<string, unknown>>

/** A fault that the caller gets as a JSON-RPC error. */
export class RpcFault extends Error {
  readonly code: number
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const invalidParams = (message: string) => new RpcFault(-32_602, message)

export const accountJson = (bank: Bank, account: EncodedAccount, settings: Settings) => {
  const { executable, lamports, programAddress, data } = account
  const common = {
    executable,
    lamports,
    owner: programAddress,
    rentEpoch: exemptFromRent,
    space: data.length
  }
  const parsed = settings["encoding"] === "jsonParsed" ? parsedJson(account, (mint) => bank.decimals(mint)) : undefined
  if (parsed !== undefined) return { ...common, data: parsed }
  const bytes = sliced(Uint8Array.from(data), settings["dataSlice"])
  if (settings["encoding"] === "base58") return { ...common, data: [getBase58Decoder().decode(bytes), "base58"] }
  return { ...common, data: [getBase64Decoder().decode(bytes), "base64"] }
}

const sliced = (bytes: Uint8Array, slice: unknown) => {
  if (typeof slice !== "object" || slice === null) return bytes
  const { offset, length } = slice as { readonly offset?: unknown; readonly length?: unknown }
  return bytes.subarray(Number(offset), Number(offset) + Number(length))
}

export const statusJson = (bank: Bank, landed: Landed) => {
  const isFinal = landed.slot <= bank.blockhashes.slot("finalized")
  return {
    slot: landed.slot,
    confirmations: isFinal ? null : 1,
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    confirmationStatus: isFinal ? "finalized" : "confirmed"
  }
}

export const transactionJson = (landed: Landed, encoding: unknown) => ({
  slot: landed.slot,
  blockTime: landed.blockTimeSeconds,
  version: landed.version,
  transaction:
    encoding === "base64" || encoding === "base58"
      ? [encoding === "base64" ? base64(landed.wire) : getBase58Decoder().decode(landed.wire), encoding]
      : messageJson(landed),
  meta: {
    err: landed.err,
    status: landed.err === null ? { Ok: null } : { Err: landed.err },
    fee: landed.fee,
    preBalances: landed.lamports[0],
    postBalances: landed.lamports[1],
    preTokenBalances: landed.tokens[0],
    postTokenBalances: landed.tokens[1],
    innerInstructions: [],
    logMessages: landed.logs,
    computeUnitsConsumed: landed.computeUnits,
    loadedAddresses: { writable: [], readonly: [] },
    rewards: []
  }
})

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")

const messageJson = (landed: Landed) => {
  const count = landed.wire[0] ?? 0
  const message = getCompiledTransactionMessageDecoder().decode(landed.wire.subarray(1 + 64 * count))
  const signatures = Array.from({ length: count }, (_, index) =>
    getBase58Decoder().decode(landed.wire.subarray(1 + 64 * index, 65 + 64 * index))
  )
  const { numReadonlyNonSignerAccounts, numReadonlySignerAccounts, numSignerAccounts } = message.header
  const instructions = "instructions" in message ? message.instructions : []
  return {
    signatures,
    message: {
      accountKeys: landed.accounts,
      header: {
        numRequiredSignatures: numSignerAccounts,
        numReadonlySignedAccounts: numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: numReadonlyNonSignerAccounts
      },
      recentBlockhash: "lifetimeToken" in message ? message.lifetimeToken : "",
      instructions: instructions.map(({ programAddressIndex, accountIndices, data }) => ({
        programIdIndex: programAddressIndex,
        accounts: accountIndices ?? [],
        data: getBase58Decoder().decode(data ?? new Uint8Array(0)),
        stackHeight: 1
      }))
    }
  }
}

/** An address; otherwise the caller's fault. */
export const addressParam = (value: unknown) => {
  try {
    return address(String(value))
  } catch {
    throw invalidParams(`Invalid param: ${String(value).slice(0, 64)} is no address`)
  }
}
