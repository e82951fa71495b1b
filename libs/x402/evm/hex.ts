/**
 * Hexadecimal as this family of chains writes it: 0x and lower case for bytes, no leading zeros for quantities,
 * and for addresses a mixed case that holds a checksum (EIP-55). Pure.
 */
import { keccak256OfText } from "./keccak.ts"

export type Hex = `0x${string}`

export const hexOf = (bytes: Uint8Array): Hex =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`

/** Of text that is known to be 0x and whole bytes. */
export const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), "hex")

export const quantityOf = (value: bigint | number): Hex => `0x${value.toString(16)}`

const quantityPattern = /^0x[0-9a-f]{1,64}$/iu

/** A quantity or a 32 byte word; nothing for what is neither. */
export const readQuantity = (value: unknown): bigint | undefined =>
  typeof value === "string" && quantityPattern.test(value) ? BigInt(value) : undefined

/** Whether it is a transaction's or block's hash. */
export const isHash = (value: string): boolean => /^0x[0-9a-f]{64}$/iu.test(value)

/** The spelling with the checksum in its letters' case. */
export const checksummed = (address: string): Hex => {
  const plain = address.slice(2).toLowerCase()
  const hash = Buffer.from(keccak256OfText(plain)).toString("hex")
  let text = ""
  for (let index = 0; index < plain.length; index += 1) {
    const letter = plain[index] ?? ""
    text += Number.parseInt(hash[index] ?? "0", 16) >= 8 ? letter.toUpperCase() : letter
  }
  return `0x${text}`
}

/** Lower case says nothing of a checksum; any other case must be the checksum's own. */
export const isWellSpelled = (address: string): boolean =>
  address === address.toLowerCase() || address === checksummed(address)

export const isSameAddress = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase()
