/** The 32 byte words of which call data, event data and signed messages are made. Pure. */
import { bytesOf } from "./hex.ts"

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
