/**
 * How this family of chains writes data. viem encodes and decodes calls, addresses and transactions; this module is the
 * narrow access to it, stricter about untrusted text, and never throws on untrusted bytes. Pure.
 */
import { keccak_256 } from "@noble/hashes/sha3.js"
import { Result } from "effect"
import { decodeAbiParameters, encodeAbiParameters, isAddress, parseAbiParameters } from "viem/utils"

export { getAddress as checksummed } from "viem/utils"

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

/** An address in lower case carries no checksum; any other case must be the checksum's own (EIP-55). */
export const isWellSpelled = (address: string): boolean => isAddress(address)

export const isSameAddress = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase()

/** Keccak-256, the hash of this family of chains. Node's OpenSSL knows only the later SHA-3 padding. */
export const keccak256 = (bytes: Uint8Array): Uint8Array => keccak_256(bytes)

/** The hash of a text's UTF-8 bytes: type hashes, event topics, function selectors. */
export const keccak256OfText = (text: string): Uint8Array => keccak256(Buffer.from(text, "utf8"))

/** The first topic of an event's logs. */
export const topicOf = (signature: string): Hex => hexOf(keccak256OfText(signature))

/** The four bytes that identify a function or an error. */
export const selectorOf = (signature: string): Hex => hexOf(keccak256OfText(signature).subarray(0, 4))

/** The address at the right of a word, in lower case. */
export const addressInWord = (word: string): Hex => `0x${word.slice(-40).toLowerCase()}`

/** An address as the topic of an event. */
export const addressTopic = (address: string): Hex => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`

/** The number in a complete word; zero if it is not a word. */
export const numberInWord = (word: string): bigint => readQuantity(word) ?? 0n

/**
 * The hash of a struct of typed data (EIP-712) whose parts are a word each: numbers, hashes, and addresses in any case.
 * It is computed for every paid call: a voucher's digest takes 0.02 ms, with viem's `hashTypedData` 0.2 ms.
 */
export const hashOfWords = (...words: ReadonlyArray<bigint | string | Uint8Array>): Uint8Array =>
  keccak256(Buffer.from(words.map(wordOf).join(""), "hex"))

const wordOf = (value: bigint | string | Uint8Array): string =>
  (typeof value === "bigint"
    ? value.toString(16)
    : (value instanceof Uint8Array ? hexOf(value) : value).slice(2)
  ).padStart(64, "0")

/** Addresses and bytes are in hex; tuples are lists. */
export type Argument = bigint | number | boolean | string | ReadonlyArray<Argument>

/** Encodes values of these types: `address, (uint256, bytes)[]`. */
export const encoderOf = (types: string) => {
  const parameters = parseAbiParameters(types)
  return (...values: ReadonlyArray<Argument>): Buffer =>
    bytesOf(encodeAbiParameters(parameters, values.map(inLowerCase)))
}

// A payer writes addresses in any case; viem takes them in lower case, or with their checksum.
const inLowerCase = (value: Argument): Argument => {
  if (typeof value === "string") return value.toLowerCase()
  return typeof value === "object" ? value.map(inLowerCase) : value
}

/** Makes the call data of a contract's function: `transfer(address,uint256)`. */
export const callOf = (signature: string) => {
  const selector = bytesOf(selectorOf(signature))
  const encode = encoderOf(signature.slice(signature.indexOf("(") + 1, -1))
  return (...values: ReadonlyArray<Argument>): Buffer => Buffer.concat([selector, encode(...values)])
}

/** What viem reads in untrusted bytes; undefined if they are something else. */
export const readIn = <A>(read: () => A): A | undefined => Result.getOrUndefined(Result.try(read))

const text = parseAbiParameters("string")

/** The text that makes up an entire answer or error; undefined for anything else. */
export const textIn = (answer: string): string | undefined => readIn(() => decodeAbiParameters(text, answer as Hex)[0])
