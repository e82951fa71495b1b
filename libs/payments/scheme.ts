/**
 * The port of a payment scheme on one chain: check without calling out, ask the chain, sign, send, look. A folder per
 * kind of chain implements it, for each way to pay there. A chain that cannot be asked is `ChainUnavailable` and never a refusal; only a refusal
 * may cost a payer anything. Methods, not properties, so that a scheme may narrow `CheckedPayment` to its own: a
 * checked payment is only ever given back to the scheme that made it.
 */
import { type Effect, type Redacted, Result, type Stream } from "effect"
import type { PaymentPayload, PaymentRequirements, PaymentSchemeName } from "#payments/contract"
import {
  type ChainMismatch,
  type ChainUnavailable,
  PaymentRefused,
  reason,
  type SettlementPending,
  type SettlementRefused
} from "./errors.ts"

/** A payment whose signature, fields and window are good; whether the chain will accept it is not yet known. */
export interface CheckedPayment {
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  /** What was signed, in the asset's smallest unit; the most that can be transferred. */
  readonly amount: bigint
  /** What is transferred: the amount, or less of it where `charging` allows. */
  readonly charge: bigint
  /** The only settler that can send it, where the payer has signed one; in one case. */
  readonly facilitator?: string
  /** Only the chain can tell whether the payer signed it: nothing is claimed before it has. */
  readonly isUnproven?: true
  /** Made by `claimKeyOf`. */
  readonly claimKey: string
  /** When the chain stops taking it, epoch milliseconds. */
  readonly validBeforeMs: number
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
}

/**
 * The port of a signer: an account that sends settling transactions and pays their fees, wherever its key is. A
 * signature that cannot be had now is `ChainUnavailable`: nothing was sent, and it is asked for again later.
 */
export interface SettlerKey {
  readonly network: string
  readonly address: string
  /** On EVM chains 65 bytes r, s, v over the Keccak hash of the message; on Solana 64 bytes of Ed25519 over the message. */
  readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array, ChainUnavailable>
  /** Whether it could not sign lately: other keys go first. Absent where the key is in this process. */
  readonly isAway?: () => boolean
}

/** A key that is in this process. */
export interface LocalKey extends SettlerKey {
  readonly secret: Redacted.Redacted<Uint8Array>
}

/** A settler's key for one transaction. `nonce` is the account's next; null where the chain has none. */
export interface SettlerLease {
  readonly key: SettlerKey
  readonly nonce: number | null
}

/** A signed transaction whose name is known before anything is sent. */
export interface PreparedSettlement {
  /** Hash or signature, as the chain writes it; null only when a remote facilitator signs. */
  readonly transaction: string | null
  readonly raw: Uint8Array
}

/** The chain has made the required transfer. */
export interface Settlement {
  readonly transaction: string
}

/** A payer's balance of the asset on the chain, and which payments have already left it. */
export interface Funds {
  readonly balance: bigint
  /** The named claims whose payments are used up as of this balance. Null where no node tells. */
  readonly spent: ReadonlySet<string> | null
}

/** The chain's answer about a payment. */
export type ChainStanding =
  /** The required transfer was made, by us or by anybody who submitted it. */
  | { readonly _tag: "Settled"; readonly transaction: string }
  /** Still collectable: unused, and its time is not over. */
  | { readonly _tag: "Unused" }
  /** Used up without the required transfer: cancelled, or spent elsewhere. It can never be collected. */
  | { readonly _tag: "Spent"; readonly transaction: string | null }
  /** Its time is over and final on the chain: it can never be collected. */
  | { readonly _tag: "Expired" }
  /** Not decided: a transaction is on its way, or the end is not final. Ask again. */
  | { readonly _tag: "Undecided"; readonly detail: string }

/** The configured facts of a token beside its address. Name and version are signed on EVM chains only. */
export interface TokenTerms {
  readonly name: string
  readonly version: string
  readonly decimals: number
}

/** How far the chain was read, in the scheme's own text; it is stored and given back. */
export type ChainPosition = string

/** One transfer of the asset to `payTo`. */
export interface ChainTransfer {
  readonly transaction: string
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  readonly amount: bigint
  /** The authorization's nonce, where the chain gives it. */
  readonly nonce: string | null
  readonly position: ChainPosition
}

/** What is the same for all ways to pay on one chain. */
export interface PaymentChain {
  /** The chain, by CAIP-2. */
  readonly network: string
  /** Fails with the mismatch between the nodes' chain, the token, and the token's configuration. */
  probe(token: TokenTerms): Effect.Effect<void, ChainMismatch | ChainUnavailable>
  /** The chain's own coin that an account holds for fees, in its smallest unit. */
  feeBalance(address: string): Effect.Effect<bigint, ChainUnavailable>
  /** The transfers to `payTo` after a position, oldest first, up to the chain's newest final block. */
  transfers(from: ChainPosition | null): Stream.Stream<ChainTransfer, ChainUnavailable>
}

/** The ways to pay on one chain, by name. */
export type PaymentSchemes = Readonly<Partial<Record<PaymentSchemeName, PaymentScheme>>>

/** What a settlement may need on the chain before it, by a transaction and a lease of its own. Twice is harmless. */
export interface Prerequisite<Checked extends CheckedPayment, Prepared extends PreparedSettlement> {
  isNeeded(checked: Checked): Effect.Effect<boolean, ChainUnavailable>
  prepare(checked: Checked, lease: SettlerLease): Effect.Effect<Prepared, ChainUnavailable>
  broadcast(prepared: Prepared): Effect.Effect<void, SettlementPending | ChainUnavailable>
}

export interface PaymentScheme<
  Checked extends CheckedPayment = CheckedPayment,
  Prepared extends PreparedSettlement = PreparedSettlement
> {
  /** Local checks only: the scheme's payload, the requirements, the window, the signature. Never calls out. */
  check(
    payload: PaymentPayload,
    requirements: PaymentRequirements,
    nowMs: number
  ): Result.Result<Checked, PaymentRefused>
  /** Like `check`, for a payment that has passed it: skips the signature where `recheck` has the chain verify it. */
  checkAgain(
    payload: PaymentPayload,
    requirements: PaymentRequirements,
    nowMs: number
  ): Result.Result<Checked, PaymentRefused>
  /** The payment with another amount to transfer than the signed one. */
  charging(checked: Checked, charge: bigint): Result.Result<Checked, PaymentRefused>
  /** Whether the transfer would succeed now. */
  simulate(checked: Checked): Effect.Effect<void, PaymentRefused | ChainUnavailable>
  /** The payer's present balance, and which of these claims of theirs, over the same asset, have been paid from it. */
  funds(checked: Checked, claimKeys: ReadonlyArray<string>): Effect.Effect<Funds, ChainUnavailable>
  /**
   * Checks once more before sending, where a transfer that fails would cost us its fee. Asks nothing where sending
   * checks it itself.
   */
  recheck(checked: Checked): Effect.Effect<void, PaymentRefused | ChainUnavailable>
  /** A transaction that must be in a block before the settling one; absent where none ever is. */
  readonly prerequisite?: Prerequisite<Checked, Prepared>
  /** Signs the settling transaction; nothing is sent. */
  prepare(checked: Checked, lease: SettlerLease): Effect.Effect<Prepared, ChainUnavailable>
  /** Sends it and waits, up to a deadline, for a receipt with the required transfer. Twice is harmless. */
  broadcast(
    prepared: Prepared,
    checked: Checked
  ): Effect.Effect<Settlement, SettlementRefused | SettlementPending | ChainUnavailable>
  /**
   * The chain's answer about this payment; `transaction` is one that we sent, or that the facilitator which sends for
   * us names.
   */
  look(checked: Checked, transaction: string | null): Effect.Effect<ChainStanding, ChainUnavailable>
}

/** For schemes whose payers sign the very amount. */
export const chargingExactly = <Checked extends CheckedPayment>(
  checked: Checked,
  charge: bigint
): Result.Result<Checked, PaymentRefused> => {
  if (charge === checked.amount) return Result.succeed(checked)
  const { payer } = checked
  const detail = `${checked.amount} was signed, and ${charge} cannot be transferred by it`
  return Result.fail(new PaymentRefused({ code: "PAYMENT_INVALID", reason: reason.invalidRequirements, payer, detail }))
}
