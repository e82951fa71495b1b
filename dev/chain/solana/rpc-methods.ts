/**
 * The methods of a Solana node that clients, facilitators and we call, answered from the bank. Commitments matter only
 * for finality; `confirmed` and `processed` are the same here, for no block is ever undone.
 */
import { getBase58Encoder, getCompiledTransactionMessageDecoder } from "@solana/kit"
import type { Bank, Incoming, Landed, Tried } from "./Bank.ts"
import {
  accountJson,
  addressParam,
  invalidParams,
  RpcFault,
  type Settings,
  statusJson,
  transactionJson
} from "./rpc-shapes.ts"
import type { Switches } from "./Switches.ts"
import { readTokenAccount, token2022Program, tokenAmountJson, tokenProgram } from "./token-state.ts"

export type RpcMethod = (...params: ReadonlyArray<unknown>) => unknown

/** The first 32 characters are the network's name in CAIP-2. */
const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
const slotsInEpoch = 432_000
const listMax = 1_000

export const rpcMethods = (bank: Bank, switches: Switches): Readonly<Record<string, RpcMethod>> => ({
  ...accountMethods(bank),
  ...timeMethods(bank),
  ...historyMethods(bank, switches),
  ...runMethods(bank, switches),
  getGenesisHash: () => genesisHash,
  getHealth: () => "ok",
  getVersion: () => ({ "solana-core": "4.0.0", "feature-set": 0 }),
  getRecentPrioritizationFees: () => []
})

const settingsOf = (value: unknown): Settings =>
  typeof value === "object" && value !== null ? (value as Settings) : {}

const within = (bank: Bank, value: unknown, commitment?: unknown) => ({
  context: { apiVersion: "4.0.0", slot: bank.blockhashes.slot(commitmentOf(commitment)) },
  value
})

const commitmentOf = (value: unknown) => (typeof value === "string" ? value : "finalized")

const accountMethods = (bank: Bank): Record<string, RpcMethod> => {
  const info = (at: unknown, settings: Settings) => {
    const account = bank.account(addressParam(at))
    return account === null ? null : accountJson(bank, account, settings)
  }
  return {
    getAccountInfo: (at, options) => within(bank, info(at, settingsOf(options))),
    getMultipleAccounts: (all, options) => {
      if (!Array.isArray(all) || all.length > 100) throw invalidParams("Too many inputs provided; max 100")
      return within(
        bank,
        all.map((at) => info(at, settingsOf(options)))
      )
    },
    getBalance: (at) => within(bank, bank.account(addressParam(at))?.lamports ?? 0n),
    getMinimumBalanceForRentExemption: (bytes) => bank.svm.minimumBalanceForRentExemption(BigInt(Number(bytes))),
    getTokenAccountBalance: (at) => {
      const account = bank.account(addressParam(at))
      const token = account === null ? undefined : readTokenAccount(account)
      if (token === undefined) throw invalidParams("Invalid param: could not find account")
      return within(bank, tokenAmountJson(token.amount, bank.decimals(token.mint)))
    },
    getTokenAccountsByOwner: (owner, filter, options) => {
      const { mint, programId } = settingsOf(filter)
      const programs = programId === undefined ? [tokenProgram, token2022Program] : [addressParam(programId)]
      const accounts = programs.flatMap((program) => bank.svm.getProgramAccounts(program))
      const owned = accounts.filter((account) => {
        const token = readTokenAccount(account)
        return token?.owner === owner && (mint === undefined || token?.mint === mint)
      })
      const value = owned.slice(0, listMax).map((account) => ({
        pubkey: account.address,
        account: accountJson(bank, account, settingsOf(options))
      }))
      return within(bank, value)
    }
  }
}

const timeMethods = (bank: Bank): Record<string, RpcMethod> => {
  const slotAt = (options: unknown) => bank.blockhashes.slot(commitmentOf(settingsOf(options)["commitment"]))
  return {
    getSlot: slotAt,
    getBlockHeight: slotAt,
    getEpochInfo: (options) => {
      const absoluteSlot = slotAt(options)
      return {
        absoluteSlot,
        blockHeight: absoluteSlot,
        epoch: Math.floor(absoluteSlot / slotsInEpoch),
        slotIndex: absoluteSlot % slotsInEpoch,
        slotsInEpoch,
        transactionCount: bank.history.size
      }
    },
    getLatestBlockhash: () => within(bank, bank.blockhashes.latest(), "confirmed"),
    isBlockhashValid: (blockhash, options) => {
      const commitment = commitmentOf(settingsOf(options)["commitment"])
      return within(bank, bank.blockhashes.isValid(String(blockhash), commitment), commitment)
    },
    getFeeForMessage: (message) => {
      const bytes = Buffer.from(String(message), "base64")
      const { header } = getCompiledTransactionMessageDecoder().decode(bytes)
      return within(bank, 5_000 * header.numSignerAccounts)
    }
  }
}

const historyMethods = (bank: Bank, switches: Switches): Record<string, RpcMethod> => ({
  getSignatureStatuses: (signatures) => {
    if (!Array.isArray(signatures) || signatures.length > 256) throw invalidParams("Too many inputs provided; max 256")
    const value = signatures.map((signature) => {
      const landed = switches.hidesStatuses ? undefined : bank.history.get(String(signature))
      return landed === undefined ? null : statusJson(bank, landed)
    })
    return within(bank, value, "confirmed")
  },
  getTransaction: (signature, options) => {
    const settings = settingsOf(options)
    const landed = bank.history.get(String(signature))
    if (landed === undefined || !isVisible(bank, landed, settings)) return null
    return transactionJson(landed, settings["encoding"])
  },
  getSignaturesForAddress: (at, options) => {
    const settings = settingsOf(options)
    const account = addressParam(at)
    const newestFirst = [...bank.history.values()]
      .filter((landed) => landed.accounts.includes(account) && isVisible(bank, landed, settings))
      .toReversed()
    const indexOf = (signature: unknown) => newestFirst.findIndex((landed) => landed.signature === signature)
    const start = settings["before"] === undefined ? 0 : indexOf(settings["before"]) + 1
    const until = settings["until"] === undefined ? -1 : indexOf(settings["until"])
    const end = until < 0 ? newestFirst.length : until
    const limit = Math.min(listMax, Number(settings["limit"] ?? listMax))
    return newestFirst.slice(start, Math.min(end, start + limit)).map((landed) => ({
      signature: landed.signature,
      slot: landed.slot,
      err: landed.err,
      memo: null,
      blockTime: landed.blockTimeSeconds,
      confirmationStatus: statusJson(bank, landed).confirmationStatus
    }))
  }
})

const isVisible = (bank: Bank, landed: Landed, settings: Settings) =>
  landed.slot <= bank.blockhashes.slot(commitmentOf(settings["commitment"]))

const runMethods = (bank: Bank, switches: Switches): Record<string, RpcMethod> => ({
  simulateTransaction: (wire, options) => {
    const settings = settingsOf(options)
    const incoming = incomingOf(bank, wire, settings)
    if (settings["sigVerify"] === true && !bank.areSignaturesGood(incoming)) throw signatureFault()
    const isReplaced = settings["replaceRecentBlockhash"] === true
    const { err, logs, computeUnits } = rehearse(bank, incoming, isReplaced)
    return within(bank, {
      err,
      logs,
      accounts: null,
      unitsConsumed: computeUnits,
      returnData: null,
      innerInstructions: settings["innerInstructions"] === true ? [] : null,
      ...(isReplaced ? { replacementBlockhash: bank.blockhashes.latest() } : {})
    })
  },
  sendTransaction: (wire, options) => {
    const settings = settingsOf(options)
    const incoming = incomingOf(bank, wire, settings)
    if (!bank.areSignaturesGood(incoming)) throw signatureFault()
    if (settings["skipPreflight"] !== true) {
      const { err, logs, computeUnits } = rehearse(bank, incoming, false)
      if (err !== null) {
        const data = { err, logs, accounts: null, unitsConsumed: computeUnits, returnData: null }
        throw new RpcFault(-32_002, `Transaction simulation failed: ${JSON.stringify(err)}`, data)
      }
    }
    // Without a simulation a node passes anything on, and nothing more is heard of a transaction that no leader
    // accepts.
    if (switches.loses() || bank.admissionError(incoming) !== null) return incoming.signature
    bank.land(incoming)
    return incoming.signature
  }
})

const rehearse = (bank: Bank, incoming: Incoming, isReplaced: boolean): Tried => {
  const refusal = bank.admissionError(incoming)
  const isRefused = refusal !== null && !(isReplaced && refusal === "BlockhashNotFound")
  return isRefused ? { err: refusal, logs: [], computeUnits: 0 } : bank.simulate(incoming)
}

const incomingOf = (bank: Bank, wire: unknown, settings: Settings): Incoming => {
  const text = String(wire)
  // Nodes expect Base58 by default.
  const bytes =
    settings["encoding"] === "base64"
      ? Buffer.from(text, "base64")
      : Uint8Array.from(getBase58Encoder().encode(text.slice(0, 2_000)))
  const incoming = bank.read(bytes)
  if (incoming === null)
    throw invalidParams("failed to deserialize solana_transaction::versioned::VersionedTransaction")
  return incoming
}

const signatureFault = () => new RpcFault(-32_003, "Transaction signature verification failure")
