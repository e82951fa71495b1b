/**
 * Keystore files: a key of an EVM chain, encrypted by a password (Web3 Secret Storage, version 3), as geth, ethers and
 * web3signer read and write them. The file can be untrusted: the cost of its key derivation is bounded before anything
 * is derived. No fault contains any part of a key or of a password.
 */
import {
  createCipheriv,
  createDecipheriv,
  pbkdf2,
  randomBytes,
  randomUUID,
  scrypt,
  type ScryptOptions,
  timingSafeEqual
} from "node:crypto"
import { promisify } from "node:util"
import { scryptAsync } from "@noble/hashes/scrypt.js"
import { Effect, Result, Schema } from "effect"
import { faultsOf } from "#base"
import { hexOf, keccak256 } from "./encoding.ts"
import { addressOfKey } from "./signature.ts"

/**
 * `form`: not a keystore. `cost`: more than we spend on one. `password`: wrong for this file. `key`: it holds no key of
 * the curve, or another address's.
 */
export class KeystoreFault extends Schema.TaggedError<KeystoreFault>()("KeystoreFault", {
  what: Schema.Literals(["form", "cost", "password", "key"]),
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

// Our own files have about 500 characters.
const charactersMax = 16_384
// The usual file takes 256 MiB for half a second to a second: n of 262,144 with r of 8. The limit is twice that,
// including its lanes.
const scryptBytesMax = 520 * 1_024 * 1_024
// n * r * p, which determines the time: twice the usual file's.
const scryptWorkMax = 2 ** 22
// About five seconds of HMAC-SHA256; files in use have 10,240 to 1,000,000.
const pbkdf2RoundsMax = 10_000_000
const derivedBytes = 32

const hexBytes = (minimum: number, maximum: number) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^(?:0x)?(?:[0-9a-fA-F]{2}){${minimum},${maximum}}$`, "u")))
const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
const Salt = hexBytes(0, 256)

const shared = {
  cipher: Schema.Literal("aes-128-ctr"),
  cipherparams: Schema.Struct({ iv: hexBytes(16, 16) }),
  // Old clients omitted leading zeros of a key.
  ciphertext: hexBytes(1, 32),
  mac: hexBytes(32, 32)
}
const Scrypt = Schema.Struct({
  ...shared,
  kdf: Schema.Literal("scrypt"),
  kdfparams: Schema.Struct({ n: Count, r: Count, p: Count, dklen: Schema.Literal(derivedBytes), salt: Salt })
})
const Pbkdf2 = Schema.Struct({
  ...shared,
  kdf: Schema.Literal("pbkdf2"),
  kdfparams: Schema.Struct({
    c: Count,
    prf: Schema.Literal("hmac-sha256"),
    dklen: Schema.Literal(derivedBytes),
    salt: Salt
  })
})
const Head = Schema.Struct({
  version: Schema.Literal(3),
  address: Schema.optionalKey(hexBytes(20, 20)),
  crypto: Schema.Struct({ kdf: Schema.Literals(["scrypt", "pbkdf2"]) })
})

type Sealed = typeof Scrypt.Type | typeof Pbkdf2.Type

/** A file that can be opened by its password. */
export interface Keystore {
  /** As the file itself states, in lower case; undefined if it states none. It is not trusted. */
  readonly address: string | undefined
  readonly crypto: Sealed
}

const decodeText = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))
const decodeHead = Schema.decodeUnknownResult(Head, { errors: "all" })
const decoders: Readonly<Record<Sealed["kdf"], (crypto: unknown) => Result.Result<Sealed, Schema.SchemaError>>> = {
  scrypt: Schema.decodeUnknownResult(Scrypt, { errors: "all" }),
  pbkdf2: Schema.decodeUnknownResult(Pbkdf2, { errors: "all" })
}

/** Reads a file's text, and refuses one that would cost too much to open. Pure. */
export const readKeystore = (text: string): Result.Result<Keystore, KeystoreFault> => {
  if (text.length > charactersMax) return malformed(`longer than ${charactersMax} characters`)
  const json = decodeText(text)
  if (Result.isFailure(json)) return malformed("it is not a JSON object")
  // Some old clients wrote the key in upper case.
  const { Crypto, ...rest } = json.success
  const file = Crypto === undefined ? rest : { crypto: Crypto, ...rest }
  const head = decodeHead(file)
  if (Result.isFailure(head)) return malformed(faultText("", head.failure.issue))
  const crypto = decoders[head.success.crypto.kdf](file["crypto"])
  if (Result.isFailure(crypto)) return malformed(faultText("/crypto", crypto.failure.issue))
  const costly = costFault(crypto.success)
  if (costly !== undefined) return Result.fail(new KeystoreFault({ what: "cost", detail: costly }))
  const { address } = head.success
  return Result.succeed({
    address: address === undefined ? undefined : hexOf(bytesIn(address)),
    crypto: crypto.success
  })
}

const malformed = (detail: string): Result.Result<never, KeystoreFault> =>
  Result.fail(new KeystoreFault({ what: "form", detail: `no keystore of version 3: ${detail}` }))

const faultText = (at: string, issue: Parameters<typeof faultsOf>[0]) =>
  faultsOf(issue)
    .map(({ path, message }) => `${`${at}${path}`.slice(1).replaceAll("/", ".") || "file"}: ${message}`)
    .join("; ")

const costFault = (crypto: Sealed): string | undefined => {
  if (crypto.kdf === "pbkdf2") {
    const { c } = crypto.kdfparams
    return c > pbkdf2RoundsMax ? `crypto.kdfparams.c of ${c} is more than the ${pbkdf2RoundsMax} allowed` : undefined
  }
  const { n, r, p } = crypto.kdfparams
  if (n < 2 || !Number.isInteger(Math.log2(n))) return `crypto.kdfparams.n of ${n} is no power of two`
  const bytes = 128 * r * (n + p)
  if (bytes > scryptBytesMax) {
    return `crypto.kdfparams ask for ${Math.ceil(bytes / 2 ** 20)} MiB of memory, and ${scryptBytesMax / 2 ** 20} are allowed`
  }
  return n * r * p > scryptWorkMax
    ? `crypto.kdfparams ask for ${Math.ceil((n * r * p) / scryptWorkMax)} times the work that is allowed`
    : undefined
}

/** The 32 bytes of the key. Takes about a second on another thread, and 256 MiB with the usual parameters. */
export const openKeystore = Effect.fnUntraced(function* (
  { address, crypto }: Keystore,
  password: string
): Effect.fn.Return<Uint8Array, KeystoreFault> {
  const derived = yield* derive(crypto, password)
  const ciphertext = bytesIn(crypto.ciphertext)
  const mac = keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]))
  if (!timingSafeEqual(mac, bytesIn(crypto.mac))) {
    return yield* new KeystoreFault({ what: "password", detail: "it is encrypted by another password" })
  }
  const decipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), bytesIn(crypto.cipherparams.iv))
  const opened = Buffer.concat([decipher.update(ciphertext), decipher.final()])
  const key = new Uint8Array(32)
  key.set(opened, 32 - opened.length)
  const derivedAddress = addressOfKey(key)
  if (derivedAddress === undefined)
    return yield* new KeystoreFault({ what: "key", detail: "what it holds is no key of the curve" })
  if (address !== undefined && address !== derivedAddress) {
    return yield* new KeystoreFault({
      what: "key",
      detail: `it says that it is of ${address}, and its key is of ${derivedAddress}`
    })
  }
  return key
})

const scrypted = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const pbkdf2ed = promisify(pbkdf2)

const derive = (crypto: Sealed, password: string): Effect.Effect<Buffer, KeystoreFault> =>
  Effect.tryPromise({
    // OpenSSL throws synchronously on its limits.
    try: async () => {
      const salt = bytesIn(crypto.kdfparams.salt)
      if (crypto.kdf === "pbkdf2") return pbkdf2ed(password, salt, crypto.kdfparams.c, derivedBytes, "sha256")
      const { n: N, r, p } = crypto.kdfparams
      const maxmem = 2 * scryptBytesMax
      // OpenSSL rejects such an n, although files have it, the specification's own among them.
      if (N >= 2 ** (16 * r))
        return Buffer.from(await scryptAsync(password, salt, { N, r, p, maxmem, dkLen: derivedBytes }))
      return scrypted(password, salt, derivedBytes, { N, r, p, maxmem })
    },
    catch: (cause) => new KeystoreFault({ what: "cost", detail: `its key cannot be derived: ${String(cause)}` })
  })

export interface ScryptCost {
  readonly n: number
  readonly r: number
  readonly p: number
}

/** What geth and web3signer use. */
export const usualScrypt: ScryptCost = { n: 262_144, r: 8, p: 1 }

/** The text of a file that holds the key. `key`: 32 bytes that are a key of the curve. */
export const sealKeystore = Effect.fnUntraced(function* (
  key: Uint8Array,
  password: string,
  cost: ScryptCost = usualScrypt
): Effect.fn.Return<string, KeystoreFault> {
  const address = addressOfKey(key)
  if (address === undefined)
    return yield* new KeystoreFault({ what: "key", detail: "these bytes are no key of the curve" })
  const iv = randomBytes(16)
  const kdfparams = { dklen: derivedBytes, ...cost, salt: randomBytes(32).toString("hex") } as const
  const unsealed = {
    cipher: "aes-128-ctr",
    cipherparams: { iv: iv.toString("hex") },
    kdf: "scrypt",
    kdfparams
  } as const
  const derived = yield* derive({ ...unsealed, ciphertext: "", mac: "" }, password)
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()])
  const mac = Buffer.from(keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]))).toString("hex")
  const crypto = { ...unsealed, ciphertext: ciphertext.toString("hex"), mac }
  return `${JSON.stringify({ version: 3, id: randomUUID(), address: address.slice(2), crypto }, undefined, 2)}\n`
})

const bytesIn = (hex: string): Buffer => Buffer.from(hex.replace(/^0x/u, ""), "hex")
