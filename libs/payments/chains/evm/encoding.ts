/**
 * How this family of chains writes data. Hexadecimal: 0x and lower case for bytes, no leading zeros for quantities, and
 * for addresses a mixed case that holds a checksum (EIP-55). Keccak-256 is its hash, words of 32 bytes are its
 * contracts' encoding, RLP is its transactions' encoding. Pure. viem has all of it, and judges it in the tests; loaded,
 * it takes 30 MB and a third of a second of every role that knows a chain.
 */
import { keccak_256 } from "@noble/hashes/sha3.js"

export type Hex = `0x${string}`

export const hexOf = (bytes: Uint8Array): Hex =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`

/** The bytes of a text that is known to be 0x and whole bytes. */
export const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), "hex")

export const quantityOf = (value: bigint | number): Hex => `0x${value.toString(16)}`

const quantityPattern = /^0x[0-9a-f]{1,64}$/iu

/** A quantity or a 32 byte word; undefined for anything else. */
export const readQuantity = (value: unknown): bigint | undefined =>
  typeof value === "string" && quantityPattern.test(value) ? BigInt(value) : undefined

/** Whether it is a transaction's or block's hash. */
export const isHash = (value: string): boolean => /^0x[0-9a-f]{64}$/iu.test(value)

// Payments name the same few accounts again and again, and a hash takes as long as all else that is read of one.
const spelledMax = 1_024
const spelled = new Map<string, Hex>()

/** The address with the checksum in its letters' case. */
export const checksummed = (address: string): Hex => {
  const plain = address.slice(2).toLowerCase()
  const known = spelled.get(plain)
  if (known !== undefined) return known
  const made = spell(plain)
  spelled.set(plain, made)
  const [oldest] = spelled.keys()
  if (spelled.size > spelledMax && oldest !== undefined) spelled.delete(oldest)
  return made
}

const spell = (plain: string): Hex => {
  const hash = Buffer.from(keccak256OfText(plain)).toString("hex")
  let text = ""
  for (let index = 0; index < plain.length; index += 1) {
    const letter = plain[index] ?? ""
    text += Number.parseInt(hash[index] ?? "0", 16) >= 8 ? letter.toUpperCase() : letter
  }
  return `0x${text}`
}

/** An address in lower case carries no checksum; any other case must be the checksum's own. */
export const isWellSpelled = (address: string): boolean =>
  address === address.toLowerCase() || address === checksummed(address)

export const isSameAddress = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase()

/** Keccak-256, the hash of this family of chains. Node's OpenSSL knows only the later SHA-3 padding. */
export const keccak256 = (bytes: Uint8Array): Uint8Array => keccak_256(bytes)

/** The hash of a text's UTF-8 bytes: type hashes, event topics, function selectors. */
export const keccak256OfText = (text: string): Uint8Array => keccak_256(Buffer.from(text, "utf8"))

/** The 32 byte words of which call data, event data and signed messages consist. Pure. */
const wordBytes = 32

/** A number of 0 to 2^256 - 1. */
export const numberWord = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, "0"), "hex")

/** An address, right-aligned in the word. */
export const addressWord = (address: string): Buffer => {
  const word = Buffer.alloc(wordBytes)
  bytesOf(address).copy(word, 12)
  return word
}

/** The address at the right of a word, in lower case. */
export const addressInWord = (word: string): `0x${string}` => `0x${word.slice(-40).toLowerCase()}`

/** An address as the topic of an event. */
export const addressTopic = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`

/** The number in a whole word; zero when it is no word. */
export const numberInWord = (word: string): bigint => readQuantity(word) ?? 0n

// A token's name is a word or two; a longer one is cut, for it ends in a log.
const textBytesMax = 64

/** The text at one place of an answer: the place holds its offset, where its length and bytes stand. */
export const textAt = (answer: string, index: number): string | undefined => {
  const bytes = bytesOf(answer)
  const offset = smallNumberAt(bytes, index * wordBytes)
  const length = offset === undefined ? undefined : smallNumberAt(bytes, offset)
  if (offset === undefined || length === undefined) return undefined
  const from = offset + wordBytes
  return bytes.length < from + length ? undefined : bytes.toString("utf8", from, from + Math.min(length, textBytesMax))
}

/** Bounded by the number of bytes. */
const smallNumberAt = (bytes: Buffer, at: number): number | undefined => {
  if (at + wordBytes > bytes.length) return undefined
  const value = numberInWord(hexOf(bytes.subarray(at, at + wordBytes)))
  return value > BigInt(bytes.length) ? undefined : Number(value)
}

/** Recursive length prefix, the form in which transactions are hashed and sent. Encoding only. Pure. */
export type RlpItem = Uint8Array | ReadonlyArray<RlpItem>

export const encodeRlp = (item: RlpItem): Buffer => {
  if (!(item instanceof Uint8Array)) {
    const inner = Buffer.concat(item.map(encodeRlp))
    return Buffer.concat([lengthPrefix(inner.length, 0xc0), inner])
  }
  // A byte below 0x80 is its own encoding.
  if (item.length === 1 && (item[0] ?? 0xff) < 0x80) return Buffer.from(item)
  return Buffer.concat([lengthPrefix(item.length, 0x80), item])
}

/** A number in RLP: no leading zeros, and zero as no bytes at all. */
export const rlpNumber = (value: bigint): Buffer => {
  if (value === 0n) return Buffer.alloc(0)
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex")
}

// The longest length that fits into the prefix byte itself.
const shortMax = 55

const lengthPrefix = (length: number, offset: number): Buffer => {
  if (length <= shortMax) return Buffer.from([offset + length])
  const bytes = rlpNumber(BigInt(length))
  return Buffer.concat([Buffer.from([offset + shortMax + bytes.length]), bytes])
}
