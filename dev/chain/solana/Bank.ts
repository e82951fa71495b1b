/**
 * The accounts and transactions of the local chain: LiteSVM, with a validator's rules around it. A message runs once,
 * whatever its signatures; a blockhash expires; a transaction that fails without a simulation before stays in the
 * history. The history is bounded: the oldest entries go.
 */
import { createHash, createPublicKey, verify } from "node:crypto"
import {
  address,
  type EncodedAccount,
  getAddressEncoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction
} from "@solana/kit"
import { FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from "litesvm"
import { Blockhashes, type BlockhashOptions } from "./Blockhashes.ts"
import { errorJson } from "./error-json.ts"
import { readDecimals, readTokenAccount, tokenAmountJson } from "./token-state.ts"

export interface Landed {
  readonly signature: string
  readonly wire: Uint8Array
  readonly accounts: ReadonlyArray<string>
  readonly version: "legacy" | number
  readonly slot: number
  readonly blockTimeSeconds: number
  readonly err: unknown
  readonly logs: ReadonlyArray<string>
  readonly computeUnits: number
  readonly fee: number
  readonly lamports: readonly [ReadonlyArray<bigint>, ReadonlyArray<bigint>]
  readonly tokens: readonly [ReadonlyArray<unknown>, ReadonlyArray<unknown>]
}

export interface Tried {
  readonly err: unknown
  readonly logs: ReadonlyArray<string>
  readonly computeUnits: number
}

/** A transaction that can be read. */
export interface Incoming {
  readonly wire: Uint8Array
  readonly transaction: Transaction
  readonly accounts: ReadonlyArray<string>
  readonly requiredSignatures: number
  readonly blockhash: string
  readonly version: "legacy" | number
  readonly messageHash: string
  readonly signature: string
}

const feePerSignature = 5_000
const wireBytesMax = 1_232
const spkiHead = Buffer.from("302a300506032b6570032100", "hex")

interface BankOptions extends BlockhashOptions {
  /** The number of transactions kept: more than a minute brings, which is how long one could be repeated. */
  readonly historyMax: number
}

export class Bank {
  readonly svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n)
  readonly blockhashes: Blockhashes
  /** Oldest first. */
  readonly history = new Map<string, Landed>()
  readonly #messages = new Set<string>()
  readonly #historyMax: number

  constructor(options: BankOptions) {
    this.#historyMax = options.historyMax
    this.blockhashes = new Blockhashes(options)
  }

  /** Null for bytes that no node could read. */
  read(wire: Uint8Array): Incoming | null {
    if (wire.length > wireBytesMax) return null
    try {
      const transaction = getTransactionDecoder().decode(wire)
      const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)
      const signatures = Object.values(transaction.signatures)
      const accounts = message.staticAccounts.map(String)
      return {
        wire,
        transaction,
        accounts,
        requiredSignatures: message.header.numSignerAccounts,
        blockhash: "lifetimeToken" in message ? String(message.lifetimeToken) : "",
        version: message.version,
        messageHash: createHash("sha256").update(Uint8Array.from(transaction.messageBytes)).digest("hex"),
        signature: getBase58Decoder().decode(signatures[0] ?? new Uint8Array(64))
      }
    } catch {
      return null
    }
  }

  areSignaturesGood({ transaction, accounts, requiredSignatures }: Incoming): boolean {
    const message = Uint8Array.from(transaction.messageBytes)
    return accounts.slice(0, requiredSignatures).every((signer) => {
      const signature = transaction.signatures[address(signer)]
      if (signature === undefined || signature === null) return false
      const spki = Buffer.concat([spkiHead, Uint8Array.from(getAddressEncoder().encode(address(signer)))])
      return verify(null, message, createPublicKey({ key: spki, format: "der", type: "spki" }), signature)
    })
  }

  /** Checks age and repetition, which LiteSVM does not. Null: it may run. */
  admissionError({ blockhash, messageHash }: Incoming): string | null {
    if (!this.blockhashes.isValid(blockhash)) return "BlockhashNotFound"
    return this.#messages.has(messageHash) ? "AlreadyProcessed" : null
  }

  /** Runs it without keeping anything. The fee payer's signature may be missing. */
  simulate({ transaction }: Incoming): Tried {
    this.svm.withSigverify(false)
    try {
      const result = this.svm.simulateTransaction(transaction)
      return tried(result)
    } catch (error) {
      return { err: "SanitizeFailure", logs: [String(error)], computeUnits: 0 }
    } finally {
      this.svm.withSigverify(true)
    }
  }

  /** Runs it for good. Repetitions are for `admissionError` to refuse. */
  land(incoming: Incoming): Landed | null {
    const { accounts, transaction, signature, wire, version } = incoming
    const before = this.#balances(accounts)
    const outcome = this.#run(transaction)
    if (outcome === null) return null
    const after = this.#balances(accounts)
    const landed: Landed = {
      ...outcome,
      signature,
      wire,
      accounts,
      version,
      slot: this.blockhashes.slot("processed"),
      blockTimeSeconds: Math.floor((performance.timeOrigin + performance.now()) / 1_000),
      fee: feePerSignature * incoming.requiredSignatures,
      lamports: [before.lamports, after.lamports],
      tokens: [before.tokens, after.tokens]
    }
    this.#messages.add(incoming.messageHash)
    this.history.set(signature, landed)
    this.#forget()
    return landed
  }

  account(at: string): EncodedAccount | null {
    const found = this.svm.getAccount(address(at))
    return found.exists ? found : null
  }

  decimals(mint: string): number {
    const account = this.account(mint)
    return (account === null ? undefined : readDecimals(account)) ?? 0
  }

  #run(transaction: Transaction): Tried | null {
    try {
      return tried(this.svm.sendTransaction(transaction))
    } catch {
      return null
    }
  }

  #balances(accounts: ReadonlyArray<string>) {
    const states = accounts.map((one) => this.account(one))
    const tokens = states.flatMap((state, accountIndex) => {
      const token = state === null ? undefined : readTokenAccount(state)
      if (state === null || token === undefined) return []
      const uiTokenAmount = tokenAmountJson(token.amount, this.decimals(token.mint))
      return [{ accountIndex, mint: token.mint, owner: token.owner, programId: state.programAddress, uiTokenAmount }]
    })
    return { lamports: states.map((state) => state?.lamports ?? 0n), tokens }
  }

  #forget(): void {
    for (const signature of this.history.keys()) {
      if (this.history.size <= this.#historyMax) break
      this.history.delete(signature)
    }
    for (const hash of this.#messages) {
      if (this.#messages.size <= this.#historyMax) break
      this.#messages.delete(hash)
    }
  }
}

interface Metadata {
  readonly meta: () => TransactionMetadata
}

const tried = (result: TransactionMetadata | FailedTransactionMetadata | Metadata): Tried => {
  const meta = "meta" in result ? result.meta() : result
  return {
    err: result instanceof FailedTransactionMetadata ? errorJson(result.err()) : null,
    logs: meta.logs(),
    computeUnits: Number(meta.computeUnitsConsumed())
  }
}
