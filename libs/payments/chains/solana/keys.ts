/**
 * Solana's accounts: addresses in base58 with Bitcoin's alphabet, points of the curve, Ed25519 signatures, and a
 * settler's secret as solana-keygen writes it. The cost of base58 grows with the square of the length, so both ways are
 * bounded: nothing here is longer than a signature of 64 bytes. @solana/kit judges it in the tests; loaded, it takes 28
 * MB, and its codec needs 0.02 ms for a text of 64 bytes where this one needs 0.004 ms.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto"
import { Effect, Redacted, Result, Schema } from "effect"
import type { LocalKey } from "../../scheme.ts"

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const values = new Int8Array(128).fill(-1)
for (let index = 0; index < alphabet.length; index += 1) values[alphabet.charCodeAt(index)] = index

// 64 bytes are at most 88 characters.
const bytesMax = 64
const charactersMax = 88

/** At most 64 bytes; more is a programming error. */
export const encodeBase58 = (bytes: Uint8Array): string => {
  if (bytes.length > bytesMax) throw new RangeError(`base58 of ${bytes.length} bytes`)
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1
  const digits: Array<number> = []
  for (let at = zeros; at < bytes.length; at += 1) {
    let carry = bytes[at] ?? 0
    for (let place = 0; place < digits.length; place += 1) {
      carry += (digits[place] ?? 0) * 256
      digits[place] = carry % 58
      carry = Math.floor(carry / 58)
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits.push(carry % 58)
  }
  let text = "1".repeat(zeros)
  for (let place = digits.length - 1; place >= 0; place -= 1) text += alphabet[digits[place] ?? 0]
  return text
}

/** `undefined` for what is not base58 or is longer than 64 bytes. */
export const decodeBase58 = (text: string): Uint8Array | undefined => {
  if (text.length > charactersMax) return undefined
  let zeros = 0
  while (zeros < text.length && text[zeros] === "1") zeros += 1
  const bytes: Array<number> = []
  for (let at = zeros; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    let carry = code < 128 ? (values[code] ?? -1) : -1
    if (carry < 0) return undefined
    for (let place = 0; place < bytes.length; place += 1) {
      carry += (bytes[place] ?? 0) * 58
      bytes[place] = carry & 0xff
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff)
  }
  const decoded = new Uint8Array(zeros + bytes.length)
  for (let place = 0; place < bytes.length; place += 1) decoded[decoded.length - 1 - place] = bytes[place] ?? 0
  return decoded.length <= bytesMax ? decoded : undefined
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

const prime = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const signBit = 2n ** 255n

const fromLittleEndian = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`)

const mod = (value: bigint) => ((value % prime) + prime) % prime

const power = (base: bigint, exponent: bigint) => {
  let result = 1n
  let square = mod(base)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

/** Takes half a millisecond: for addresses that are cached, not for every payment. */
export const isOnCurve = (bytes: Uint8Array): boolean => {
  const encoded = fromLittleEndian(bytes)
  const y = mod(encoded % signBit)
  const numerator = mod(y * y - 1n)
  // x^2 = (y^2 - 1) / (d y^2 + 1); the denominator is never zero, for -1/d is no square.
  const square = mod(numerator * power(d * y * y + 1n, prime - 2n))
  return square === 0n || power(square, (prime - 1n) / 2n) === 1n
}

// Of order 4 (0), 1 (1), 2 (-1), and 8; 0 and 1 can also be written plus the prime. The sign of x does not matter.
const smallOrderY = new Set(
  [
    0n,
    1n,
    prime - 1n,
    prime,
    prime + 1n,
    2707385501144840649318225287225658788936804267575313519463743609750303402022n,
    55188659117513257062467267217118295137698188065244968500265048394206261417927n
  ].map(String)
)

/**
 * Two questions about 32 bytes as a point of ed25519. Is there such a point? (An address that a program owns is chosen
 * so that there is none.) Is it one of the few of small order? Anybody can make signatures under a key of small order,
 * which validators refuse and older OpenSSL (3.0) does not, and accounts with money stand under such addresses.
 */
export const hasSmallOrder = (bytes: Uint8Array): boolean => smallOrderY.has(String(fromLittleEndian(bytes) % signBit))

const KeygenFile = Schema.fromJsonString(
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(Schema.isMaxLength(64))
)
const decodeFile = Schema.decodeUnknownResult(KeygenFile)

/** The key's `secret` is the seed's 32 bytes. The reason of a failure never holds any of the secret. */
export const readSettlerKey = (network: string, secret: string): Result.Result<LocalKey, string> => {
  const bytes = bytesOf(secret.trim())
  if (bytes === undefined) return Result.fail("neither base58 nor a JSON array of bytes")
  if (bytes.length !== 64 && bytes.length !== 32) return Result.fail(`${bytes.length} bytes instead of 64 or 32`)
  const seed = bytes.slice(0, 32)
  // Read as a key, the address of the system program is one that everybody has.
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
