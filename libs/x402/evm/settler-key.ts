/** Reads a settler's secret: 32 bytes in hex, with 0x or without. The reason of a failure never holds any of it. Pure. */
import { Redacted, Result } from "effect"
import type { SettlerKey } from "../scheme.ts"
import { addressOfKey } from "./curve.ts"

const pattern = /^(?:0x)?([0-9a-f]{64})$/iu

export const readSettlerKey = (network: string, secret: string): Result.Result<SettlerKey, string> => {
  const digits = pattern.exec(secret.trim())?.[1]
  if (digits === undefined) return Result.fail("not 32 bytes in hex")
  const bytes = Buffer.from(digits, "hex")
  const address = addressOfKey(bytes)
  if (address === undefined) return Result.fail("32 bytes that are no key of this curve")
  return Result.succeed({ network, address, secret: Redacted.make(new Uint8Array(bytes)) })
}
