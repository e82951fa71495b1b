/** Reads a settler's secret: 64 bytes (seed, then public key) or the seed alone, in base58 or as solana-keygen writes its file. */
import { Redacted, Result, Schema } from "effect"
import type { SettlerKey } from "../scheme.ts"
import { decodeBase58, encodeBase58 } from "./base58.ts"
import { publicKeyOf } from "./ed25519.ts"

const KeygenFile = Schema.fromJsonString(
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(Schema.isMaxLength(64))
)
const decodeFile = Schema.decodeUnknownResult(KeygenFile)

/** `secret` of the key is the seed's 32 bytes. The reason of a failure never holds any of the secret. */
export const readSettlerKey = (network: string, secret: string): Result.Result<SettlerKey, string> => {
  const bytes = bytesOf(secret.trim())
  if (bytes === undefined) return Result.fail("neither base58 nor a JSON array of bytes")
  if (bytes.length !== 64 && bytes.length !== 32) return Result.fail(`${bytes.length} bytes instead of 64 or 32`)
  const seed = bytes.slice(0, 32)
  const address = publicKeyOf(seed)
  const isOfOnePiece = bytes.length === 32 || Buffer.from(address).equals(bytes.subarray(32))
  if (!isOfOnePiece) return Result.fail("its public half does not belong to its secret half")
  return Result.succeed({ network, address: encodeBase58(address), secret: Redacted.make(seed) })
}

const bytesOf = (text: string) => {
  if (!text.startsWith("[")) return decodeBase58(text)
  const decoded = decodeFile(text)
  return Result.isSuccess(decoded) ? Uint8Array.from(decoded.success) : undefined
}
