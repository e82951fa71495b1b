/**
 * The port of a payment scheme on one chain: check locally, ask the chain, sign, send, look up. A folder per kind of
 * chain implements it, for each scheme there. A chain that cannot be asked is `ChainUnavailable` and never a refusal;
 * only a refusal can cost a payer anything. Methods, not properties, so that a scheme can narrow `CheckedPayment` to
 * its own: a checked payment is only ever returned to the scheme that made it.
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

/** A payment whose signature, fields and window are valid; whether the chain will accept it is not yet known. */
export interface CheckedPayment {
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  /** The signed amount, in the asset's smallest unit; the maximum that can be transferred. */
  readonly amount: bigint
  /** The amount to transfer: the signed amount, or less if `charging` allows it. */
  readonly charge: bigint
  /** The only settler that can send it, if the payer has signed one; in canonical case. */
  readonly facilitator?: string
  /** Only the chain can tell whether the payer signed it: nothing is claimed before that. */
  readonly isUnproven?: true
  /** Made by `claimKeyOf`. */
  readonly claimKey: string
  /** When the chain stops accepting it, in epoch milliseconds. */
  readonly validBeforeMs: number
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
}

/**
 * The port of a signer: an account that sends settling transactions and pays their fees, wherever its key is. A
 * signature that is not available now is `ChainUnavailable`: nothing was sent, and it is requested again later.
 */
export interface SettlerKey {
  readonly network: string
  readonly address: string
  /**
   * On EVM chains 65 bytes r, s, v over the Keccak hash of the message; on Solana 64 bytes of Ed25519 over the message.
   */
  readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array, ChainUnavailable>
  /** Whether it recently failed to sign: other keys go first. Absent if the key is in this process. */
  readonly isUnavailable?: () => boolean
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
  /** Hash or signature, in the chain's notation; null only when a remote facilitator signs. */
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
  /** The given claims whose payments are used up as of this balance. Null if no node reports it. */
  readonly spent: ReadonlySet<string> | null
}

/** The chain's answer about a payment. */
export type ChainStatus =
  /** The required transfer was made, by us or by anyone else who submitted it. */
  | { readonly _tag: "Settled"; readonly transaction: string }
  /** Still collectable: unused, and not expired. */
  | { readonly _tag: "Unused" }
  /** Used up without the required transfer: cancelled, or spent elsewhere. It can never be collected. */
  | { readonly _tag: "Spent"; readonly transaction: string | null }
  /** It has expired, and that is final on the chain: it can never be collected. */
  | { readonly _tag: "Expired" }
  /** Undecided: a transaction is on its way, or the end is not final. Ask again. */
  | { readonly _tag: "Undecided"; readonly detail: string }

/** The configured facts of a token besides its address. Name and version are signed on EVM chains only. */
export interface TokenTerms {
  readonly name: string
  readonly version: string
  readonly decimals: number
}

/** How far the chain was read, as a text of the scheme's own; it is stored and passed back. */
export type ChainPosition = string

/** One transfer of the asset to `payTo`. */
export interface ChainTransfer {
  readonly transaction: string
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly payTo: string
  readonly amount: bigint
  /** The authorization's nonce, if the chain reports it. */
  readonly nonce: string | null
  readonly position: ChainPosition
}

/** What all schemes on one chain share. */
export interface PaymentChain {
  /** The chain, by CAIP-2. */
  readonly network: string
  /** Fails with the reason while no node answers; see `JsonRpc`. */
  readonly reach: Effect.Effect<void, string>
  /** Fails if the nodes' chain or the token differs from the token's configuration. */
  probe(token: TokenTerms): Effect.Effect<void, ChainMismatch | ChainUnavailable>
  /** The amount of the chain's own coin that an account holds for fees, in its smallest unit. */
  feeBalance(address: string): Effect.Effect<bigint, ChainUnavailable>
  /** For how many transfers that can pay, at the most that the chain's present fees can come to. */
  transfersLeft(address: string): Effect.Effect<bigint, ChainUnavailable>
  /** The transfers to `payTo` after a position, oldest first, up to the chain's newest final block. */
  transfers(from: ChainPosition | null): Stream.Stream<ChainTransfer, ChainUnavailable>
}

/** The schemes on one chain, by name. */
export type PaymentSchemes = Readonly<Partial<Record<PaymentSchemeName, PaymentScheme>>>

/** What a settlement may need on the chain first, with its own transaction and lease. Doing it twice is harmless. */
export interface Prerequisite<Checked extends CheckedPayment, Prepared extends PreparedSettlement> {
  isNeeded(checked: Checked): Effect.Effect<boolean, ChainUnavailable>
  prepare(checked: Checked, lease: SettlerLease): Effect.Effect<Prepared, ChainUnavailable>
  broadcast(prepared: Prepared): Effect.Effect<void, SettlementPending | ChainUnavailable>
}

export interface PaymentScheme<
  Checked extends CheckedPayment = CheckedPayment,
  Prepared extends PreparedSettlement = PreparedSettlement
> {
  /** Local checks only: the scheme's payload, the requirements, the window, the signature. Makes no remote call. */
  check(
    payload: PaymentPayload,
    requirements: PaymentRequirements,
    nowMs: number
  ): Result.Result<Checked, PaymentRefused>
  /** Like `check`, for a payment that has passed it: skips the signature if `recheck` has the chain verify it. */
  checkAgain(
    payload: PaymentPayload,
    requirements: PaymentRequirements,
    nowMs: number
  ): Result.Result<Checked, PaymentRefused>
  /** The payment with a different amount to transfer than the signed one. */
  charging(checked: Checked, charge: bigint): Result.Result<Checked, PaymentRefused>
  /** Whether the transfer would succeed now. */
  simulate(checked: Checked): Effect.Effect<void, PaymentRefused | ChainUnavailable>
  /**
   * The payer's current balance, and which of these claims of the payer, over the same asset, have been paid from it.
   */
  funds(checked: Checked, claimKeys: ReadonlyArray<string>): Effect.Effect<Funds, ChainUnavailable>
  /**
   * Checks once more before sending, if a failing transfer would cost us its fee. Makes no call if sending itself
   * checks this.
   */
  recheck(checked: Checked): Effect.Effect<void, PaymentRefused | ChainUnavailable>
  /** A transaction that must be in a block before the settling one; absent if none is ever needed. */
  readonly prerequisite?: Prerequisite<Checked, Prepared>
  /** Signs the settling transaction; nothing is sent. */
  prepare(checked: Checked, lease: SettlerLease): Effect.Effect<Prepared, ChainUnavailable>
  /** Sends it and waits, up to a deadline, for a receipt with the required transfer. Doing it twice is harmless. */
  broadcast(
    prepared: Prepared,
    checked: Checked
  ): Effect.Effect<Settlement, SettlementRefused | SettlementPending | ChainUnavailable>
  /**
   * The chain's answer about this payment; `transaction` is one that we sent, or one named by the facilitator that
   * sends for us.
   */
  look(checked: Checked, transaction: string | null): Effect.Effect<ChainStatus, ChainUnavailable>
}

/** For schemes whose payers sign the exact amount. */
export const chargingExactly = <Checked extends CheckedPayment>(
  checked: Checked,
  charge: bigint
): Result.Result<Checked, PaymentRefused> => {
  if (charge === checked.amount) return Result.succeed(checked)
  const { payer } = checked
  const detail = `${checked.amount} was signed, and ${charge} cannot be transferred by it`
  return Result.fail(new PaymentRefused({ code: "PAYMENT_INVALID", reason: reason.invalidRequirements, payer, detail }))
}
