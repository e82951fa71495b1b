/**
 * Solana's accounts: addresses in base58 with Bitcoin's alphabet, Ed25519 signatures, and a settler's secret in
 * solana-keygen's format. The cost of base58 grows with the square of the length, so both directions are bounded:
 * nothing here is longer than a signature of 64 bytes.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto"
import { getBase58Decoder, getBase58Encoder } from "@solana/kit"
import { Effect, Redacted, Result, Schema } from "effect"
import type { LocalKey } from "../../scheme.ts"

// 64 bytes are at most 88 characters.
const bytesMax = 64
const charactersMax = 88

const base58 = { encode: getBase58Decoder().decode, decode: getBase58Encoder().encode }

/** At most 64 bytes; more is a programming error. */
export const encodeBase58 = (bytes: Uint8Array): string => {
  if (bytes.length > bytesMax) throw new RangeError(`base58 of ${bytes.length} bytes`)
  return base58.encode(bytes)
}

/** `undefined` if it is not base58 or is longer than 64 bytes. */
export const decodeBase58 = (text: string): Uint8Array | undefined => {
  if (text.length > charactersMax) return undefined
  const bytes = Result.getOrUndefined(Result.try(() => new Uint8Array(base58.decode(text))))
  return bytes !== undefined && bytes.length <= bytesMax ? bytes : undefined
}

/** The 32 bytes of an address or a blockhash, or `undefined`. */
export const decodeAddress = (text: string): Uint8Array | undefined => {
  const bytes = decodeBase58(text)
  return bytes?.length === 32 ? bytes : undefined
}

// The fixed prefixes of RFC 8410's encodings.
const spkiHead = Buffer.from("302a300506032b6570032100", "hex")
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex")

/**
 * Ed25519 signatures by OpenSSL, with Solana's key forms: 32 bytes of public key, 64 of secret (seed, then public key).
 * Verification is as strict as a validator's: a signature accepted here is accepted in a block.
 */
export const verifySignature = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  if (hasSmallOrder(publicKey) || hasSmallOrder(signature.subarray(0, 32))) return false
  const key = createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: "der", type: "spki" })
  return verify(null, message, key, signature)
}

/** `seed`: the first 32 bytes of a secret key. The same message gives the same signature every time. */
export const signMessage = (seed: Uint8Array, message: Uint8Array): Uint8Array => sign(null, message, privateKey(seed))

export const publicKeyOf = (seed: Uint8Array): Uint8Array => {
  const encoded = createPublicKey(privateKey(seed)).export({ format: "der", type: "spki" })
  return new Uint8Array(encoded.subarray(spkiHead.length))
}

const privateKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: "der", type: "pkcs8" })

// The encodings of the y of such points, without the sign of x: of order 4 (0), 1 (1), 2 (-1), and 8; 0 and 1 can also
// be written plus the field's prime.
const smallOrder = new Set([
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
])

/**
 * Whether 32 bytes are one of the few points of ed25519 of small order. Anyone can make signatures under a key of small
 * order, which validators refuse and older OpenSSL (3.0) does not, and accounts with money exist under such addresses.
 */
export const hasSmallOrder = (bytes: Uint8Array): boolean => {
  const y = Buffer.from(bytes)
  y[31] = (y[31] ?? 0) & 0x7f
  return smallOrder.has(y.toString("hex"))
}

const KeygenFile = Schema.fromJsonString(
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(Schema.isMaxLength(64))
)
const decodeFile = Schema.decodeUnknownResult(KeygenFile)

/** The key's `secret` is the seed's 32 bytes. The reason of a failure never contains any part of the secret. */
export const readSettlerKey = (network: string, secret: string): Result.Result<LocalKey, string> => {
  const bytes = bytesOf(secret.trim())
  if (bytes === undefined) return Result.fail("neither base58 nor a JSON array of bytes")
  if (bytes.length !== 64 && bytes.length !== 32) return Result.fail(`${bytes.length} bytes instead of 64 or 32`)
  const seed = bytes.slice(0, 32)
  // Read as a key, the address of the system program is one that everyone has.
  if (seed.every((byte) => byte === 0)) return Result.fail("zeros alone")
  const address = publicKeyOf(seed)
  const isOfOnePiece = bytes.length === 32 || Buffer.from(address).equals(bytes.subarray(32))
  if (!isOfOnePiece) return Result.fail("its public half does not belong to its secret half")
  const sign = (message: Uint8Array) => Effect.sync(() => signMessage(seed, message))
  return Result.succeed({ network, address: encodeBase58(address), secret: Redacted.make(seed), sign })
}

const bytesOf = (text: string) => {
  if (!text.startsWith("[")) return decodeBase58(text)
  const decoded = decodeFile(text)
  return Result.isSuccess(decoded) ? Uint8Array.from(decoded.success) : undefined
}
