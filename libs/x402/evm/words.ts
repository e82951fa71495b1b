/** The 32 byte words of which call data, event data and signed messages are made. Pure. */
import { bytesOf, hexOf, readQuantity } from "./hex.ts"

export const wordBytes = 32
export const wordMax = (1n << 256n) - 1n

/** A number of 0 to 2^256 - 1. */
export const numberWord = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, "0"), "hex")

/** An address, on the right of the word. */
export const addressWord = (address: string): Buffer => {
  const word = Buffer.alloc(wordBytes)
  bytesOf(address).copy(word, 12)
  return word
}

/** The address on the right of a word, in lower case. */
export const addressInWord = (word: string): `0x${string}` => `0x${word.slice(-40).toLowerCase()}`

/** An address as the topic of an event. */
export const addressTopic = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`

/** The number of a whole word; zero for what is none. */
export const numberInWord = (word: string): bigint => readQuantity(word) ?? 0n

// A token's name is a word or two; what is longer is cut, for it ends in a log.
const textBytesMax = 64

/** The text that an answer has at one of its places: its offset there, its length and bytes behind. */
export const textAt = (answer: string, index: number): string | undefined => {
  const bytes = bytesOf(answer)
  const offset = smallNumberAt(bytes, index * wordBytes)
  const length = offset === undefined ? undefined : smallNumberAt(bytes, offset)
  if (offset === undefined || length === undefined) return undefined
  const from = offset + wordBytes
  return bytes.length < from + length ? undefined : bytes.toString("utf8", from, from + Math.min(length, textBytesMax))
}

/** No further than the bytes reach. */
const smallNumberAt = (bytes: Buffer, at: number): number | undefined => {
  if (at + wordBytes > bytes.length) return undefined
  const value = numberInWord(hexOf(bytes.subarray(at, at + wordBytes)))
  return value > BigInt(bytes.length) ? undefined : Number(value)
}
