/**
 * A Solana transaction on the wire: signatures, then the message that they sign, legacy or version 0. A decoded
 * transaction obeys the rules that a validator applies before it runs anything (its `sanitize`), so nothing is accepted
 * as a payment here that no block would accept. Later versions of the message are refused, and so is a message followed
 * by more bytes or with a length that is not in its shortest form.
 */
import { getCompiledTransactionMessageDecoder, getCompiledTransactionMessageEncoder } from "@solana/kit"
import { Result } from "effect"

export interface SvmInstruction {
  /** The program's index in `accounts`; never an account of a lookup table. */
  readonly program: number
  /** Indexes into `accounts`; those past its end refer to accounts of lookup tables. */
  readonly accounts: Uint8Array
  readonly data: Uint8Array
}

export interface SvmTransaction {
  readonly signatures: ReadonlyArray<Uint8Array>
  /** The bytes that the signatures sign. */
  readonly message: Uint8Array
  readonly version: "legacy" | 0
  /** This many accounts, from the first, must sign; the first of them pays the fee. */
  readonly requiredSignatures: number
  /** Base58. */
  readonly accounts: ReadonlyArray<string>
  /** Base58. */
  readonly blockhash: string
  readonly instructions: ReadonlyArray<SvmInstruction>
  readonly lookupTables: number
}

/** The size of one packet; nothing longer reaches a leader. */
const wireBytesMax = 1_232
const base64Length = 4 * Math.ceil(wireBytesMax / 3)
const standardBase64 = /^[A-Za-z0-9+/]+={0,2}$/u
const signatureBytes = 64

/** The bytes of a transaction from base64 with padding; `undefined` for anything else, or for more than a packet. */
export const decodeWire = (base64: string): Uint8Array | undefined => {
  if (base64.length > base64Length || base64.length % 4 !== 0 || !standardBase64.test(base64)) return undefined
  const bytes = Buffer.from(base64, "base64")
  const isCanonical = bytes.length <= wireBytesMax && bytes.toString("base64") === base64
  return isCanonical ? bytes : undefined
}

export const decodeTransaction = (wire: Uint8Array): SvmTransaction | undefined => {
  // Fewer than 128 signatures fit, so their count is one byte.
  const [count = 0] = wire
  const message = wire.subarray(1 + count * signatureBytes)
  if (wire.length > wireBytesMax || message.length === 0) return undefined
  const decoded = decodeMessage(message)
  if (decoded === undefined || decoded.requiredSignatures !== count) return undefined
  const signatures = Array.from({ length: count }, (_, index) =>
    wire.subarray(1 + index * signatureBytes, 1 + (index + 1) * signatureBytes)
  )
  return { ...decoded, signatures, message }
}

/** The same transaction with another signature in the fee payer's place. */
export const withFeePayerSignature = (transaction: SvmTransaction, signature: Uint8Array): Uint8Array => {
  const [, ...others] = transaction.signatures
  return Buffer.concat([Uint8Array.of(transaction.signatures.length), signature, ...others, transaction.message])
}

type SvmMessage = Omit<SvmTransaction, "signatures" | "message">

const decoder = getCompiledTransactionMessageDecoder()
const encoder = getCompiledTransactionMessageEncoder()

/** In its shortest form the message is exactly as long as its content; undefined for anything else. */
const readMessage = (bytes: Uint8Array) =>
  Result.getOrUndefined(
    Result.try(() => {
      const message = decoder.decode(bytes)
      return encoder.getSizeFromValue(message) === bytes.length ? message : undefined
    })
  )

const decodeMessage = (bytes: Uint8Array): SvmMessage | undefined => {
  const message = readMessage(bytes)
  if (message === undefined || message.version === 1) return undefined
  const { version, header, staticAccounts: accounts, lifetimeToken: blockhash } = message
  const lookups = ("addressTableLookups" in message ? message.addressTableLookups : undefined) ?? []
  const instructions = message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
    program: programAddressIndex,
    accounts: Uint8Array.from(accountIndices),
    data: Uint8Array.from(data ?? [])
  }))
  const counts = lookups.map(({ writableIndexes, readonlyIndexes }) => writableIndexes.length + readonlyIndexes.length)
  const loaded = counts.reduce((sum, count) => sum + count, accounts.length)
  const isSound =
    header.numSignerAccounts > header.numReadonlySignerAccounts &&
    header.numSignerAccounts + header.numReadonlyNonSignerAccounts <= accounts.length &&
    loaded <= 256 &&
    new Set(accounts).size === accounts.length &&
    !counts.includes(0) &&
    instructions.every(
      ({ accounts: used, program }) => program > 0 && program < accounts.length && used.every((index) => index < loaded)
    )
  return isSound
    ? {
        version,
        requiredSignatures: header.numSignerAccounts,
        accounts,
        blockhash,
        instructions,
        lookupTables: lookups.length
      }
    : undefined
}
