/**
 * Where somebody's tokens of one mint are: the associated token account, an address off the curve that follows from
 * owner, token program and mint. Deriving one costs up to a few milliseconds, so the latest few are kept: a gateway
 * is paid to very few.
 */
import { createHash } from "node:crypto"
import { decodeAddress, encodeBase58 } from "./base58.ts"
import { isOnCurve } from "./curve-points.ts"
import { associatedTokenProgram } from "./programs.ts"

const marker = Buffer.from("ProgramDerivedAddress")
const keptMax = 64
const kept = new Map<string, string>()

/** All three in base58; `undefined` when one of them is no address. */
export const associatedTokenAccount = (owner: string, tokenProgram: string, mint: string): string | undefined => {
  const key = `${owner} ${tokenProgram} ${mint}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const seeds = [owner, tokenProgram, mint].map(decodeAddress)
  const program = decodeAddress(associatedTokenProgram)
  if (seeds.includes(undefined) || program === undefined) return undefined
  const derived = derive(
    seeds.flatMap((seed) => seed ?? []),
    program
  )
  if (derived === undefined) return undefined
  if (kept.size >= keptMax) kept.delete(kept.keys().next().value ?? "")
  kept.set(key, derived)
  return derived
}

/** The first hash that is no point, counting down: half of all are, so 256 tries do not fail before the sun does. */
const derive = (seeds: ReadonlyArray<Uint8Array>, program: Uint8Array): string | undefined => {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash("sha256")
    for (const seed of seeds) hash.update(seed)
    const address = hash.update(Uint8Array.of(bump)).update(program).update(marker).digest()
    if (!isOnCurve(address)) return encodeBase58(address)
  }
  return undefined
}
