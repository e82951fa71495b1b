/**
 * A Solana transaction on the wire: signatures, then the message that they sign, legacy or version 0. A decoded
 * transaction obeys the rules that a validator applies before it runs anything (its `sanitize`), so that nothing passes
 * for a payment here that no block would accept. Later versions of the message are refused.
 */
import { encodeBase58 } from "./keys.ts"

export interface SvmInstruction {
  /** Index of the program in `accounts`; never an account of a lookup table. */
  readonly program: number
  /** Indexes into `accounts`; those past its end mean accounts of lookup tables. */
  readonly accounts: Uint8Array
  readonly data: Uint8Array
}

export interface SvmTransaction {
  readonly signatures: ReadonlyArray<Uint8Array>
  /** The bytes that the signatures sign. */
  readonly message: Uint8Array
  readonly version: "legacy" | 0
  /** This many accounts, from the first, have to sign; the first of them pays the fee. */
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
const versionBit = 0x80

/** The bytes of a transaction from base64 with padding; `undefined` for anything else, or for more than a packet. */
export const decodeWire = (base64: string): Uint8Array | undefined => {
  if (base64.length > base64Length || base64.length % 4 !== 0 || !standardBase64.test(base64)) return undefined
  const bytes = Buffer.from(base64, "base64")
  const isCanonical = bytes.length <= wireBytesMax && bytes.toString("base64") === base64
  return isCanonical ? bytes : undefined
}

export const decodeTransaction = (wire: Uint8Array): SvmTransaction | undefined => {
  if (wire.length > wireBytesMax) return undefined
  const reader = wireReader(wire)
  const signatures = list(reader, 64, () => reader.bytes(64))
  if (!reader.isSound()) return undefined
  const message = wire.subarray(reader.position())
  const decoded = decodeMessage(message)
  if (decoded === undefined || decoded.requiredSignatures !== signatures.length) return undefined
  return { ...decoded, signatures, message }
}

/** The same transaction with another signature in the fee payer's place. */
export const withFeePayerSignature = (transaction: SvmTransaction, signature: Uint8Array): Uint8Array => {
  const [, ...others] = transaction.signatures
  // Fewer than 128 signatures, so their count is one byte.
  return Buffer.concat([Uint8Array.of(transaction.signatures.length), signature, ...others, transaction.message])
}

type SvmMessage = Omit<SvmTransaction, "signatures" | "message">

const decodeMessage = (bytes: Uint8Array): SvmMessage | undefined => {
  const reader = wireReader(bytes)
  const first = reader.byte()
  const isVersioned = (first & versionBit) !== 0
  if (isVersioned && first !== versionBit) return undefined
  const requiredSignatures = isVersioned ? reader.byte() : first
  const readonlySigned = reader.byte()
  const readonlyUnsigned = reader.byte()
  const keys = list(reader, 32, () => reader.bytes(32))
  const blockhash = reader.bytes(32)
  const instructions = list(reader, 3, () => readInstruction(reader))
  const lookups = isVersioned ? list(reader, 34, () => readLookup(reader)) : []
  if (!reader.isSound() || reader.remaining() !== 0) return undefined

  const isHeaderSound = requiredSignatures > readonlySigned && requiredSignatures + readonlyUnsigned <= keys.length
  const accounts = keys.map(encodeBase58)
  const loaded = lookups.reduce((sum, count) => sum + count, accounts.length)
  if (!isHeaderSound || loaded > 256 || new Set(accounts).size !== accounts.length) return undefined
  if (lookups.includes(0)) return undefined
  const areInstructionsSound = instructions.every(
    ({ accounts: used, program }) => program > 0 && program < keys.length && used.every((index) => index < loaded)
  )
  if (!areInstructionsSound) return undefined
  return {
    version: isVersioned ? 0 : "legacy",
    requiredSignatures,
    accounts,
    blockhash: encodeBase58(blockhash),
    instructions,
    lookupTables: lookups.length
  }
}

const readInstruction = (reader: WireReader): SvmInstruction => {
  const program = reader.byte()
  const accounts = reader.bytes(reader.length())
  return { program, accounts, data: reader.bytes(reader.length()) }
}

/** Returns how many accounts a lookup table adds. */
const readLookup = (reader: WireReader): number => {
  reader.bytes(32)
  const writable = reader.bytes(reader.length()).length
  return writable + reader.bytes(reader.length()).length
}

/** `bytesMin`: the least size of one element; a count that cannot fit is refused before anything is allocated. */
const list = <A>(reader: WireReader, bytesMin: number, read: () => A): ReadonlyArray<A> => {
  const count = reader.length()
  if (!reader.isSound() || count * bytesMin > reader.remaining()) {
    // Reading past the end marks the reader as unsound.
    reader.bytes(reader.remaining() + 1)
    return []
  }
  const elements: Array<A> = []
  for (let index = 0; index < count && reader.isSound(); index += 1) elements.push(read())
  return elements
}

/**
 * Reads the wire form of a transaction from front to back. A read past the end, or a length that is not in its shortest
 * form, ends it: the payer of a hostile transaction gets a refusal, never an exception.
 */
interface WireReader {
  /** False after a read that was out of bounds or not allowed; everything read since is worthless. */
  readonly isSound: () => boolean
  readonly position: () => number
  readonly remaining: () => number
  readonly byte: () => number
  /** A view, not a copy. */
  readonly bytes: (count: number) => Uint8Array
  /** Solana's compact-u16: up to three bytes of seven bits, refused when a shorter form exists. */
  readonly length: () => number
}

const empty = new Uint8Array(0)

const wireReader = (source: Uint8Array): WireReader => {
  let at = 0
  let isSound = true
  const fail = () => {
    isSound = false
    return 0
  }
  const byte = () => {
    if (at >= source.length) return fail()
    at += 1
    return source[at - 1] ?? 0
  }
  const bytes = (count: number) => {
    if (count > source.length - at) {
      fail()
      return empty
    }
    at += count
    return source.subarray(at - count, at)
  }
  const length = () => {
    let value = 0
    for (let place = 0; place < 3; place += 1) {
      const next = byte()
      value |= (next & 0x7f) << (7 * place)
      if ((next & 0x80) === 0) {
        const isPadded = place > 0 && next === 0
        return isPadded || value > 0xffff ? fail() : value
      }
    }
    return fail()
  }
  return { isSound: () => isSound, position: () => at, remaining: () => source.length - at, byte, bytes, length }
}
