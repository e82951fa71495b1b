/**
 * Signatures of plain keys. One form is accepted: 65 bytes r, s, v, with v 27 or 28 (or 0 or 1) and s in the lower half
 * of the curve's order, because an s in the upper half is the same signature written a second way. Contract accounts
 * sign differently (ERC-1271, ERC-6492), and their refusal names that reason. Pure.
 */
import { randomBytes } from "node:crypto"
// Only this file of the package: loading all of it takes three times as long.
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js"
import { Effect, Redacted, Result } from "effect"
import type { LibraryHandle } from "koffi"
import { decodeAbiParameters, parseAbiParameters } from "viem/utils"
import type { LocalKey } from "../../scheme.ts"
import { bytesOf, type Hex, hashOfWords, hexOf, keccak256, keccak256OfText, readIn } from "./encoding.ts"

type SignatureFault = "smart wallet" | "smart wallet not deployed" | "form"

const pattern = /^0x(?:[0-9a-f]{2})+$/iu
const plainBytes = 65
const sMax = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex")
const zero = Buffer.alloc(32)
// The last 32 bytes of a signature that is wrapped for a wallet not yet deployed (ERC-6492).
const wrapped = "6492".repeat(16)

export const readSignature = (signature: string): Result.Result<CurveSignature, SignatureFault> => {
  if (!pattern.test(signature)) return Result.fail("form")
  if (signature.endsWith(wrapped)) return Result.fail("smart wallet not deployed")
  const bytes = bytesOf(signature)
  if (bytes.length > plainBytes) return Result.fail("smart wallet")
  if (bytes.length < plainBytes) return Result.fail("form")
  const parity = parityOf(bytes[64] ?? 255)
  const s = bytes.subarray(32, 64)
  if (parity === undefined || s.compare(sMax) > 0 || s.equals(zero)) return Result.fail("form")
  return Result.succeed({ bytes: bytes.subarray(0, 64), parity })
}

const parityOf = (v: number): 0 | 1 | undefined => {
  if (v === 0 || v === 27) return 0
  return v === 1 || v === 28 ? 1 : undefined
}

/**
 * The curve secp256k1, by Bitcoin's own library: the host's if it has one, else the same library compiled to
 * WebAssembly. Recovering a signer costs 0.036 ms of processor time with the first, 0.14 with the second, and 1.25 in
 * JavaScript; signing costs 0.023 and 0.085 ms.
 */
export interface Curve {
  /** The 65-byte point of the key that signed; undefined if no key can have. */
  readonly recover: (digest: Uint8Array, signature: CurveSignature) => Uint8Array | undefined
  /** Undefined for bytes that are no key. */
  readonly sign: (digest: Uint8Array, key: Uint8Array) => CurveSignature | undefined
  /** The point of a private key. */
  readonly pointOf: (key: Uint8Array) => Uint8Array | undefined
  /** The point of a public key in either form. */
  readonly uncompress: (key: Uint8Array) => Uint8Array | undefined
}

const keyBytes = 32
const digestBytes = 32
const pointBytes = 65
const compressedBytes = 33
const rsBytes = 64

/** Returns a text for invalid input. The random bytes hide how long a signing takes. */
export const wasmCurve = async (): Promise<Curve> => {
  const curve = await instantiateSecp256k1(randomBytes(keyBytes))
  const found = (point: Uint8Array | string) => (typeof point === "string" ? undefined : point)
  return {
    recover: (digest, { bytes, parity }) => found(curve.recoverPublicKeyUncompressed(bytes, parity, digest)),
    sign: (digest, key) => {
      const signed = curve.signMessageHashRecoverableCompact(key, digest)
      return typeof signed === "string" ? undefined : parityFrom(signed.signature, signed.recoveryId)
    },
    pointOf: (key) => found(curve.derivePublicKeyUncompressed(key)),
    uncompress: (key) => found(curve.uncompressPublicKey(key))
  }
}

const parityFrom = (bytes: Uint8Array, recoveryId: number): CurveSignature => ({
  bytes,
  parity: recoveryId === 0 ? 0 : 1
})

// Found by the system's loader, and on macOS where brew installs it. Each has every function called here.
const libraries = [
  "libsecp256k1.so.1",
  "libsecp256k1.so.2",
  "libsecp256k1.so.6",
  "/opt/homebrew/lib/libsecp256k1.dylib",
  "/usr/local/lib/libsecp256k1.dylib"
]

/** Undefined if the host has no such library, or no way to call it. */
export const hostCurve = async (): Promise<Curve | undefined> => {
  const koffi = await import("koffi").then(
    (loaded) => loaded.default,
    () => undefined
  )
  if (koffi === undefined) return undefined
  for (const path of libraries) {
    const curve = Result.try(() => curveOf(koffi.load(path)))
    if (Result.isSuccess(curve)) return curve.success
  }
  return undefined
}

// From secp256k1.h. A context for signing and verifying; a point in its long form.
const contextFlags = 0x301
const uncompressed = 2

/** The library reads as many bytes as it expects, and a wrong call ends the process: lengths are checked first. */
const curveOf = (library: LibraryHandle): Curve => {
  const call = (type: string, name: string, parameters: string): ((...given: ReadonlyArray<unknown>) => unknown) =>
    library.func(`${type} secp256k1_${name}(${parameters})`)
  const context = call("void *", "context_create", "unsigned int")(contextFlags)
  call("int", "context_randomize", "void *, const uint8_t *")(context, randomBytes(keyBytes))
  const parse = call("int", "ecdsa_recoverable_signature_parse_compact", "void *, uint8_t *, const uint8_t *, int")
  const recover = call("int", "ecdsa_recover", "void *, uint8_t *, const uint8_t *, const uint8_t *")
  const sign = call(
    "int",
    "ecdsa_sign_recoverable",
    "void *, uint8_t *, const uint8_t *, const uint8_t *, void *, void *"
  )
  const split = call(
    "int",
    "ecdsa_recoverable_signature_serialize_compact",
    "void *, uint8_t *, int *, const uint8_t *"
  )
  const create = call("int", "ec_pubkey_create", "void *, uint8_t *, const uint8_t *")
  const read = call("int", "ec_pubkey_parse", "void *, uint8_t *, const uint8_t *, size_t")
  const write = call("int", "ec_pubkey_serialize", "void *, uint8_t *, size_t *, const uint8_t *, unsigned int")
  const [signature, key] = [Buffer.alloc(pointBytes), Buffer.alloc(rsBytes)]
  const pointOfKey = () => {
    const point = new Uint8Array(pointBytes)
    write(context, point, new BigUint64Array([BigInt(pointBytes)]), key, uncompressed)
    return point
  }
  return {
    recover: (digest, { bytes, parity }) => {
      if (digest.length !== digestBytes || bytes.length !== rsBytes) return undefined
      if (parse(context, signature, bytes, parity) !== 1) return undefined
      return recover(context, key, signature, digest) === 1 ? pointOfKey() : undefined
    },
    sign: (digest, privateKey) => {
      if (digest.length !== digestBytes || privateKey.length !== keyBytes) return undefined
      if (sign(context, signature, digest, privateKey, null, null) !== 1) return undefined
      const [bytes, recoveryId] = [new Uint8Array(rsBytes), new Int32Array(1)]
      split(context, bytes, recoveryId, signature)
      return parityFrom(bytes, recoveryId[0] ?? 0)
    },
    pointOf: (privateKey) =>
      privateKey.length === keyBytes && create(context, key, privateKey) === 1 ? pointOfKey() : undefined,
    uncompress: (given) => {
      if (given.length !== pointBytes && given.length !== compressedBytes) return undefined
      return read(context, key, given, given.length) === 1 ? pointOfKey() : undefined
    }
  }
}

const curve = (await hostCurve()) ?? (await wasmCurve())

export interface CurveSignature {
  /** r and s, 32 bytes each; s is in the lower half. */
  readonly bytes: Uint8Array
  /** Which of the two points with this r. */
  readonly parity: 0 | 1
}

/** The address whose key signed the digest, in lower case; undefined when no key can have made this signature. */
export const recoverAddress = (digest: Uint8Array, signature: CurveSignature): Hex | undefined => {
  const point = curve.recover(digest, signature)
  return point === undefined ? undefined : addressOfPoint(point)
}

/** 65 bytes r, s, v with v of 27 or 28, as contracts and other programs take them. */
export const signatureBytes = ({ bytes, parity }: CurveSignature): Buffer =>
  Buffer.concat([bytes, Buffer.from([27 + parity])])

/** The parts of such bytes; some libraries write the last byte as 0 or 1. */
export const signatureParts = (signature: Uint8Array) => {
  const last = signature[64] ?? 0
  return { r: hexOf(signature.subarray(0, 32)), s: hexOf(signature.subarray(32, 64)), v: last < 27 ? last + 27 : last }
}

/** Deterministic (RFC 6979), s in the lower half. The key must have passed `addressOfKey`. */
export const signDigest = (digest: Uint8Array, key: Uint8Array): CurveSignature => {
  const signed = curve.sign(digest, key)
  if (signed === undefined) throw new Error("these bytes are no key, or no digest")
  return signed
}

/** The address of a private key, in lower case; undefined when these 32 bytes are no key. */
export const addressOfKey = (key: Uint8Array): Hex | undefined => {
  const point = key.length === keyBytes ? curve.pointOf(key) : undefined
  return point === undefined ? undefined : addressOfPoint(point)
}

/** The address of a public key of 33 or 65 bytes; undefined if these bytes are not one. */
export const addressOfPublicKey = (key: Uint8Array): Hex | undefined => {
  const point = curve.uncompress(key)
  return point === undefined ? undefined : addressOfPoint(point)
}

/** The address of a 65-byte point. */
const addressOfPoint = (point: Uint8Array): Hex => hexOf(keccak256(point.subarray(1)).subarray(12))

const keyPattern = /^(?:0x)?([0-9a-f]{64})$/iu

/**
 * Reads a settler's secret: 32 bytes in hex, with or without 0x. The reason of a failure never holds any of it. Pure.
 */
export const readSettlerKey = (network: string, secret: string): Result.Result<LocalKey, string> => {
  const digits = keyPattern.exec(secret.trim())?.[1]
  if (digits === undefined) return Result.fail("not 32 bytes in hex")
  return localKey(network, new Uint8Array(Buffer.from(digits, "hex")))
}

/** The signer of a key that is in this process. */
export const localKey = (network: string, key: Uint8Array): Result.Result<LocalKey, string> => {
  const address = addressOfKey(key)
  if (address === undefined) return Result.fail(`${key.length} bytes that are no key of this curve`)
  const sign = (message: Uint8Array) => Effect.sync(() => signatureBytes(signDigest(keccak256(message), key)))
  return Result.succeed({ network, address, secret: Redacted.make(key), sign })
}

/** 65 bytes r, s, v with v of 27 or 28. `key`: 32 bytes that are a key of the curve. */
export const signAuthorization = (key: Uint8Array, domain: TokenDomain, authorization: Authorization): Hex => {
  return hexOf(signatureBytes(signDigest(authorizationDigest(domainSeparator(domain), authorization), key)))
}

/**
 * The typed data that a payer signs (EIP-712): a transfer authorization of EIP-3009 in the domain of one token on one
 * chain. The domain's hash is the same for every payment of a token and is made once. Pure.
 */

/** As the payer signed it; addresses in any case. */
export interface Authorization {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** Unix seconds; the transfer may happen strictly later. */
  readonly validAfter: bigint
  /** Unix seconds; the transfer may happen strictly earlier. */
  readonly validBefore: bigint
  /** 32 bytes. */
  readonly nonce: string
}

export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: bigint
  /** The token's address. */
  readonly asset: string
}

const domainType = keccak256OfText("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
const transferType = keccak256OfText(
  "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)
const prefix = Buffer.from([0x19, 0x01])

export const domainSeparator = ({ name, version, chainId, asset }: TokenDomain): Uint8Array =>
  hashOfWords(domainType, keccak256OfText(name), keccak256OfText(version), chainId, asset)

const receiveType = keccak256OfText(
  "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)

/** The 32 bytes under the payer's signature. */
export const authorizationDigest = (separator: Uint8Array, authorization: Authorization): Uint8Array =>
  typedDigest(separator, authorizationHash(transferType, authorization))

/** The bytes whose hash that is, for a signer that hashes by itself. */
export const authorizationMessage = (domain: TokenDomain, authorization: Authorization): Uint8Array =>
  typedMessage(domainSeparator(domain), authorizationHash(transferType, authorization))

/** The same for an authorization that only its payee can use. */
export const receiveDigest = (separator: Uint8Array, authorization: Authorization): Uint8Array =>
  typedDigest(separator, authorizationHash(receiveType, authorization))

const authorizationHash = (type: Uint8Array, { from, to, value, validAfter, validBefore, nonce }: Authorization) =>
  hashOfWords(type, from, to, value, validAfter, validBefore, nonce)

/** The bytes whose Keccak hash is signed, of any typed data (EIP-712), by its domain's and its own hash. */
export const typedMessage = (separator: Uint8Array, message: Uint8Array): Uint8Array =>
  Buffer.concat([prefix, separator, message])

/** The 32 bytes that are signed. */
export const typedDigest = (separator: Uint8Array, message: Uint8Array): Uint8Array =>
  keccak256(typedMessage(separator, message))

// A gateway asks for one token; a facilitator for others handles a few.
const keptMax = 64

/**
 * The domain hashes of recently used tokens, so that each is computed once and not per payment. Bounded: an untrusted
 * caller can write requirements and must not fill the memory with them.
 */
export class DomainSeparators {
  readonly #kept = new Map<string, Uint8Array>()

  of(domain: TokenDomain): Uint8Array {
    const key = JSON.stringify([domain.name, domain.version, domain.asset.toLowerCase(), String(domain.chainId)])
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const made = domainSeparator(domain)
    if (this.#kept.size >= keptMax) this.#kept.clear()
    this.#kept.set(key, made)
    return made
  }
}

/** The call with which a wallet's factory deploys it, before its first payment. */
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

/**
 * The parts of a signature of a wallet that may not be deployed yet (ERC-6492); undefined for one that is marked as
 * wrapped and is not. The factory is called with our account, so only configured factories are called.
 */
export const unwrapped = (signature: string): WalletSignature | undefined => {
  if (!signature.toLowerCase().endsWith(wrapped)) return { inner: signature, deployment: null }
  return readIn(() => {
    const [factory, data, inner] = decodeAbiParameters(wrappedParts, signature.slice(0, -wrapped.length) as Hex)
    return { inner, deployment: { factory: factory.toLowerCase(), data: new Uint8Array(bytesOf(data)) } }
  })
}

const wrappedParts = parseAbiParameters("address, bytes, bytes")
