/**
 * Several reads in one question, by the contract that every public chain has at the same address (Multicall3,
 * tryAggregate). Only what its answer needs is read. Pure.
 */
import { bytesOf, readQuantity } from "./hex.ts"
import { keccak256OfText } from "./keccak.ts"
import { addressWord, numberWord } from "./words.ts"

export const manyCallsAddress = "0xcA11bde05977b3631167028862bE2a173976CA11"

const selector = Buffer.from(keccak256OfText("tryAggregate(bool,(address,bytes)[])").subarray(0, 4))

/** Each call may fail without failing the others. */
export const tryAggregate = (target: string, calls: ReadonlyArray<Uint8Array>): Buffer => {
  const parts = calls.map((data) => callOf(target, data))
  let at = BigInt(calls.length) * 32n
  const offsets = parts.map((part) => {
    const offset = numberWord(at)
    at += BigInt(part.length)
    return offset
  })
  const head = [numberWord(0n), numberWord(64n), numberWord(BigInt(calls.length))]
  return Buffer.concat([selector, ...head, ...offsets, ...parts])
}

const callOf = (target: string, data: Uint8Array): Buffer => {
  const padding = Buffer.alloc((32 - (data.length % 32)) % 32)
  return Buffer.concat([addressWord(target), numberWord(64n), numberWord(BigInt(data.length)), data, padding])
}

/** The first word of each answer, undefined where a call failed; nothing at all for what is no such answer. */
export const wordsOf = (answer: string, count: number): ReadonlyArray<bigint | undefined> | undefined => {
  const bytes = bytesOf(answer)
  const list = offsetAt(bytes, 0)
  if (list === undefined || offsetAt(bytes, list) !== count) return undefined
  const start = list + 32
  return Array.from({ length: count }, (_, index) => {
    const offset = offsetAt(bytes, start + index * 32)
    return offset === undefined ? undefined : wordOf(bytes, start + offset)
  })
}

const wordOf = (bytes: Buffer, at: number): bigint | undefined => {
  const isSuccess = offsetAt(bytes, at) === 1
  const data = offsetAt(bytes, at + 32)
  if (!isSuccess || data === undefined || (offsetAt(bytes, at + data) ?? 0) < 32) return undefined
  return wordAt(bytes, at + data + 32)
}

const wordAt = (bytes: Buffer, at: number) =>
  at + 32 <= bytes.length ? readQuantity(`0x${bytes.toString("hex", at, at + 32)}`) : undefined

const offsetAt = (bytes: Buffer, at: number) => {
  const word = wordAt(bytes, at)
  return word === undefined || word > BigInt(bytes.length) ? undefined : Number(word)
}
