/**
 * Signatures of wallets that are deployed by the first payment (ERC-6492): the factory's call stands before the wallet's
 * own signature. A factory is called with our account, so only those that are configured are. Pure.
 */
import { addressInWord, bytesOf, hexOf, readQuantity } from "../encoding.ts"

export interface Deployment {
  /** In lower case. */
  readonly factory: string
  readonly data: Uint8Array
}

interface WalletSignature {
  /** The wallet's own signature. */
  readonly inner: string
  readonly deployment: Deployment | null
}

const marker = "6492".repeat(16)

/** The parts of a signature; undefined for one that is marked as wrapped and is not. */
export const unwrapped = (signature: string): WalletSignature | undefined => {
  if (!signature.toLowerCase().endsWith(marker)) return { inner: signature, deployment: null }
  const bytes = bytesOf(signature).subarray(0, -32)
  if (bytes.length < 96) return undefined
  const factory = addressInWord(hexOf(bytes.subarray(0, 32)))
  const [data, inner] = [bytesAt(bytes, 1), bytesAt(bytes, 2)]
  return data === undefined || inner === undefined
    ? undefined
    : { inner: hexOf(inner), deployment: { factory, data: new Uint8Array(data) } }
}

/** The bytes whose place stands in one word. */
const bytesAt = (bytes: Buffer, word: number): Buffer | undefined => {
  const offset = numberAt(bytes, word * 32)
  const length = offset === undefined ? undefined : numberAt(bytes, offset)
  if (offset === undefined || length === undefined) return undefined
  const from = offset + 32
  return from + length > bytes.length ? undefined : bytes.subarray(from, from + length)
}

const numberAt = (bytes: Buffer, at: number): number | undefined => {
  if (at + 32 > bytes.length) return undefined
  const value = readQuantity(hexOf(bytes.subarray(at, at + 32)))
  return value === undefined || value > BigInt(bytes.length) ? undefined : Number(value)
}
