/**
 * The only form of signature that is taken: 65 bytes r, s, v of a plain key, v 27 or 28 (or 0 or 1), s in the lower
 * half of the curve's order, since the upper half is every signature written a second way. Accounts that are
 * contracts sign otherwise (ERC-1271, ERC-6492) and are told so. Pure.
 */
import { Result } from "effect"
import type { CurveSignature } from "./curve.ts"
import { bytesOf } from "./hex.ts"

export type SignatureFault = "smart wallet" | "smart wallet not deployed" | "form"

const pattern = /^0x(?:[0-9a-f]{2})+$/iu
const plainBytes = 65
const sMax = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex")
const zero = Buffer.alloc(32)
// The last 32 bytes of a signature that is wrapped for a wallet yet to be deployed (ERC-6492).
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
